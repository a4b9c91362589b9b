// Convolutions and other operators on images, counted instruction by instruction.
#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>

#include "model/mapping/neuron/image.hpp"
#include "model/mapping/neuron/kernel.hpp"
#include "model/mapping/neuron/map_graph.hpp"
#include "model/program/program_builder.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using Integers = std::vector<std::int64_t>;

struct Made {
  Graph graph{"images"};
  TensorId last = kNoId;

  // The network's first convolution, so that what follows finds its image in SBUF.
  Made(Shape image, std::int64_t channels) {
    const TensorId x = graph.add_input("x", image, DType::kFp32);
    const TensorId w = graph.add_weight("first.w", {channels, image[1], 1, 1}, DType::kFp32);
    last = graph.add_op("first", "Conv", {x, w});
  }

  TensorId conv(const std::string& name, std::int64_t channels, std::int64_t kernel) {
    const std::int64_t in = graph.tensor(last).shape[1];
    const TensorId w = graph.add_weight(name + ".w", {channels, in, kernel, kernel}, DType::kFp32);
    last = graph.add_op(name, "Conv", {last, w}, {{"pads", Integers(4, kernel / 2)}});
    return last;
  }

  TensorId norm(const std::string& name) {
    const Shape channels{graph.tensor(last).shape[1]};
    const TensorId scale = graph.add_weight(name + ".scale", channels, DType::kFp32);
    const TensorId offset = graph.add_weight(name + ".offset", channels, DType::kFp32);
    last = graph.add_op(name, "BatchNorm", {last, scale, offset});
    return last;
  }
};

Program mapped(Made& made, const char* precision = "bf16-matmul") {
  made.graph.mark_output(made.last);
  apply_precision(find_precision(precision), &made.graph);
  const NeuronCoreSpec core = exemplar_inf2().device.core;
  SchedulingParameters scheduling;
  scheduling.prefetch_window = core.sbuf.capacity * 0.4;
  return map_to_neuron_core(made.graph, find_precision(precision), core_shape(core), scheduling,
                            {});
}

// Instructions of the operators called `name`.
std::vector<Instruction> of(Made& made, const std::string& name, Opcode opcode,
                            const char* precision = "bf16-matmul") {
  const Program program = mapped(made, precision);
  std::vector<Instruction> result;
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    const std::vector<Instruction>& queue = program.engine(e);
    std::copy_if(queue.begin(), queue.end(), std::back_inserter(result), [&](const Instruction& i) {
      return i.opcode == opcode && i.op >= 0 &&
             program.operators[static_cast<std::size_t>(i.op)] == name;
    });
  }
  return result;
}

// 28 x 28 pixels in rows of 28: 18 rows, 504 pixels, then 10. 256 channels are two blocks, at nine
// positions; 128 filters one.
TEST(NeuronConvolution, OneGroupPerRowsOfPixelsAndAProductPerPosition) {
  Made made({1, 3, 28, 28}, 256);
  made.conv("conv", 128, 3);
  const std::vector<Instruction> products = of(made, "conv", Opcode::kMultiplyMoving);
  ASSERT_EQ(products.size(), 2U * 2U * 9U);
  EXPECT_EQ(products.front().n, 504U);
  EXPECT_EQ(products.back().n, 280U);
  for (const Instruction& product : products) EXPECT_EQ(product.partitions, 128);
}

// 64 channels at nine positions are 576 rows: five products instead of nine.
TEST(NeuronConvolution, FewChannelsShareTheContraction) {
  Made made({1, 3, 28, 28}, 64);
  made.conv("conv", 64, 3);
  EXPECT_EQ(of(made, "conv", Opcode::kMultiplyMoving).size(), 2U * 5U);
}

// Partitions of the second position of a product: a copy of all channels, image by image.
TEST(NeuronConvolution, ChannelsThatShareTheContractionAreCopiedToItsRows) {
  const auto copies = [](std::int64_t images, std::int64_t channels, std::int64_t kernel) {
    Made made({images, 3, 28, 28}, channels);
    made.conv("conv", 128, kernel);
    const Program program = mapped(made);
    std::vector<Transfer> result;
    for (const Transfer& t : program.ring(static_cast<std::size_t>(Ring::kReload))) {
      if (t.descriptor_bytes == 28 * 28 * 2) result.push_back(t);
    }
    return result;
  };
  const std::vector<Transfer> of_two = copies(2, 64, 3);
  ASSERT_EQ(of_two.size(), 2U);
  EXPECT_EQ(of_two.front().descriptors, 64U);
  EXPECT_EQ(copies(1, 32, 3).at(0).descriptors, 3U * 32U);
  EXPECT_TRUE(copies(1, 128, 3).empty());  // a position fills the rows
  EXPECT_TRUE(copies(1, 64, 1).empty());   // there is but one
}

// What a residual reads stays wide: products read a second copy, which one pass makes for all.
TEST(NeuronConvolution, ImagesThatOthersReadTooAreMadeNarrowOnce) {
  const auto passes = [](bool residual, const char* precision) {
    Made made({1, 3, 28, 28}, 128);
    const TensorId image = made.last;
    made.conv("conv", 128, 3);
    const TensorId first = made.last;
    made.last = image;
    made.conv("second", 128, 1);
    made.last = made.graph.add_op("sum", "Add", {made.last, residual ? image : first});
    std::size_t count = 0;
    std::uint32_t pixels = 0;
    const auto program = mapped(made, precision);
    for (const Instruction& i : program.engine(static_cast<std::size_t>(Engine::kVector))) {
      if (i.opcode != Opcode::kTensorCopy) continue;
      ++count;
      pixels += i.n;
    }
    EXPECT_EQ(pixels, count * 28 * 28);
    return count;
  };
  EXPECT_EQ(passes(true, "bf16-matmul"), 1U);
  EXPECT_EQ(passes(false, "bf16-matmul"), 0U);
  EXPECT_EQ(passes(true, "bf16"), 0U);
}

// Ten images of 7 x 7 pixels fit 512 columns.
TEST(NeuronConvolution, SmallImagesShareAGroup) {
  Made made({20, 3, 7, 7}, 128);
  made.conv("conv", 128, 1);
  const std::vector<Instruction> products = of(made, "conv", Opcode::kMultiplyMoving);
  ASSERT_EQ(products.size(), 2U);
  EXPECT_EQ(products.front().n, 490U);
}

TEST(NeuronConvolution, BatchNormAndActivationRideOnTheEviction) {
  Made made({1, 3, 28, 28}, 128);
  made.conv("conv", 128, 3);
  made.norm("norm");
  made.last = made.graph.add_op("relu", "Relu", {made.last});
  const std::vector<Kernel> kernels = fuse(made.graph);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels.back().kind, KernelKind::kConvolution);
  EXPECT_EQ(kernels.back().ops.size(), 3U);
  EXPECT_EQ(of(made, "relu", Opcode::kActivate).size(), 2U);
}

// The Vector engine adds the residual while it reads PSUM, and has no function after the sum.
TEST(NeuronConvolution, AnActivationAfterAResidualIsAnInstructionOfItsOwn) {
  const auto block = [](bool activates) {
    Made made({1, 3, 28, 28}, 128);
    const TensorId shortcut = made.last;
    made.conv("conv", 128, 3);
    made.last = made.graph.add_op("sum", "Add", {made.last, shortcut});
    if (activates) made.last = made.graph.add_op("relu", "Relu", {made.last});
    return made;
  };
  Made with = block(true);
  EXPECT_EQ(fuse(with.graph).size(), 2U);
  const std::vector<Instruction> functions = of(with, "relu", Opcode::kActivate);
  ASSERT_EQ(functions.size(), 2U);
  EXPECT_EQ(functions.front().n, 504U);
  EXPECT_EQ(functions.front().flags & kReadsPsum, 0);
  Made without = block(false);
  EXPECT_EQ(of(without, "sum", Opcode::kTensorTensor).size(), 2U);
}

TEST(NeuronConvolution, ResultsAreCoveredByTheirGroups) {
  for (const std::int64_t side : {1, 7, 14, 56, 113, 600}) {
    for (const std::int64_t images : {1, 3, 16}) {
      const ImageShape shape({images, 64, side, side});
      std::int64_t next = 0;
      for (const PixelGroup& group : pixel_groups(shape, shape, {3, 1, 1}, 512)) {
        EXPECT_LE(group.count, 512);
        if (side <= 512) {
          EXPECT_EQ(group.first, next);
        }
        EXPECT_LE(group.last_input, shape.all_pixels() - 1);
        next += group.count;
      }
      EXPECT_EQ(next, shape.all_pixels());
    }
  }
}

}  // namespace
}  // namespace foretell

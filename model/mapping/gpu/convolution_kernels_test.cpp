// The algorithms of convolutions on the vector pipe: which one is taken, and what it moves.
#include "model/mapping/gpu/convolution_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/testing/graphs.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

const GpuDeviceSpec& v100() {
  static const GpuDeviceSpec kDevice = GpuCatalog().load("v100-pcie-32gb").spec.device;
  return kDevice;
}

const ConvolutionKernels& kernels() {
  static const ConvolutionKernels kKernels(
      v100(), GpuFactors(v100(), "").product({"pytorch conv fp32"})->factors);
  return kKernels;
}

ConvolutionShape square(std::int64_t images, std::int64_t in, std::int64_t out, std::int64_t side) {
  ConvolutionShape shape;
  shape.images = images;
  shape.channels_in = in;
  shape.channels_out = out;
  shape.in_pixels = side * side;
  shape.out_rows = shape.out_columns = side;
  shape.filter = 9;
  shape.is_winograd = true;
  return shape;
}

ConvolutionChoice choice(const ConvolutionShape& shape) {
  return kernels().fastest(shape, kernels().warm_traffic(shape));
}

TEST(ConvolutionKernels, ShallowInputsAreUnrolledAndDeepOnesGoThroughWinograd) {
  EXPECT_EQ(choice(square(8, 3, 64, 224)).algorithm, ConvolutionAlgorithm::kImplicitGemm);
  EXPECT_NE(choice(square(32, 256, 256, 28)).algorithm, ConvolutionAlgorithm::kImplicitGemm);
  EXPECT_EQ(choice(square(64, 1024, 1024, 8)).algorithm, ConvolutionAlgorithm::kWinograd);
  EXPECT_EQ(choice(square(32, 256, 8, 56)).algorithm, ConvolutionAlgorithm::kFusedWinograd);
}

TEST(ConvolutionKernels, WinogradWantsThreeByThreeAndStrideOne) {
  ConvolutionShape shape = square(64, 1024, 1024, 8);
  shape.is_winograd = false;
  const ConvolutionChoice other = choice(shape);
  EXPECT_EQ(other.algorithm, ConvolutionAlgorithm::kImplicitGemm);
  EXPECT_GT(other.time, choice(square(64, 1024, 1024, 8)).time);

  GraphWriter w;
  const TensorId x = w.input("x", {1, 64, 32, 32});
  const auto shape_with = [&](const std::string& name, std::int64_t stride) {
    const std::vector<std::int64_t> strides{stride, stride};
    const TensorId y = w.op(name, "Conv", {x, w.weight(name + ".weight", {128, 64, 3, 3})},
                            {{"strides", strides}, {"pads", std::vector<std::int64_t>(4, 1)}});
    return convolution_shape(w.graph(), w.graph().op(w.graph().tensor(y).producer));
  };
  EXPECT_TRUE(shape_with("dense", 1).is_winograd);
  EXPECT_FALSE(shape_with("strided", 2).is_winograd);
  EXPECT_EQ(shape_with("again", 1).out_rows, 32);
  EXPECT_EQ(shape_with("half", 2).out_columns, 16);
}

TEST(ConvolutionKernels, TheProductsOfWinogradAreThirtySixAndTheirPointsAreWrittenOnce) {
  const ConvolutionChoice chosen = choice(square(64, 1024, 1024, 8));
  ASSERT_EQ(chosen.program.kernels.size(), 4U);
  const Grid& product = chosen.program.kernels[2];
  EXPECT_THAT(product.name, HasSubstr("winograd gemm"));
  std::int64_t blocks = 0;
  for (const CtaRun& run : product.ctas) blocks += run.count;
  EXPECT_EQ(blocks % 36, 0);
  // 36 points for 16 pixels of each channel.
  const double points = 36.0 * 64 * 4 * 1024 * 4;
  EXPECT_GE(chosen.program.kernels[0].dram_bytes.value(), points);
}

TEST(ConvolutionKernels, MoreWorkIsNeverFaster) {
  Seconds before;
  for (const std::int64_t channels : {16, 64, 256, 1024, 2048}) {
    const Seconds time = choice(square(16, channels, 256, 28)).time;
    EXPECT_GE(time, before) << channels;
    before = time;
  }
  before = Seconds(0);
  for (std::int64_t images = 1; images <= 256; images *= 2) {
    const Seconds time = choice(square(images, 256, 256, 14)).time;
    EXPECT_GE(time, before) << images;
    before = time;
  }
}

TEST(ConvolutionKernels, ItSavesLessThanThreeQuarters) {
  // 36 products of 4x4 pixels do what 144 would: no convolution is more than four times faster.
  for (const std::int64_t side : {7, 14, 28, 56}) {
    ConvolutionShape shape = square(64, 512, 512, side);
    const Seconds winograd = choice(shape).time;
    shape.is_winograd = false;
    EXPECT_LT(choice(shape).time / winograd, 4) << side;
  }
}

}  // namespace
}  // namespace foretell

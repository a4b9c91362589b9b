// Activations that a quantised network stores in its 8 bits.
#include "model/mapping/gpu/narrow_activations.hpp"

#include <gtest/gtest.h>

#include <string>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/gpu_precision.hpp"
#include "model/mapping/gpu/map_graph.hpp"
#include "model/testing/networks.hpp"

namespace foretell {
namespace {

struct Quantised {
  Quantised(const std::string& name, const std::string& type, const std::string& gpu = "h200-sxm",
            bool residuals = true)
      : policy(precision_on_gpu(find_precision(type), GpuCatalog().load(gpu).spec.device)),
        graph(network(name, 8, 128, type)) {
    apply_precision(policy, &graph);
    narrow_activations(policy, &graph, residuals);
  }

  // For the only output of the operator whose name ends so.
  DType written_by(const std::string& end) const {
    for (const Op& op : graph.ops()) {
      const bool matches = op.name.size() >= end.size() &&
                           op.name.compare(op.name.size() - end.size(), end.size(), end) == 0;
      if (matches) return graph.tensor(op.outputs.front()).dtype;
    }
    ADD_FAILURE() << "no operator " << end;
    return DType::kBool;
  }

  Bytes dram(const std::string& gpu = "h200-sxm") const {
    const GpuSystemSpec spec = GpuCatalog().load(gpu).spec;
    const GpuFactors facts(spec.device, "none");
    Bytes sum;
    for (const MappedOp& op : map_to_gpu({{}, graph, policy, spec, facts})) sum += op.dram();
    return sum;
  }

  PrecisionPolicy policy;
  Graph graph;
};

TEST(NarrowActivations, ResidualsOfAConvolutionalNetworkHaveOneByte) {
  const Quantised int8("resnet50", "int8");
  EXPECT_EQ(int8.written_by("embedder.pool"), DType::kInt8);
  EXPECT_EQ(int8.written_by("embedder"), DType::kInt8);
  EXPECT_EQ(Quantised("resnet50", "fp8").written_by("embedder.pool"), DType::kFp8);
  EXPECT_EQ(Quantised("resnet50", "int8-weights").written_by("embedder.pool"), DType::kBf16);
  for (const TensorId id : int8.graph.outputs())
    EXPECT_EQ(int8.graph.tensor(id).dtype, DType::kBf16);
  // Half of what goes through DRAM, apart from the image itself.
  EXPECT_LT(int8.dram(), 0.62 * Quantised("resnet50", "bf16").dram());
}

TEST(NarrowActivations, ADecoderOfImagesKeepsWhatItsGroupNormsRead) {
  const Quantised int8("stable-diffusion-vae", "int8");
  for (const Op& op : int8.graph.ops()) {
    if (op.kind == "GroupNorm") {
      EXPECT_EQ(int8.graph.tensor(op.inputs[0]).dtype, DType::kBf16) << op.name;
    }
  }
}

TEST(NarrowActivations, EncodersInInt8AttendInInt8AndThoseInFp8DoNot) {
  EXPECT_EQ(Quantised("bert-base-uncased", "int8").written_by("1.attention.norm"), DType::kInt8);
  EXPECT_EQ(Quantised("bert-base-uncased", "fp8").written_by("1.attention.norm"), DType::kBf16);
  EXPECT_EQ(Quantised("bert-base-uncased", "int8").written_by("embeddings.norm"), DType::kBf16);
}

// Where norms come first the sum passes by the blocks; where they come last their result does.
TEST(NarrowActivations, ResidualsStayWideWhereALibrarySaysSo) {
  const Quantised narrow("vit_base_patch16_224", "int8");
  const Quantised wide("vit_base_patch16_224", "int8", "h200-sxm", false);
  EXPECT_EQ(narrow.written_by("1.ffn.residual"), DType::kInt8);
  EXPECT_EQ(wide.written_by("1.ffn.residual"), DType::kBf16);
  EXPECT_EQ(wide.written_by("1.attention.norm"), DType::kInt8);
  EXPECT_GT(wide.dram(), narrow.dram());
  const Quantised bert("bert-base-uncased", "int8", "h200-sxm", false);
  EXPECT_EQ(bert.written_by("1.attention.norm"), DType::kInt8);
}

TEST(NarrowActivations, Fp4IsOfProductsAloneNotOfConvolutions) {
  const Quantised fp4("resnet50", "nvfp4", "b200-sxm");
  for (const Op& op : fp4.graph.ops()) {
    if (op.kind == "Conv") {
      EXPECT_EQ(fp4.graph.tensor(op.inputs[1]).dtype, DType::kBf16) << op.name;
    }
    if (op.kind == "MatMul") {
      EXPECT_EQ(fp4.graph.tensor(op.inputs[1]).dtype, DType::kNvfp4) << op.name;
    }
  }
  EXPECT_GT(fp4.dram("b200-sxm"), Bytes(0));
}

}  // namespace
}  // namespace foretell

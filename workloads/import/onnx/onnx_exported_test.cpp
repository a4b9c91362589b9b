// Networks as PyTorch exports them, weights left out: parameters and multiply-accumulates are those
// that PyTorch itself counted while it ran the network.
#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/import/onnx/onnx_import.hpp"
#include "workloads/ir/testing/total_macs.hpp"

namespace foretell {
namespace {

struct Exported {
  const char* name;
  std::int64_t parameters;
  std::int64_t macs;
};

class ExportedNetwork : public ::testing::TestWithParam<Exported> {};

TEST_P(ExportedNetwork, CountsAreThoseOfTheExporter) {
  const std::string path = std::string(FORETELL_EXPORTED_DIR) + "/" + GetParam().name + ".onnx";
  const ImportedOnnx model = import_onnx(path, {{"batch", 1}, {"seq", 128}});
  EXPECT_EQ(model.graph.parameter_count(), GetParam().parameters);
  EXPECT_EQ(static_cast<std::int64_t>(total_macs(model.graph)), GetParam().macs);
}

INSTANTIATE_TEST_SUITE_P(PyTorch, ExportedNetwork,
                         ::testing::Values(Exported{"resnet18", 11'689'512, 1'814'073'344},
                                           Exported{"resnet50", 25'557'032, 4'089'184'256},
                                           Exported{"resnet152", 60'192'808, 11'513'626'624},
                                           Exported{"vgg16", 138'357'544, 15'470'264'320},
                                           Exported{"vit_b_16", 86'567'656, 17'563'828'224},
                                           Exported{"mobilenet_v2", 3'504'872, 300'774'272},
                                           Exported{"inception_v3", 23'834'568, 5'713'216'096},
                                           Exported{"densenet121", 7'978'856, 2'834'161'664},
                                           Exported{"bert", 109'482'240, 11'174'215'680},
                                           Exported{"resnet18_unfolded", 11'689'512, 1'814'073'344},
                                           Exported{"convnext_tiny", 28'589'128, 4'455'531'264},
                                           Exported{"lstm", 3'012'618, 301'995'008}),
                         [](const auto& exported) { return std::string(exported.param.name); });

std::int64_t count_of(const Graph& graph, const std::string& kind) {
  return std::count_if(graph.ops().begin(), graph.ops().end(),
                       [&](const Op& op) { return op.kind == kind; });
}

// One token of a decoder with grouped queries and a cache that comes in and goes out.
TEST(ExportedNetwork, ADecoderStepIsMadeOfTheOperatorsThatMappingsKnow) {
  const std::string path = std::string(FORETELL_EXPORTED_DIR) + "/decoder_step.onnx";
  const Graph graph = import_onnx(path, {{"batch", 1}, {"past", 31}}).graph;
  EXPECT_EQ(total_macs(graph), 9'699'328);
  EXPECT_EQ(count_of(graph, "RmsNorm"), 5);
  EXPECT_EQ(count_of(graph, "Silu"), 2);
  EXPECT_EQ(count_of(graph, "Softmax"), 2);
  EXPECT_EQ(graph.outputs().size(), 5U);  // logits, keys and values of two layers
}

}  // namespace
}  // namespace foretell

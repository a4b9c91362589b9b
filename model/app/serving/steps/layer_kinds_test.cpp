#include "model/app/serving/steps/layer_kinds.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

// Layers of one product each, with these widths.
Graph chain(const std::vector<std::int64_t>& widths) {
  Graph graph("chain");
  TensorId x = graph.add_input("x", {4, 64}, DType::kBf16);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string name = "decoder." + std::to_string(i);
    const auto layer = static_cast<std::int32_t>(i);
    const TensorId up = graph.add_weight(name + ".up", {64, widths[i]}, DType::kBf16);
    const TensorId down = graph.add_weight(name + ".down", {widths[i], 64}, DType::kBf16);
    x = graph.add_op(name + ".wide", "MatMul", {x, up}, {}, layer);
    x = graph.add_op(name + ".narrow", "MatMul", {x, down}, {}, layer);
  }
  graph.mark_output(x);
  return graph;
}

TEST(LayerKinds, LayersOfEqualShapesAreOneKind) {
  const std::vector<AlikeLayers> kinds = layer_kinds(chain({128, 256, 128, 128, 256}), 5);
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].first, 0);
  EXPECT_EQ(kinds[0].count, 3);
  EXPECT_EQ(kinds[1].first, 1);
  EXPECT_EQ(kinds[1].count, 2);
}

TEST(LayerKinds, EveryLayerIsOfOneKind) {
  const std::vector<AlikeLayers> kinds = layer_kinds(chain({32, 64, 96, 32}), 4);
  double layers = 0;
  for (const AlikeLayers& kind : kinds) layers += kind.count;
  EXPECT_EQ(layers, 4);
  EXPECT_EQ(kinds.size(), 3U);
}

}  // namespace
}  // namespace foretell

#include "model/mapping/shared/same_graph.hpp"

#include <gtest/gtest.h>

#include "model/testing/graphs.hpp"

namespace foretell {
namespace {

class KeptByGraphTest : public testing::Test {
 protected:
  // How often it was made by now.
  int made_for(const Graph& graph) {
    values_.get(graph, [this, &graph] {
      ++made_;
      return std::make_shared<const std::size_t>(graph.ops().size());
    });
    return made_;
  }

  KeptByGraph<std::size_t, 2> values_;
  int made_ = 0;
};

TEST(SameGraph, IsOneWithEqualTensorsAndOperators) {
  const Graph graph = linear_graph(64, 128, 256);
  EXPECT_TRUE(same_graph(graph, linear_graph(64, 128, 256)));
  EXPECT_FALSE(same_graph(graph, linear_graph(64, 128, 255)));
  EXPECT_FALSE(same_graph(graph, linear_graph(64, 128, 256, "fp16")));
  Graph changed = graph;
  EXPECT_TRUE(same_graph(graph, changed));
  changed.keep(0);
  EXPECT_FALSE(same_graph(graph, changed));
}

TEST(SameGraph, SeesAnAttributeANameAndALayer) {
  const auto graph = [](const char* name, std::int64_t axis, std::int32_t layer) {
    Graph made("test");
    const TensorId input = made.add_input("x", {4, 8}, DType::kFp32);
    made.add_op(name, "Softmax", {input}, {{"axis", axis}}, layer);
    return made;
  };
  EXPECT_TRUE(same_graph(graph("a", -1, 0), graph("a", -1, 0)));
  EXPECT_FALSE(same_graph(graph("a", -1, 0), graph("b", -1, 0)));
  EXPECT_FALSE(same_graph(graph("a", -1, 0), graph("a", 1, 0)));
  EXPECT_FALSE(same_graph(graph("a", -1, 0), graph("a", -1, 1)));
}

TEST_F(KeptByGraphTest, MakesOnceForGraphsThatAreTheSame) {
  EXPECT_EQ(made_for(linear_graph(64, 128, 256)), 1);
  EXPECT_EQ(made_for(linear_graph(64, 128, 256)), 1);
  EXPECT_EQ(made_for(linear_graph(65, 128, 256)), 2);
}

TEST_F(KeptByGraphTest, ForgetsWhatWasNotAskedForLongest) {
  for (const std::int64_t rows : {1, 2, 1, 3}) made_for(linear_graph(rows, 8, 8));
  EXPECT_LE(values_.size(), 2U);
  const int before = made_;
  EXPECT_EQ(made_for(linear_graph(3, 8, 8)), before);
  EXPECT_EQ(made_for(linear_graph(2, 8, 8)), before + 1);
}

}  // namespace
}  // namespace foretell

#include "workloads/import/encoder_graph.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(EncoderGraph, BertLargeHasThePublishedNumberOfParameters) {
  const Graph graph = build_graph(WorkloadLibrary().load("bert-large-uncased"), {8, 128});
  EXPECT_EQ(graph.parameter_count(), 335141888);
}

}  // namespace
}  // namespace foretell

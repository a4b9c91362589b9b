// Which layers stand for others.
#include "model/mapping/shared/fold_layers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

// A layer for each letter: equal letters are products of equal shapes. A space leaves a number out.
Graph layers_of(const std::string& pattern) {
  Graph graph("layers");
  TensorId x = graph.add_input("x", {4, 8}, DType::kFp32);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == ' ') continue;
    const auto layer = static_cast<std::int32_t>(i);
    const std::string name = "layer" + std::to_string(i);
    const std::int64_t columns = pattern[i] - 'a' + 8;
    const TensorId up = graph.add_weight(name + ".up", {8, columns}, DType::kFp32);
    const TensorId down = graph.add_weight(name + ".down", {columns, 8}, DType::kFp32);
    x = graph.add_op(name + ".in", "MatMul", {x, up}, {}, layer);
    x = graph.add_op(name + ".out", "MatMul", {x, down}, {}, layer);
  }
  graph.mark_output(x);
  return graph;
}

// "first+length*count" of each run.
std::string runs_of(const std::string& pattern) {
  std::string text;
  for (const LayerRun& run : equal_runs(layers_of(pattern), 4)) {
    text += (text.empty() ? "" : " ") + std::to_string(run.first) + "+" +
            std::to_string(run.length) + "*" + std::to_string(run.count);
  }
  return text;
}

TEST(EqualRuns, AreOfMoreRepetitionsThanAreExecutedAnyway) {
  EXPECT_EQ(runs_of("aaaa"), "");
  EXPECT_EQ(runs_of("aaaaa"), "0+1*5");
  EXPECT_EQ(runs_of("abcdefg"), "");
}

TEST(EqualRuns, StartAfterLayersOfAnotherKindAndEndBeforeThem) {
  EXPECT_EQ(runs_of("bbbaaaaaac"), "3+1*6");
  EXPECT_EQ(runs_of("aaaaaabbbbbbb"), "0+1*6 6+1*7");  // an encoder, then a decoder
}

TEST(EqualRuns, ArePatternsOfSeveralLayers) {
  EXPECT_EQ(runs_of("ababababab"), "0+2*5");
  EXPECT_EQ(runs_of("aaabaaabaaabaaabaaabaaabaa"), "0+4*6");  // layers are left at the end
  EXPECT_EQ(runs_of("aaaaabaaaaabaaaaabaaaaabaaaaab"),
            "0+6*5");  // not five equal ones, again and again
}

TEST(EqualRuns, HaveNoGapInTheirNumbers) { EXPECT_EQ(runs_of("aaa aaa aaaaa"), "8+1*5"); }

TEST(EqualRuns, SayWhereARepetitionBegins) {
  const LayerRun run = equal_runs(layers_of("cababababab"), 4).front();
  EXPECT_EQ(run.at(0), 1);
  EXPECT_EQ(run.at(2), 5);
  EXPECT_EQ(run.end(), 11);
}

}  // namespace
}  // namespace foretell

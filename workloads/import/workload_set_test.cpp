#include "workloads/import/workload_set.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ModelConfig with(const std::string& workload, const std::vector<std::string>& set) {
  ModelConfig config = WorkloadLibrary().load(workload);
  override_workload(set, config);
  return config;
}

std::string set_message(const std::string& assignment) {
  try {
    with("gpt2", {assignment});
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(WorkloadSet, OneLayerOfALargeModel) {
  EXPECT_EQ(WorkloadLibrary().load("gpt3-175b").layers, 96);
  const ModelConfig config = with("gpt3-175b", {"workload.layers=1", "device.sms=100"});
  EXPECT_EQ(config.layers, 1);
  const double weights = build_graph(config, Binding{}).weight_bytes().value() / 4;
  const double block = 12.0 * 12288 * 12288;
  EXPECT_NEAR(weights, block + 50257.0 * 12288 + 2048.0 * 12288, 0.001 * weights);
}

TEST(WorkloadSet, ALongerContextBringsItsPositions) {
  const ModelConfig gpt = with("gpt3-175b", {" workload.context = 4096"});
  EXPECT_EQ(gpt.max_seq_len, 4096);
  EXPECT_EQ(gpt.positions, 4096);
  EXPECT_EQ(with("opt-13b", {"workload.context=4096"}).positions, 4098);
  EXPECT_EQ(with("llama-3-8b", {"workload.context=65536"}).positions, 0);
}

TEST(WorkloadSet, AWindowHidesKeysFromTheMaskOnlyWhereThereAreMore) {
  const ModelConfig config = with("llama-3-8b", {"workload.window=256", "workload.layers=1"});
  const auto masked = [&](std::int64_t tokens) {
    const Graph graph = build_graph(config, Binding{1, tokens});
    std::size_t windows = 0;
    for (const Op& op : graph.ops()) windows += op.attributes.count("window");
    return windows;
  };
  EXPECT_EQ(masked(256), 0U);
  EXPECT_EQ(masked(257), 1U);
}

TEST(WorkloadSet, WhatCannotBeSetIsReported) {
  EXPECT_THAT(set_message("workload.layer=1"), HasSubstr("nearest is 'workload.layers'"));
  EXPECT_THAT(set_message("workload.layers=0"),
              AllOf(HasSubstr("0 is not allowed"), HasSubstr("from 1 to 4096")));
  EXPECT_NE(set_message("workload.layers"), "accepted");
  EXPECT_NE(set_message("workload.layers=many"), "accepted");
  EXPECT_EQ(set_message("workload.layers=2"), "accepted");
}

TEST(WorkloadSet, PaddingIsAShareOfAnEncodersTokens) {
  EXPECT_EQ(with("bert-base-uncased", {"workload.padding=0.4"}).padding, 0.4);
  for (const char* text : {"1", "-0.1", "half", ""}) {
    EXPECT_THROW(with("bert-base-uncased", {std::string("workload.padding=") + text}), UserError)
        << text;
  }
  EXPECT_THROW(with("llama-3-8b", {"workload.padding=0.4"}), UserError);
}

}  // namespace
}  // namespace foretell

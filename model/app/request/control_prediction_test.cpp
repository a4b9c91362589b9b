// Networks with branches and loops: distributions of their calls from those of their parts.
#include "model/app/request/control_prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/request/testing/fake_predictor.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using Kind = ControlStep::Kind;

ControlStep part(const std::string& name) {
  ControlStep step;
  step.name = step.like = name;
  return step;
}

ControlStep branch(const std::string& name, std::vector<ControlStep> then,
                   std::vector<ControlStep> otherwise) {
  ControlStep step;
  step.kind = Kind::kBranch;
  step.name = name;
  step.body = std::move(then);
  step.instead = std::move(otherwise);
  return step;
}

ControlStep loop(const std::string& name, std::vector<ControlStep> body) {
  ControlStep step;
  step.kind = Kind::kLoop;
  step.name = name;
  step.body = std::move(body);
  return step;
}

constexpr Seconds kBranch(1e-3);

// A part takes as many seconds as its name says, and 1 GB of weights.
RunRecord part_record(const Request& request) {
  RunRecord record = fake_predict(request);
  RunSummary& summary = record.summary;
  const double call = std::stod(request.part);
  summary.throughput *= summary.call_s / call;
  summary.latency_s *= call / summary.call_s;
  summary.call_s = call;
  summary.memory = MemoryRecord{1e9, 0, 0, 0, 0};
  summary.memory_used_bytes = 1e9;
  summary.memory_capacity_bytes = 3.5e9;
  return record;
}

Request request_of(std::map<std::string, std::string> branches,
                   std::map<std::string, std::string> trips) {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = "net";
  request.branches = std::move(branches);
  request.trips = std::move(trips);
  return request;
}

RunSummary predicted(const std::vector<ControlStep>& steps, const Request& request) {
  return predict_control_flow(request, steps, kBranch, part_record).summary;
}

TEST(ControlFlow, ABranchIsTheMixtureOfItsSides) {
  const std::vector<ControlStep> steps = {part("1"), branch("b", {part("2")}, {part("8")})};
  const RunSummary summary = predicted(steps, request_of({{"b", "0.75"}}, {}));
  EXPECT_NEAR(summary.call_s, 1 + 0.001 + 0.75 * 2 + 0.25 * 8, 1e-12);
  EXPECT_NEAR(summary.throughput, 1 / summary.call_s, 1e-12);
  EXPECT_NEAR(summary.distribution->call_s.p50, 3.001, 1e-12);
  EXPECT_NEAR(summary.distribution->call_s.p90, 9.001, 1e-12);
  ASSERT_EQ(summary.distribution->parts.size(), 3U);
  EXPECT_EQ(summary.distribution->parts[1].runs, 0.75);
  EXPECT_DOUBLE_EQ(summary.memory_used_bytes, 3e9);  // of all parts
}

TEST(ControlFlow, SureBranchesHaveOneOutcome) {
  const std::vector<ControlStep> steps = {branch("b", {part("2")}, {part("8")})};
  EXPECT_NEAR(predicted(steps, request_of({{"b", "1"}}, {})).call_s, 2.001, 1e-12);
  EXPECT_NEAR(predicted(steps, request_of({{"b", "0"}}, {})).call_s, 8.001, 1e-12);
}

TEST(ControlFlow, ALoopIsTheSumOfItsTrips) {
  const std::vector<ControlStep> steps = {loop("l", {part("2")})};
  const RunSummary fixed = predicted(steps, request_of({}, {{"l", "4"}}));
  EXPECT_NEAR(fixed.call_s, 4 * 2.001, 1e-12);
  const RunSummary varying = predicted(steps, request_of({}, {{"l", "uniform:1..8"}}));
  EXPECT_NEAR(varying.call_s, 4.5 * 2.001, 1e-12);
  EXPECT_NEAR(varying.distribution->call_s.p99, 8 * 2.001, 1e-12);
  EXPECT_NEAR(varying.distribution->parts.front().runs, 4.5, 1e-12);
}

TEST(ControlFlow, NestedDecisionsMultiply) {
  const std::vector<ControlStep> steps = {loop("l", {part("1"), branch("b", {part("2")}, {})})};
  const RunSummary summary = predicted(steps, request_of({{"b", "0.5"}}, {{"l", "uniform:1..3"}}));
  EXPECT_NEAR(summary.call_s, 2 * (0.001 + 1 + 0.001 + 0.5 * 2), 1e-9);
  double sum = 0;
  for (const OutcomeRecord& outcome : summary.distribution->outcomes) sum += outcome.probability;
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(ControlFlow, WhatTheNetworkSaysNeedsNoOption) {
  std::vector<ControlStep> steps = {branch("b", {part("2")}, {part("8")}), loop("l", {part("1")})};
  steps[0].stated = 1;
  steps[0].is_constant = true;
  steps[1].stated = 3;
  steps[1].is_constant = true;
  EXPECT_NEAR(predicted(steps, request_of({}, {})).call_s, 5, 1e-12);  // and no decision
}

TEST(ControlFlow, BadInputNamesTheOption) {
  const std::vector<ControlStep> steps = {branch("b", {part("2")}, {part("1")}),
                                          loop("l", {part("1")})};
  const auto message = [&](std::map<std::string, std::string> branches,
                           std::map<std::string, std::string> trips) {
    return message_of<UserError>(
        [&] { predicted(steps, request_of(std::move(branches), std::move(trips))); });
  };
  EXPECT_THAT(message({}, {{"l", "1"}}), HasSubstr("give --branch b=PROBABILITY"));
  const std::vector<ControlStep> alone = {loop("l", {part("1")})};
  EXPECT_THAT(message_of<UserError>([&] {
                predicted(alone, request_of({}, {{"l", "0"}}));
              }),
              HasSubstr("there is nothing to time"));
  EXPECT_THAT(message({{"b", "0.5"}}, {}), HasSubstr("give --trips l=NUMBER"));
  EXPECT_THAT(message({{"bb", "0.5"}}, {{"l", "1"}}), HasSubstr("unknown branch 'bb'"));
  EXPECT_THAT(message({{"b", "0.5"}}, {{"m", "1"}}), HasSubstr("unknown loop 'm'"));
  Request request;
  const auto refused = [&](const char* field, const char* text) {
    return message_of<UserError>(
        [&] { set_field(request, request_field(field), std::string("--") + field, text); });
  };
  EXPECT_THAT(refused("branch", "b=1.5"), HasSubstr("a probability is a number from 0 to 1"));
  EXPECT_THAT(refused("branch", "0.5"), HasSubstr("NAME="));
  EXPECT_THAT(refused("trips", "l=-1"), HasSubstr("'-1'"));
  set_field(request, request_field("trips"), "--trips", "l=2");
  EXPECT_THAT(refused("trips", "l=3"), HasSubstr("given twice"));
}

// Every family has the cost of a decision among its parameters.
TEST(ControlFlow, TheCostOfADecisionIsAParameterOfTheDevice) {
  const TemporaryFolder folder;
  const std::string network =
      folder.write("exits.json",
                   R"({"architectures": ["BertForSequenceClassification"], "model_type": "bert",
          "hidden_act": "gelu", "hidden_size": 64, "intermediate_size": 128,
          "max_position_embeddings": 64, "num_attention_heads": 2, "num_hidden_layers": 2,
          "num_labels": 2, "pad_token_id": 0, "type_vocab_size": 2, "vocab_size": 100,
          "exit_probabilities": [0.5]})");
  const auto call = [&](const std::string& system, const std::string& setting) {
    Request request;
    request.system = system;
    request.workload = network;
    request.dtype = "fp32";
    request.seq_len = 16;
    request.dp = 1;
    if (!setting.empty()) request.set.push_back(setting);
    return predict(request).summary.call_s;
  };
  EXPECT_NEAR(call("inf2.xlarge", "device.host.branch_time=1 ms") - call("inf2.xlarge", ""), 995e-6,
              1e-9);
  EXPECT_NEAR(call("c7i.2xlarge", "device.branch_time=1 ms") - call("c7i.2xlarge", ""), 999.99e-6,
              1e-9);
  EXPECT_NEAR(call("h100-sxm", "device.branch_kernels=4") - call("h100-sxm", ""), 5e-6, 1e-9);
}

TEST(ControlFlow, PartsThatDoNotFitTogetherAreRefused) {
  const std::vector<ControlStep> steps = {part("1"), part("2"), part("3"), part("4")};
  EXPECT_THAT(message_of<UserError>([&] { predicted(steps, request_of({}, {})); }),
              HasSubstr("all parts together need"));
}

}  // namespace
}  // namespace foretell

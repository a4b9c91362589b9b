#include "model/app/plan/plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "model/app/plan/candidate.hpp"
#include "model/app/plan/certainty.hpp"
#include "model/app/plan/plan_store.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What a UserError of the action says; "" without one.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

ServeRecord served(double ttft_s, double low, double high) {
  ServeRecord record;
  for (const NamedStatistic& one : kServeStatistics) record.summary.ttft_s.*one.value = ttft_s;
  record.summary.interval80["ttft_s.mean"] = {ttft_s * low, ttft_s * high};
  return record;
}

Promise promise_of(double limit_s) { return {"ttft", "p99", Seconds(limit_s)}; }

PlanRequest example() {
  PlanRequest request;
  request.service.machine.workload = "Llama-3.1-8B";
  request.service.rate = 2;
  request.service.input_len = "512";
  request.service.output_len = "64";
  request.service.slo = "ttft.p99<=1s";
  return request;
}

TEST(Certainty, TheEndsOfTheIntervalAreItsQuantiles) {
  const ServeRecord record = served(0.1, 0.8, 1.5);
  EXPECT_NEAR(probability_of(record, promise_of(0.08)), 0.1, 1e-9);
  EXPECT_NEAR(probability_of(record, promise_of(0.15)), 0.9, 1e-9);
  EXPECT_NEAR(probability_of(record, promise_of(0.1 * std::sqrt(0.8 * 1.5))), 0.5, 1e-9);
}

TEST(Certainty, TheLimitThatIsKeptWithAProbabilityIsKeptWithIt) {
  const ServeRecord record = served(0.1, 0.8, 1.5);
  for (const double probability : {0.05, 0.5, 0.8, 0.99}) {
    const double limit = limit_kept_with(record, promise_of(1), probability);
    EXPECT_NEAR(probability_of(record, promise_of(limit)), probability, 1e-9);
  }
}

TEST(Certainty, SeveralPromisesAreKeptTogetherLessOften) {
  const ServeRecord record = served(0.1, 0.8, 1.5);
  const std::vector<Promise> both = {promise_of(0.15), promise_of(0.15)};
  EXPECT_NEAR(probability_of(record, both), 0.81, 1e-9);
}

TEST(Plan, TheFrontHoldsWhatNothingIsBetterThan) {
  PlanRecord plan;
  const auto add = [&plan](double usd, double ttft_s, std::optional<double> joules = {}) {
    PlannedDeployment one;
    one.usd_per_million = usd;
    one.ttft_s.mean = ttft_s;
    one.joules_per_token = joules;
    SystemPlan system;
    system.deployments.push_back(one);
    plan.systems.push_back(system);
  };
  add(1, 0.5);
  add(2, 0.6);  // dearer and slower than the first
  add(3, 0.1);
  add(4, 0.9, 0.5);  // dearest and slowest, and the only one whose joules are known
  add(5, 0.9, 0.6);
  mark_front(plan);
  std::vector<bool> on_front;
  for (const SystemPlan& one : plan.systems) on_front.push_back(one.deployments.front().on_front);
  EXPECT_THAT(on_front, ElementsAre(true, false, true, true, false));
}

TEST(Plan, OptionsOfTheLoadAreThoseOfServe) {
  ServeRequest service = example().service;
  service.machine.set = {"device.hbm.bandwidth=2 TB/s"};
  EXPECT_EQ(load_options(service),
            "--rate 2 --input-len 512 --output-len 64 --set 'device.hbm.bandwidth=2 TB/s'");
  service.machine.set.clear();
  service.machine.images = 2;
  service.machine.image_size = 1024;
  EXPECT_EQ(load_options(service),
            "--rate 2 --input-len 512 --output-len 64 --image-size 1024 --images 2");
  service.machine.images = service.machine.image_size = 0;
  service.machine.power_limit = "300W";
  EXPECT_EQ(load_options(service), "--rate 2 --input-len 512 --output-len 64 --power-limit 300W");
  service.machine.power_limit.clear();
  service.chunk = "off";
  service.kv_fraction = 0.5;
  service.machine.two_batch = true;
  service.machine.usd_per_kwh = 0.1;
  EXPECT_EQ(load_options(service),
            "--rate 2 --input-len 512 --output-len 64 --kv-fraction 0.5 --chunk off --two-batch "
            "--usd-per-kwh 0.1");
}

TEST(Plan, APowerLimitIsThatOfBoardsOfGpus) {
  PlanRequest request = example();
  request.systems.clear();
  request.service.machine.power_limit = "300W";
  const std::vector<std::string> systems = candidate_systems(request);
  EXPECT_THAT(systems, testing::Contains("g6e.xlarge"));
  EXPECT_THAT(systems, testing::Not(testing::Contains("inf2.xlarge")));
}

TEST(Plan, WrongQuestionsSayWhatToType) {
  const auto message = [](void (*change)(PlanRequest&)) {
    PlanRequest request = example();
    change(request);
    return error_of([&] {
      check_plan(request);
      candidate_systems(request);
    });
  };
  EXPECT_THAT(message([](PlanRequest& r) { r.service.machine.workload = ""; }),
              HasSubstr("--workload"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.slo = ""; }), HasSubstr("ttft.p99<=1s"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.slo = "ttfft.p99<=1s"; }),
              HasSubstr("nearest is 'ttft'"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.rate = 0; }), HasSubstr("--concurrency N"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.input_len = "200000"; }),
              HasSubstr("longer than the context of Llama-3.1-8B, 131072"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.machine.workload = "bert-large-uncased"; }),
              HasSubstr("generates no tokens, and services are of networks that do"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.machine.workload = "resnet50"; }),
              HasSubstr("`foretell run`"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.machine.workload = "t5-3b"; }),
              HasSubstr("only decoders are served token by token"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.machine.power_limit = "-300W"; }),
              HasSubstr("above 0 W"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.machine.images = 1; }),
              HasSubstr("reads no images beside its prompt"));
  EXPECT_THAT(message([](PlanRequest& r) {
                r.service.machine.workload = "Qwen3-VL-8B";
                r.service.machine.images = 40;
              }),
              HasSubstr("more than a prompt of 512"));
  EXPECT_THAT(message([](PlanRequest& r) { r.probability = 1; }), HasSubstr("0.8"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.machine.pue = 1.2; }),
              HasSubstr("--usd-per-kwh"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.prefill = "tp=1"; }),
              HasSubstr("belong together"));
  EXPECT_THAT(message([](PlanRequest& r) {
                r.service.prefill = r.service.decode = "tp=1";
                r.service.machine.tp = 2;
              }),
              HasSubstr("in --prefill and --decode"));
  EXPECT_THAT(message([](PlanRequest& r) { r.service.decode_system = "g6.xlarge"; }),
              HasSubstr("instances of one system"));
  EXPECT_THAT(message([](PlanRequest& r) { r.workers = "apart"; }), HasSubstr("separate"));
  EXPECT_THAT(message([](PlanRequest& r) { r.dtypes = {"fp8", "bf61"}; }), HasSubstr("'bf61'"));
  EXPECT_THAT(message([](PlanRequest& r) { r.systems = {"p5.48xlage"}; }),
              HasSubstr("p5.48xlarge"));
  EXPECT_THAT(message([](PlanRequest& r) { r.systems = {"h100-sxm"}; }), HasSubstr("no price"));
}

TEST(Plan, WhatNoSystemTakesIsAMistake) {
  PlanRequest request = example();
  request.service.machine.power_limit = "300W";
  EXPECT_THAT(error_of([&] { check_settings(request, {"inf2.xlarge"}); }),
              HasSubstr("NeuronCores take none"));
  EXPECT_EQ(error_of([&] { check_settings(request, {"inf2.xlarge", "g6e.xlarge"}); }), "");
}

TEST(Plan, AMachineWithoutAPriceMayBeGivenOne) {
  PlanRequest request = example();
  request.systems = {"h100-sxm"};
  request.service.machine.set = {"system.price.on_demand=2.5 USD/h"};
  EXPECT_THAT(candidate_systems(request), ElementsAre("h100-sxm"));
}

TEST(Plan, EnginesAreTriedWhereTheyRun) {
  PlanRequest request = example();
  EXPECT_THAT(engines_for(request, "inf2.xlarge"), ElementsAre("neuron"));
  EXPECT_THAT(engines_for(request, "g6.xlarge"), ElementsAre("sglang", "trtllm", "vllm"));
  request.engines = {"vllm@0.8"};
  EXPECT_THAT(engines_for(request, "g6.xlarge"), ElementsAre("vllm@0.8"));
}

TEST(Plan, ADeviceCountIsSplitInEveryWayThatThereIs) {
  Candidate bf16;
  bf16.dtype = "bf16";
  const auto splits = [&bf16](const SplitChoices& choices) {
    std::vector<std::string> texts;
    for (const Candidate& one : splits_of(bf16, choices))
      texts.push_back(fmt::format("{} {} {} {}", one.tp, one.pp, one.attention_dp, one.ep));
    return texts;
  };
  EXPECT_THAT(splits({{1, 2}, 4, false, false}), ElementsAre("1 1 1 1", "2 1 1 1"));
  EXPECT_THAT(splits({{1, 2}, 4, false, true}),
              ElementsAre("1 1 1 1", "1 2 1 1", "1 4 1 1", "2 1 1 1", "2 2 1 1"));
  EXPECT_THAT(splits({{1, 4}, 4, true, false}),
              ElementsAre("1 1 1 1", "4 1 1 1", "4 1 1 2", "4 1 1 4", "2 1 2 4", "1 1 4 4"));
}

TEST(Plan, WhatIsStatedOfASplitIsNotSearched) {
  Candidate bf16;
  bf16.dtype = "bf16";
  const auto splits = [&bf16](SplitChoices choices, std::int64_t tp, std::int64_t pp,
                              std::int64_t ranks, std::int64_t ep) {
    choices.stated.tp = tp;
    choices.stated.pp = pp;
    choices.stated.attention_dp = ranks;
    choices.stated.ep = ep;
    std::vector<std::string> texts;
    for (const Candidate& one : splits_of(bf16, choices))
      texts.push_back(fmt::format("{} {} {} {}", one.tp, one.pp, one.attention_dp, one.ep));
    return texts;
  };
  const SplitChoices dense{{1, 2, 4}, 4, false, true};
  EXPECT_THAT(splits(dense, 2, 0, 0, 0), ElementsAre("2 1 1 1", "2 2 1 1"));
  EXPECT_THAT(splits(dense, 0, 1, 0, 0), ElementsAre("1 1 1 1", "2 1 1 1", "4 1 1 1"));
  EXPECT_THAT(splits(dense, 0, 3, 0, 0), ElementsAre("1 3 1 1", "2 3 1 1", "4 3 1 1"));
  EXPECT_THAT(splits(dense, 3, 0, 0, 0), ElementsAre("3 1 1 1"));
  const SplitChoices experts{{1, 4}, 4, true, false};
  EXPECT_THAT(splits(experts, 1, 0, 4, 0), ElementsAre("1 1 4 4"));
  EXPECT_THAT(splits(experts, 0, 0, 0, 1), ElementsAre("1 1 1 1", "4 1 1 1", "2 1 2 1", "1 1 4 1"));
  EXPECT_THAT(splits(experts, 2, 0, 2, 2), ElementsAre("2 1 2 2"));
  EXPECT_THAT(splits(experts, 4, 2, 0, 4), ElementsAre("4 2 1 4"));
}

TEST(Plan, LibrariesThatRunNoNetworksAreRefused) {
  PlanRequest request = example();
  request.libraries = {"vllm", "nccl"};
  EXPECT_THAT(error_of([&] { check_plan(request); }), HasSubstr("--library"));
}

TEST(Plan, TheCommandOfACandidateSaysAllThatItChose) {
  Candidate candidate;
  candidate.dtype = "fp8";
  candidate.engine = "sglang";
  candidate.attention_dp = candidate.ep = 4;
  candidate.workers = 2;
  candidate.max_batch = 64;
  EXPECT_EQ(serve_command(share_of(example(), "p5.48xlarge", candidate, 3)),
            "foretell serve --on p5.48xlarge --workload Llama-3.1-8B --dtype fp8 --tp 1 --dp 2 "
            "--attention-dp 4 --ep 4 --rate 0.666667 --input-len 512 --output-len 64 --engine "
            "sglang --max-batch 64 --slo 'ttft.p99<=1s'");
  candidate.prefill_workers = 1;
  EXPECT_EQ(serve_command(share_of(example(), "p5.48xlarge", candidate, 1)),
            "foretell serve --on p5.48xlarge --workload Llama-3.1-8B --dtype fp8 --prefill "
            "tp=1,workers=1,attention-dp=4,ep=4 --decode tp=1,workers=1,attention-dp=4,ep=4 "
            "--rate 2 --input-len 512 --output-len 64 --engine sglang --max-batch 64 --slo "
            "'ttft.p99<=1s'");
  candidate = {};
  candidate.dtype = "fp8";
  candidate.tp = candidate.pp = 2;
  candidate.library = "vllm";
  EXPECT_EQ(serve_command(share_of(example(), "p5.48xlarge", candidate, 1)),
            "foretell serve --on p5.48xlarge --workload Llama-3.1-8B --dtype fp8 --tp 2 --dp 1 "
            "--pp 2 --library vllm --rate 2 --input-len 512 --output-len 64 --slo "
            "'ttft.p99<=1s'");
}

TEST(Plan, SystemsThatAreNamedTwiceAreSearchedOnce) {
  PlanRequest request = example();
  request.systems = {"G6.xlarge", "g6.xlarge"};
  EXPECT_THAT(candidate_systems(request), ElementsAre("g6.xlarge"));
}

class PlanStoreTest : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("plan.store");
};

SystemPlan some_plan() {
  SystemPlan plan;
  plan.system = "g6.xlarge";
  PlannedDeployment one;
  one.system = plan.system;
  one.usd_per_million = 1.0 / 3;
  one.ttft_s = {0.1, 0.2, 0.3, 0.35, 0.4};
  one.simulate = "foretell serve --slo 'ttft.p99<=1s'";
  plan.deployments.push_back(one);
  RejectedDeployment fallen;
  fallen.dtype = "bf16";
  fallen.tp = fallen.ep = 8;
  fallen.cause = kTooSlow;
  fallen.reason = "why \"so\"";
  fallen.nearest = "ttft.p99<=2s";
  fallen.excess = 2;
  plan.rejected.push_back(fallen);
  plan.simulations = 7;
  return plan;
}

TEST_F(PlanStoreTest, GivesBackWhatItGot) {
  PlanStore(path_, example()).add(some_plan());
  const PlanStore again(path_, example());
  const SystemPlan* plan = again.find("g6.xlarge");
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(to_json(*plan), to_json(some_plan()));
}

TEST_F(PlanStoreTest, AnotherQuestionIsNotAnsweredByIt) {
  PlanStore(path_, example()).add(some_plan());
  PlanRequest other = example();
  other.service.rate = 3;
  EXPECT_EQ(PlanStore(path_, other).find("g6.xlarge"), nullptr);
}

TEST_F(PlanStoreTest, ALineThatWasCutOffDoesNotCount) {
  PlanStore(path_, example()).add(some_plan());
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 10);
  EXPECT_EQ(PlanStore(path_, example()).find("g6.xlarge"), nullptr);
}

TEST_F(PlanStoreTest, AFileOfAnotherKindIsLeftAlone) {
  std::ofstream(path_) << "system,workload\n";
  EXPECT_THAT(error_of([&] { PlanStore(path_, example()); }),
              HasSubstr(":1: is no line of a plan"));
  EXPECT_EQ(std::filesystem::file_size(path_), 16U);
}

}  // namespace
}  // namespace foretell

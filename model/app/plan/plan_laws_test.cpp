// What holds of every plan, and that its answers are what simulations say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/app/plan/candidate.hpp"
#include "model/app/plan/certainty.hpp"
#include "model/app/plan/plan.hpp"
#include "model/app/plan/static_bound.hpp"
#include "model/app/serving/request/worker_machine.hpp"

namespace foretell {
namespace {

constexpr const char* kSystem = "g6e.xlarge";

PlanRequest question(double rate, const std::string& slo) {
  PlanRequest request;
  request.service.machine.workload = "Llama-3.1-8B";
  request.service.rate = rate;
  request.service.input_len = "512";
  request.service.output_len = "64";
  request.service.slo = slo;
  request.dtypes = {"fp8"};
  request.workers = "together";
  return request;
}

PlannedDeployment best_of(const PlanRequest& request) {
  const SystemPlan plan = plan_system(predict, request, kSystem);
  EXPECT_FALSE(plan.deployments.empty());
  return plan.deployments.empty() ? PlannedDeployment() : plan.deployments.front();
}

TEST(PlanLaws, OneInstanceLessBreaksThePromise) {
  const PlanRequest request = question(60, "ttft.p99<=300ms,tpot.p99<=30ms");
  const PlannedDeployment best = best_of(request);
  ASSERT_GT(best.instances, 1);
  ServeRequest less = request.service;
  less.machine.system = kSystem;
  less.machine.dtype = "fp8";
  less.rate /= static_cast<double>(best.instances - 1);
  less.requests = 2000;
  MachinePool pool(predict);
  const ServeRecord record = serve(pool, less).record;
  EXPECT_LT(probability_of(record, parse_promises(less.slo)), request.probability);
}

TEST(PlanLaws, MoreRequestsNeverTakeFewerInstances) {
  std::int64_t before = 0;
  for (const double rate : {1.0, 10.0, 40.0, 160.0}) {
    const PlannedDeployment best = best_of(question(rate, "ttft.p99<=300ms,tpot.p99<=30ms"));
    EXPECT_GE(best.instances, before) << rate;
    before = best.instances;
  }
}

TEST(PlanLaws, AHarderPromiseIsNeverCheaper) {
  double before = 0;
  for (const char* slo : {"tpot.p99<=60ms", "tpot.p99<=30ms", "tpot.p99<=20ms"}) {
    const PlannedDeployment best = best_of(question(40, slo));
    EXPECT_GE(best.usd_per_hour, before) << slo;
    before = best.usd_per_hour;
  }
}

// Whatever is searched beside, what was found before is found again, or something cheaper.
TEST(PlanLaws, AWiderSearchIsNeverDearer) {
  const PlanRequest narrow = question(30, "ttft.p99<=300ms,tpot.p99<=30ms");
  const double usd = best_of(narrow).usd_per_million;
  ASSERT_GT(usd, 0);
  const auto wider = [&narrow](auto change) {
    PlanRequest request = narrow;
    change(request);
    return best_of(request).usd_per_million;
  };
  EXPECT_LE(wider([](PlanRequest& r) { r.dtypes = {"bf16", "fp8"}; }), usd);
  EXPECT_LE(wider([](PlanRequest& r) { r.engines = {"trtllm", "vllm"}; }), usd);
  EXPECT_LE(wider([](PlanRequest& r) { r.engines = {kAllEngines}; }), usd);
  EXPECT_LE(wider([](PlanRequest& r) { r.workers = "both"; }), usd);
  const double few = wider([](PlanRequest& r) { r.max_batches = {16}; });
  EXPECT_LE(wider([](PlanRequest& r) { r.max_batches = {16, 64}; }), few);
}

TEST(PlanLaws, AWiderSearchIsNeverDearerForClientsThatWait) {
  PlanRequest narrow = question(0, "tpot.p99<=30ms");
  narrow.service.concurrency = 96;
  const double usd = best_of(narrow).usd_per_million;
  PlanRequest wider = narrow;
  wider.dtypes = {"bf16", "fp8", "fp16"};
  wider.workers = "both";
  EXPECT_LE(best_of(wider).usd_per_million, usd);
}

TEST(PlanLaws, SeparateWorkersAreAmongBoth) {
  PlanRequest separate = question(40, "ttft.p99<=500ms,tpot.p99<=30ms");
  separate.workers = "separate";
  const auto cheapest = [](const PlanRequest& request) {
    const SystemPlan plan = plan_system(predict, request, "g6e.12xlarge");
    return plan.deployments.empty() ? std::numeric_limits<double>::infinity()
                                    : plan.deployments.front().usd_per_million;
  };
  PlanRequest both = separate;
  both.workers = "both";
  EXPECT_LE(cheapest(both), cheapest(separate));
}

// What the bound rules out would not have been cheaper: no deployment is below its own.
TEST(PlanLaws, NoInstanceAnswersMoreThanSingleStepsAllow) {
  const PlanRequest request = question(60, "tpot.p99<=30ms");
  MachinePool pool(predict);
  const SystemPlan plan = plan_system(predict, request, kSystem);
  ASSERT_FALSE(plan.deployments.empty());
  for (const PlannedDeployment& one : plan.deployments) {
    Candidate candidate;
    candidate.dtype = one.dtype;
    candidate.tp = static_cast<int>(one.tp);
    const WorkerMachine& machine = pool.machine(worker_request(request, kSystem, candidate), 8192);
    const StaticBound bound =
        static_bound(machine, {512, 64}, parse_promises(request.service.slo), one.max_batch, 1.25);
    const double most = 1.25 / (bound.prompt_s + 63 * bound.token_s) *
                        static_cast<double>(one.workers * one.instances);
    EXPECT_LE(one.requests_per_s, most);
  }
}

TEST(PlanLaws, NetworksOfExpertsAreTriedWithExpertsApart) {
  PlanRequest request = question(5, "tpot.p99<=60ms");
  request.service.machine.workload = "gpt-oss-120b";
  request.dtypes = {"bf16"};
  const SystemPlan plan = plan_system(predict, request, "p5.48xlarge");
  int apart = 0;
  int ranks = 0;
  const auto count = [&](const auto& all) {
    for (const auto& one : all) {
      apart += one.ep > 1 && one.attention_dp == 1 ? 1 : 0;
      ranks += one.ep > 1 && one.attention_dp > 1 ? 1 : 0;
    }
  };
  count(plan.deployments);
  count(plan.rejected);
  EXPECT_GT(apart, 0);
  EXPECT_GT(ranks, 0);
}

TEST(PlanLaws, CostIsPriceOverTokens) {
  const PlannedDeployment best = best_of(question(10, "ttft.p99<=300ms"));
  EXPECT_DOUBLE_EQ(best.output_tokens_per_s, 10 * 64);
  EXPECT_NEAR(best.usd_per_million, best.usd_per_hour / 3600 / 640 * 1e6, 1e-9);
}

TEST(PlanLaws, APromiseThatNothingKeepsNamesOneThatIsKept) {
  const PlanRequest request = question(1, "tpot.p99<=1ms");
  const SystemPlan plan = plan_system(predict, request, kSystem);
  EXPECT_TRUE(plan.deployments.empty());
  ASSERT_FALSE(plan.rejected.empty());
  const RejectedDeployment& nearest = plan.rejected.front();
  EXPECT_GT(nearest.excess, 1);
  // A request that is alone keeps it; others come in between now and then.
  PlanRequest eased = request;
  eased.service.slo = fmt::format("tpot.p99<={}s", 1e-3 * nearest.excess * 1.2);
  EXPECT_FALSE(plan_system(predict, eased, kSystem).deployments.empty()) << nearest.nearest;
}

// A queue that grows slowly is not missed for want of requests: what is promised holds for several
// times as many.
TEST(PlanLaws, WhatIsPlannedHoldsForMoreRequests) {
  PlanRequest request = question(40, "ttft.p99<=20s,tpot.p99<=200ms");
  request.service.input_len = "2048";
  const PlannedDeployment best = best_of(request);
  ASSERT_GT(best.instances, 0);
  ServeRequest longer = request.service;
  longer.machine.system = kSystem;
  longer.machine.dtype = "fp8";
  longer.engine = best.engine.substr(0, best.engine.find('-'));
  longer.max_batch = best.max_batch;
  longer.rate /= static_cast<double>(best.instances);
  longer.requests = 6000;
  MachinePool pool(predict);
  const ServeRecord record = serve(pool, longer).record;
  EXPECT_GE(record.summary.requests_per_s, 0.97 * longer.rate);
  EXPECT_LE(record.summary.ttft_s.p99, 20);
}

// For several broken promises, what is named eases each that has to be.
TEST(PlanLaws, WhatIsNamedInPlaceOfSeveralPromisesIsKeptWhole) {
  const PlanRequest request = question(0.001, "ttft.p99<=1ms,tpot.p99<=1ms,e2e.p99<=1000s");
  const SystemPlan plan = plan_system(predict, request, kSystem);
  ASSERT_FALSE(plan.rejected.empty());
  const RejectedDeployment& nearest = plan.rejected.front();
  const std::vector<Promise> eased = parse_promises(nearest.nearest);
  ASSERT_EQ(eased.size(), 3U);
  EXPECT_GT(eased[0].limit.value(), 1e-3);
  EXPECT_GT(eased[1].limit.value(), 1e-3);
  EXPECT_DOUBLE_EQ(eased[2].limit.value(), 1000);
  PlanRequest again = request;
  again.service.slo = nearest.nearest;
  EXPECT_FALSE(plan_system(predict, again, kSystem).deployments.empty()) << nearest.nearest;
}

}  // namespace
}  // namespace foretell

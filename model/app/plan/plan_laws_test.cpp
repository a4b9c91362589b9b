// What holds of every plan, and that its answers are what simulations say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/app/plan/certainty.hpp"
#include "model/app/plan/plan.hpp"
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

}  // namespace
}  // namespace foretell

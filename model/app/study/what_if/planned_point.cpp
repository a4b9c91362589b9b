#include "model/app/study/what_if/planned_point.hpp"

#include <fmt/format.h>

#include <foretell/version.hpp>
#include <set>

#include "model/app/plan/candidate.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/resolve/step_tokens.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/study/what_if/served_point.hpp"
#include "model/base/errors.hpp"
#include "reports/render/plan_text.hpp"

namespace foretell {
namespace {

// Why nothing keeps the promises: what comes nearest, else the first reason.
std::string reason_of(const SystemPlan& plan) {
  const RejectedDeployment* nearest = nullptr;
  for (const RejectedDeployment& one : plan.rejected) {
    const bool nearer = one.excess > 0 && (nearest == nullptr || !(nearest->excess > 0) ||
                                           one.excess < nearest->excess);
    if (nearest == nullptr || nearer) nearest = &one;
  }
  if (nearest == nullptr) return "nothing was found";
  if (nearest->excess > 0) return fmt::format("nearest is --slo '{}'", nearest->nearest);
  return nearest->reason;
}

RunSummary summary_of(const PlannedDeployment& one) {
  RunSummary summary = times_of_service(one);
  summary.call_s = one.tpot_s.mean;
  summary.cost_usd_per_million = one.usd_per_million;
  summary.costs_usd_per_million[kOnDemand] = one.usd_per_million;
  summary.joules_per_token = one.joules_per_token;
  summary.bottleneck = one.binds;
  return summary;
}

}  // namespace

PlanRequest planned_request(const Request& request) {
  Request service = request;
  service.service.erase(kPlanKey);
  PlanRequest plan;
  plan.service = served_request(service);
  plan.workers = request.service.at(kPlanKey);
  plan.systems = {request.system};
  if (!request.dtype.empty()) plan.dtypes = {request.dtype};
  if (!plan.service.engine.empty()) plan.engines = {plan.service.engine};
  plan.service.engine.clear();
  check_plan(plan);
  return plan;
}

RunRecord planned_record(const Predictor& predict, const Request& request) {
  const PlanRequest asked = planned_request(request);
  const std::string system = candidate_systems(asked).front();
  const SystemPlan plan = plan_system(predict, asked, system);
  if (plan.deployments.empty()) {
    throw UserError(fmt::format("no deployment on {} keeps {}: {}", system, asked.service.slo,
                                reason_of(plan)));
  }
  const PlannedDeployment& best = plan.deployments.front();
  RunRecord record;
  record.context.version = kVersion;
  record.context.commit = kCommit;
  record.context.system = system;
  record.context.workload = request.workload;
  record.context.dtype = best.dtype;
  record.context.scenario = request;
  record.context.scenario.batch = 0;
  if (record.context.scenario.label.empty()) record.context.scenario.label = setting_text(best);
  record.context.set = request.set;
  record.context.seed = request.seed;
  MachinePool pool(predict);
  const WorkerMachine& machine =
      pool.machine(worker_request(asked, system, best), tokens_of_step(family_of(system).name()));
  record.context.factors = machine.factors;
  record.context.assumed_values = machine.assumed_values;
  record.context.notes = machine.notes;
  record.context.notes.push_back(
      fmt::format("{} instances; one of them: {}", best.instances, best.simulate));
  if (!best.start.empty()) record.context.notes.push_back("each worker: " + best.start);
  record.summary = summary_of(best);
  record.summary.memory_capacity_bytes = machine.capacity.value();
  record.summary.memory_used_bytes = (machine.weights + machine.workspace).value();
  check_record(record);
  return record;
}

}  // namespace foretell

#include "reports/record/plan_record.hpp"

#include <algorithm>

#include "reports/record/served_times_json.hpp"

namespace foretell {
namespace {

RecordJson plan_number(double value) {
  FORETELL_CHECK(std::isfinite(value), "a plan holds numbers alone");
  return record_number(value);
}

}  // namespace

template <>
struct RecordFields<DeploymentSetting> {
  using R = DeploymentSetting;
  static constexpr auto kAll = std::make_tuple(
      record_field("dtype", &R::dtype), record_field("engine", &R::engine),
      record_field("library", &R::library), record_field("tp", &R::tp), record_field("pp", &R::pp),
      record_field("attention_dp", &R::attention_dp), record_field("ep", &R::ep),
      record_field("max_batch", &R::max_batch), record_field("workers", &R::workers),
      record_field("prefill_workers", &R::prefill_workers), record_field("prefill", &R::prefill),
      record_field("decode", &R::decode));
};

template <>
struct RecordFields<PlannedDeployment> {
  using R = PlannedDeployment;
  static constexpr auto kAll = std::tuple_cat(
      std::make_tuple(record_field("system", &R::system), record_field("instances", &R::instances)),
      RecordFields<DeploymentSetting>::kAll,
      std::make_tuple(record_field("usd_per_hour", &R::usd_per_hour),
                      record_field("cost_usd_per_million", &R::usd_per_million),
                      record_field("ttft_s", &R::ttft_s), record_field("tpot_s", &R::tpot_s),
                      record_field("e2e_s", &R::e2e_s),
                      record_field("output_tokens_per_s", &R::output_tokens_per_s),
                      record_field("requests_per_s", &R::requests_per_s),
                      record_field("kv_used_share", &R::kv_used_share),
                      record_field("joules_per_token", &R::joules_per_token),
                      record_field("joules_per_request", &R::joules_per_request),
                      record_field("watts", &R::watts), record_field("wall_watts", &R::wall_watts),
                      record_field("energy_usd_per_million", &R::energy_usd_per_million),
                      record_field("probability", &R::probability),
                      record_field("binds", &R::binds), record_field("on_front", &R::on_front),
                      record_field("simulate", &R::simulate), record_field("start", &R::start)));
};

template <>
struct RecordFields<RejectedDeployment> {
  using R = RejectedDeployment;
  static constexpr auto kAll = std::tuple_cat(
      RecordFields<DeploymentSetting>::kAll,
      std::make_tuple(record_field("cause", &R::cause), record_field("reason", &R::reason),
                      record_field("nearest", &R::nearest), record_field("excess", &R::excess)));
};

template <>
struct RecordFields<SystemPlan> {
  using R = SystemPlan;
  static constexpr auto kAll = std::make_tuple(
      record_field("system", &R::system), record_field("deployments", &R::deployments),
      record_field("rejected", &R::rejected), record_field("simulations", &R::simulations));
};

template <>
struct RecordFields<PlanContext> {
  using R = PlanContext;
  static constexpr auto kAll =
      std::make_tuple(record_field("version", &R::version), record_field("commit", &R::commit),
                      record_field("workload", &R::workload), record_field("load", &R::load),
                      record_field("slo", &R::slo), record_field("probability", &R::probability),
                      record_field("seed", &R::seed));
};

bool nothing_holds(const PlanRecord& plan) {
  bool lacks_memory = false;
  for (const SystemPlan& system : plan.systems) {
    if (!system.deployments.empty()) return false;
    for (const RejectedDeployment& one : system.rejected) {
      if (one.cause != kNoMemory && one.cause != kRefused) return false;
      lacks_memory = lacks_memory || one.cause == kNoMemory;
    }
  }
  return lacks_memory;
}

std::string setting_of(const DeploymentSetting& one) {
  DeploymentSetting alike = one;
  alike.max_batch = 0;
  return record_json(alike).dump();
}

const PlannedDeployment* runner_up_of(const SystemPlan& plan) {
  for (const PlannedDeployment& one : plan.deployments) {
    if (setting_of(one) != setting_of(plan.deployments.front())) return &one;
  }
  return nullptr;
}

std::vector<const PlannedDeployment*> best_of_systems(const PlanRecord& plan) {
  std::vector<const PlannedDeployment*> best;
  for (const SystemPlan& system : plan.systems) {
    if (!system.deployments.empty()) best.push_back(&system.deployments.front());
  }
  std::sort(best.begin(), best.end(), [](const PlannedDeployment* a, const PlannedDeployment* b) {
    if (a->usd_per_million != b->usd_per_million) return a->usd_per_million < b->usd_per_million;
    return a->system < b->system;
  });
  return best;
}

std::string to_json(const SystemPlan& plan) { return record_json(plan, plan_number).dump(); }

std::string to_json(const PlanRecord& record) {
  const std::vector<const PlannedDeployment*> best = best_of_systems(record);
  const RecordJson out{
      {"schema", kPlanSchema},
      {"context", record_json(record.context, plan_number)},
      {"best", best.empty() ? RecordJson(nullptr) : record_json(*best.front(), plan_number)},
      {"interrupted", record.interrupted},
      {"would_hold", record.would_hold},
      {"systems", record_json(record.systems, plan_number)}};
  return out.dump();
}

SystemPlan read_system_plan(const std::string& json, const std::string& where) {
  RecordJson root;
  try {
    root = RecordJson::parse(json);
  } catch (const RecordJson::exception&) {
    throw UserError(where + ": is no JSON object");
  }
  SystemPlan plan;
  RecordValue<SystemPlan>::read_members(RecordReader(root, where), plan);
  return plan;
}

std::vector<CsvRow> plan_rows(const PlanRecord& record) {
  CsvRow header = {"system", "instances"};
  std::apply([&](const auto&... field) { (header.emplace_back(field.name), ...); },
             RecordFields<DeploymentSetting>::kAll);
  header.insert(header.end(), {"usd_per_hour", "cost_usd_per_million", "ttft_mean_s", "ttft_p99_s",
                               "tpot_mean_s", "tpot_p99_s", "output_tokens_per_s",
                               "joules_per_token", "joules_per_request", "watts", "wall_watts",
                               "energy_usd_per_million", "probability", "on_front", "binds"});
  std::vector<CsvRow> rows = {std::move(header)};
  const auto text = [](double value) { return plan_number(value).dump(); };
  const auto known = [&text](const std::optional<double>& value) {
    return value ? text(*value) : "";
  };
  for (const SystemPlan& plan : record.systems) {
    for (const PlannedDeployment& one : plan.deployments) {
      CsvRow row = {one.system, std::to_string(one.instances)};
      const RecordJson setting = record_json<DeploymentSetting>(one);
      for (const RecordJson& value : setting)
        row.push_back(value.is_string() ? value.get<std::string>() : value.dump());
      row.insert(row.end(),
                 {text(one.usd_per_hour), text(one.usd_per_million), text(one.ttft_s.mean),
                  text(one.ttft_s.p99), text(one.tpot_s.mean), text(one.tpot_s.p99),
                  text(one.output_tokens_per_s), known(one.joules_per_token),
                  known(one.joules_per_request), known(one.watts), known(one.wall_watts),
                  known(one.energy_usd_per_million), text(one.probability),
                  one.on_front ? "yes" : "no", one.binds});
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace foretell

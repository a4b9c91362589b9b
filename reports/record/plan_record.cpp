#include "reports/record/plan_record.hpp"

#include <algorithm>

#include "reports/record/json_reader.hpp"

namespace foretell {
namespace {

RecordJson plan_number(double value) {
  FORETELL_CHECK(std::isfinite(value), "a plan holds numbers alone");
  return record_number(value);
}

RecordJson plan_statistic(const ServeStatistic& one) {
  return {{"mean", plan_number(one.mean)},
          {"p50", plan_number(one.p50)},
          {"p90", plan_number(one.p90)},
          {"p99", plan_number(one.p99)}};
}

ServeStatistic read_plan_statistic(const RecordReader& reader) {
  ServeStatistic one;
  reader.get("mean", one.mean);
  reader.get("p50", one.p50);
  reader.get("p90", one.p90);
  reader.get("p99", one.p99);
  return one;
}

// The fields of a setting, in the order of records and tables.
struct SettingText {
  const char* name;
  std::string DeploymentSetting::*member;
};
constexpr SettingText kSettingTexts[] = {{"dtype", &DeploymentSetting::dtype},
                                         {"engine", &DeploymentSetting::engine},
                                         {"library", &DeploymentSetting::library}};
struct SettingCount {
  const char* name;
  std::int64_t DeploymentSetting::*member;
};
constexpr SettingCount kSettingCounts[] = {
    {"tp", &DeploymentSetting::tp},
    {"pp", &DeploymentSetting::pp},
    {"attention_dp", &DeploymentSetting::attention_dp},
    {"ep", &DeploymentSetting::ep},
    {"max_batch", &DeploymentSetting::max_batch},
    {"workers", &DeploymentSetting::workers},
    {"prefill_workers", &DeploymentSetting::prefill_workers}};

RecordJson setting_json(const DeploymentSetting& one) {
  RecordJson out = RecordJson::object();
  for (const SettingText& text : kSettingTexts) out[text.name] = one.*text.member;
  for (const SettingCount& count : kSettingCounts) out[count.name] = one.*count.member;
  return out;
}

void read_setting(const RecordReader& reader, DeploymentSetting& one) {
  for (const SettingText& text : kSettingTexts) reader.get(text.name, one.*text.member);
  for (const SettingCount& count : kSettingCounts) reader.get(count.name, one.*count.member);
}

RecordJson deployment_json(const PlannedDeployment& one) {
  RecordJson out{{"system", one.system}, {"instances", one.instances}};
  out.update(setting_json(one));
  const RecordJson joules =
      one.joules_per_token ? plan_number(*one.joules_per_token) : RecordJson(nullptr);
  out.update({{"usd_per_hour", plan_number(one.usd_per_hour)},
              {"cost_usd_per_million", plan_number(one.usd_per_million)},
              {"ttft_s", plan_statistic(one.ttft_s)},
              {"tpot_s", plan_statistic(one.tpot_s)},
              {"e2e_s", plan_statistic(one.e2e_s)},
              {"output_tokens_per_s", plan_number(one.output_tokens_per_s)},
              {"requests_per_s", plan_number(one.requests_per_s)},
              {"kv_used_share", plan_number(one.kv_used_share)},
              {"joules_per_token", joules},
              {"probability", plan_number(one.probability)},
              {"binds", one.binds},
              {"on_front", one.on_front},
              {"simulate", one.simulate},
              {"start", one.start}});
  return out;
}

PlannedDeployment read_deployment(const RecordReader& reader) {
  PlannedDeployment one;
  reader.get("system", one.system);
  reader.get("instances", one.instances);
  read_setting(reader, one);
  reader.get("usd_per_hour", one.usd_per_hour);
  reader.get("cost_usd_per_million", one.usd_per_million);
  one.ttft_s = read_plan_statistic(reader.child("ttft_s"));
  one.tpot_s = read_plan_statistic(reader.child("tpot_s"));
  one.e2e_s = read_plan_statistic(reader.child("e2e_s"));
  reader.get("output_tokens_per_s", one.output_tokens_per_s);
  reader.get("requests_per_s", one.requests_per_s);
  reader.get("kv_used_share", one.kv_used_share);
  reader.get_optional("joules_per_token", one.joules_per_token);
  reader.get("probability", one.probability);
  reader.get("binds", one.binds);
  reader.get("on_front", one.on_front);
  reader.get("simulate", one.simulate);
  reader.get("start", one.start);
  return one;
}

RecordJson rejected_json(const RejectedDeployment& one) {
  RecordJson out = setting_json(one);
  out.update(
      {{"reason", one.reason}, {"nearest", one.nearest}, {"excess", plan_number(one.excess)}});
  return out;
}

RejectedDeployment read_rejected(const RecordReader& reader) {
  RejectedDeployment one;
  read_setting(reader, one);
  reader.get("reason", one.reason);
  reader.get("nearest", one.nearest);
  reader.get("excess", one.excess);
  return one;
}

RecordJson system_json(const SystemPlan& plan) {
  RecordJson deployments = RecordJson::array();
  for (const PlannedDeployment& one : plan.deployments) deployments.push_back(deployment_json(one));
  RecordJson rejected = RecordJson::array();
  for (const RejectedDeployment& one : plan.rejected) rejected.push_back(rejected_json(one));
  return {{"system", plan.system},
          {"deployments", std::move(deployments)},
          {"rejected", std::move(rejected)},
          {"simulations", plan.simulations}};
}

}  // namespace

bool nothing_holds(const PlanRecord& plan) {
  return std::all_of(plan.systems.begin(), plan.systems.end(), [](const SystemPlan& system) {
    return system.deployments.empty() &&
           std::all_of(system.rejected.begin(), system.rejected.end(),
                       [](const RejectedDeployment& one) { return one.excess == 0; });
  });
}

std::string setting_of(const DeploymentSetting& one) {
  DeploymentSetting alike = one;
  alike.max_batch = 0;
  return setting_json(alike).dump();
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

std::string to_json(const SystemPlan& plan) { return system_json(plan).dump(); }

std::string to_json(const PlanRecord& record) {
  const PlanContext& context = record.context;
  RecordJson systems = RecordJson::array();
  for (const SystemPlan& plan : record.systems) systems.push_back(system_json(plan));
  const std::vector<const PlannedDeployment*> best = best_of_systems(record);
  const RecordJson out{
      {"schema", kPlanSchema},
      {"context",
       {{"version", context.version},
        {"commit", context.commit},
        {"workload", context.workload},
        {"load", context.load},
        {"slo", context.slo},
        {"probability", plan_number(context.probability)},
        {"seed", context.seed}}},
      {"best", best.empty() ? RecordJson(nullptr) : deployment_json(*best.front())},
      {"would_hold", record.would_hold},
      {"systems", std::move(systems)}};
  return out.dump();
}

SystemPlan read_system_plan(const std::string& json, const std::string& where) {
  RecordJson root;
  try {
    root = RecordJson::parse(json);
  } catch (const RecordJson::exception&) {
    throw UserError(where + ": is no JSON object");
  }
  const RecordReader reader(root, where);
  SystemPlan plan;
  reader.get("system", plan.system);
  for (const RecordReader& one : reader.list("deployments")) {
    plan.deployments.push_back(read_deployment(one));
  }
  for (const RecordReader& one : reader.list("rejected")) {
    plan.rejected.push_back(read_rejected(one));
  }
  reader.get("simulations", plan.simulations);
  return plan;
}

std::vector<CsvRow> plan_rows(const PlanRecord& record) {
  CsvRow header = {"system", "instances"};
  for (const SettingText& text : kSettingTexts) header.emplace_back(text.name);
  for (const SettingCount& count : kSettingCounts) header.emplace_back(count.name);
  header.insert(header.end(), {"usd_per_hour", "cost_usd_per_million", "ttft_mean_s", "ttft_p99_s",
                               "tpot_mean_s", "tpot_p99_s", "output_tokens_per_s",
                               "joules_per_token", "probability", "on_front", "binds"});
  std::vector<CsvRow> rows = {std::move(header)};
  const auto text = [](double value) { return plan_number(value).dump(); };
  for (const SystemPlan& plan : record.systems) {
    for (const PlannedDeployment& one : plan.deployments) {
      CsvRow row = {one.system, std::to_string(one.instances)};
      for (const SettingText& field : kSettingTexts) row.push_back(one.*field.member);
      for (const SettingCount& count : kSettingCounts)
        row.push_back(std::to_string(one.*count.member));
      row.insert(row.end(), {text(one.usd_per_hour), text(one.usd_per_million),
                             text(one.ttft_s.mean), text(one.ttft_s.p99), text(one.tpot_s.mean),
                             text(one.tpot_s.p99), text(one.output_tokens_per_s),
                             one.joules_per_token ? text(*one.joules_per_token) : "",
                             text(one.probability), one.on_front ? "yes" : "no", one.binds});
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace foretell

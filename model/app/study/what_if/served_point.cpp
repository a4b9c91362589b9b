#include "model/app/study/what_if/served_point.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "model/app/serving/request/serve_keys.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/study/what_if/planned_point.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"

namespace foretell {
namespace {

// Fields of a request that mean the same to a service.
bool means_something(const RequestField& field) {
  static constexpr const char* kKnown[] = {"input_len", "output_len", "dp",      "attention_dp",
                                           "exact",     "label",      "service", "distributions"};
  if (field.serves) return true;
  for (const char* known : kKnown) {
    if (std::string_view(known) == field.key) return true;
  }
  return false;
}

void check_fields(const Request& request) {
  Request plain;
  for (const RequestField& field : request_fields()) {
    if (means_something(field) || !is_stated(field, request)) continue;
    if (cell_of(field, request) == cell_of(field, plain)) continue;
    throw UserError(std::string(field.option) +
                    ": says nothing about a service; its load is stated with rate, concurrency, "
                    "max_batch, … instead");
  }
}

// As it was stated: a distribution, or a number.
std::string length_text(const Request& request, const char* option, std::int64_t number) {
  const auto found = request.distributions.find(option);
  if (found != request.distributions.end()) return found->second;
  return number > 0 ? std::to_string(number) : "";
}

void set_interval(const ServeSummary& from, const char* name, const char* field, RunSummary& to) {
  const auto found = from.interval80.find(name);
  if (found != from.interval80.end()) to.interval80[field] = found->second;
}

// Simulated times are floats: more digits say nothing.
double in_brief(double time) { return rounded_to(time, 6); }

ServedTimes times_in_brief(const ServeRecord& served) {
  ServedTimes times;
  times.promises = served.summary.promises;
  times.shares = brief_shares();
  const std::vector<double>& all = serve_shares();
  for (const char* name : {"ttft_s", "tpot_s", "e2e_s"}) {
    const auto known = served.distributions.find(name);
    if (known == served.distributions.end()) continue;
    std::vector<double>& brief = times.times_s[name];
    for (const double share : times.shares) {
      const auto place = std::lower_bound(all.begin(), all.end(), share) - all.begin();
      brief.push_back(in_brief(known->second[static_cast<std::size_t>(place)]));
    }
  }
  return times;
}

RunSummary run_summary(const ServeSummary& served) {
  RunSummary summary = times_of_service(served);
  summary.call_s = served.itl_s.mean;
  summary.goodput_per_s = served.goodput_per_s;
  summary.mean_batch = served.batch_mean;
  set_interval(served, "e2e_s.mean", "latency_s", summary);
  set_interval(served, "ttft_s.mean", "ttft_s", summary);
  set_interval(served, "tpot_s.mean", "tpot_s", summary);
  set_interval(served, "ttft_s.p99", "ttft_p99_s", summary);
  set_interval(served, "tpot_s.p99", "tpot_p99_s", summary);
  set_interval(served, "output_tokens_per_s", "throughput", summary);
  for (const char* name : {"watts", "wall_watts", "joules_per_token", "joules_per_request"})
    set_interval(served, name, name, summary);
  summary.cost_usd_per_million = served.cost_usd_per_million;
  if (served.cost_usd_per_million)
    summary.costs_usd_per_million[kOnDemand] = *served.cost_usd_per_million;
  for (const auto& [what, bytes] : served.memory_bytes) {
    (what == "capacity" ? summary.memory_capacity_bytes : summary.memory_used_bytes) += bytes;
  }
  summary.joules_per_token = served.joules_per_token;
  summary.joules_per_request = served.joules_per_request;
  summary.watts = served.watts;
  summary.wall_watts = served.wall_watts;
  summary.energy_usd_per_million = served.energy_usd_per_million;
  summary.usd_per_million_with_energy = served.usd_per_million_with_energy;
  summary.bottleneck = served.binds;
  return summary;
}

}  // namespace

ServeRequest served_request(const Request& request) {
  check_fields(request);
  check_energy_price(request);
  ServeRequest serving;
  serving.machine = request;
  serving.machine.service.clear();
  serving.machine.distributions.clear();
  serving.machine.input_len = 0;
  serving.machine.output_len = 0;
  serving.machine.dp = 0;
  serving.machine.attention_dp = 0;
  serving.dp = request.dp;
  if (request.attention_dp > 0) serving.attention_dp = request.attention_dp;
  serving.input_len = length_text(request, "input-len", request.input_len);
  serving.output_len = length_text(request, "output-len", request.output_len);
  for (const auto& [key, text] : request.service) set_serve_key(serving, key, key, text);
  if (serving.trace_every > 1 && serving.trace.empty())
    throw UserError("every: takes some of the requests of a trace");
  if (serving.trace.empty()) load_of(serving);
  return serving;
}

RunRecord served_record(const Request& request, const ServeRecord& served) {
  RunRecord record;
  static_cast<PredictionOrigin&>(record.context) = served.context;
  record.context.likeness.clear();  // the notes say it
  record.context.scenario = request;
  record.context.scenario.batch = 0;
  if (request.distributions.count("input-len") > 0) record.context.scenario.input_len = 0;
  if (request.distributions.count("output-len") > 0) record.context.scenario.output_len = 0;
  record.context.set = request.set;
  record.summary = run_summary(served.summary);
  if (!served.distributions.empty()) record.summary.served = times_in_brief(served);
  check_record(record);
  return record;
}

RunRecord record_of_service(const ServeRecord& served) {
  RunRecord record;
  static_cast<PredictionOrigin&>(record.context) = served.context;
  for (const auto& [name, value] : served.context.scenario)
    record.context.scenario.service[name] = value;
  record.summary = run_summary(served.summary);
  return record;
}

Predictor with_services(Predictor predict) {
  const auto pool = std::make_shared<MachinePool>(predict);
  return [predict = std::move(predict), pool](const Request& request) {
    if (is_planned(request)) return planned_record(predict, request);
    if (!is_served(request)) return predict(request);
    pool->forget_beyond(kKeptMachines);
    return served_record(request, serve(*pool, served_request(request)).record);
  };
}

}  // namespace foretell

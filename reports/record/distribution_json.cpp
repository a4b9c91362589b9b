#include "reports/record/distribution_json.hpp"

namespace foretell {
namespace {

RecordJson to_json(const Percentiles& values) {
  return RecordJson{{"p50", record_number(values.p50)},
                    {"p90", record_number(values.p90)},
                    {"p99", record_number(values.p99)}};
}

Percentiles read_percentiles(const RecordReader& in) {
  Percentiles out;
  in.get("p50", out.p50);
  in.get("p90", out.p90);
  in.get("p99", out.p99);
  return out;
}

}  // namespace

RecordJson to_json(const DistributionRecord& distribution) {
  RecordJson out{{"latency_s", to_json(distribution.latency_s)},
                 {"call_s", to_json(distribution.call_s)}};
  for (const auto& [name, values] : distribution.others) out[name] = to_json(values);
  for (const PaddingRecord& padding : distribution.padding) {
    out["padding"] = {{"buckets", padding.buckets},
                      {"dynamic_call_s", record_number(padding.dynamic_call_s)},
                      {"buckets_call_s", record_number(padding.buckets_call_s)},
                      {"overhead", record_number(padding.overhead)},
                      {"padding_share", record_number(padding.padding_share)}};
  }
  for (const PartRecord& part : distribution.parts) {
    out["parts"].push_back({{"name", part.name},
                            {"call_s", record_number(part.call_s)},
                            {"runs", record_number(part.runs)}});
  }
  for (const OutcomeRecord& outcome : distribution.outcomes) {
    out["outcomes"].push_back({{"call_s", record_number(outcome.call_s)},
                               {"probability", record_number(outcome.probability)}});
  }
  return out;
}

RecordJson to_json(const TrainingRecord& training) {
  return RecordJson{{"optimizer", training.optimizer},
                    {"parameters", record_number(training.parameters)},
                    {"forward_flops", record_number(training.forward_flops)},
                    {"backward_flops", record_number(training.backward_flops)},
                    {"update_flops", record_number(training.update_flops)},
                    {"all_reduce_bytes", record_number(training.all_reduce_bytes)},
                    {"saved_activations_bytes", record_number(training.saved_activations_bytes)},
                    {"gradients_bytes", record_number(training.gradients_bytes)},
                    {"optimizer_state_bytes", record_number(training.optimizer_state_bytes)},
                    {"forward_s", record_number(training.forward_s)}};
}

DistributionRecord read_distribution(const RecordReader& in) {
  DistributionRecord out;
  out.latency_s = read_percentiles(in.child("latency_s"));
  out.call_s = read_percentiles(in.child("call_s"));
  if (in.has("ttft_s")) out.others["ttft_s"] = read_percentiles(in.child("ttft_s"));
  if (in.has("padding")) {
    const RecordReader each = in.child("padding");
    PaddingRecord& padding = out.padding.emplace_back();
    each.counts("buckets", padding.buckets);
    each.get("dynamic_call_s", padding.dynamic_call_s);
    each.get("buckets_call_s", padding.buckets_call_s);
    each.get("overhead", padding.overhead);
    each.get("padding_share", padding.padding_share);
  }
  if (in.has("parts")) {
    for (const RecordReader& each : in.list("parts")) {
      PartRecord& part = out.parts.emplace_back();
      each.get("name", part.name);
      each.get("call_s", part.call_s);
      each.get("runs", part.runs);
    }
  }
  if (in.has("outcomes")) {
    for (const RecordReader& each : in.list("outcomes")) {
      OutcomeRecord& outcome = out.outcomes.emplace_back();
      each.get("call_s", outcome.call_s);
      each.get("probability", outcome.probability);
    }
  }
  return out;
}

TrainingRecord read_training(const RecordReader& in) {
  TrainingRecord out;
  in.get("optimizer", out.optimizer);
  in.get("parameters", out.parameters);
  in.get("forward_flops", out.forward_flops);
  in.get("backward_flops", out.backward_flops);
  in.get("update_flops", out.update_flops);
  in.get("all_reduce_bytes", out.all_reduce_bytes);
  in.get("saved_activations_bytes", out.saved_activations_bytes);
  in.get("gradients_bytes", out.gradients_bytes);
  in.get("optimizer_state_bytes", out.optimizer_state_bytes);
  in.get("forward_s", out.forward_s);
  return out;
}

RecordJson to_json(const EnergyRecord& energy) {
  RecordJson parts = RecordJson::array();
  for (const EnergyPartRecord& part : energy.parts) {
    parts.push_back({{"kind", part.kind},
                     {"joules", record_number(part.joules)},
                     {"calibrated", part.is_calibrated}});
  }
  RecordJson by_operator = RecordJson::object();
  for (const auto& [kind, joules] : energy.joules_by_operator)
    by_operator[kind] = record_number(joules);
  return RecordJson{{"devices", record_number(energy.devices)},
                    {"limit_w", record_number(energy.limit_w)},
                    {"clock", record_number(energy.clock)},
                    {"calibrated_share", record_number(energy.calibrated_share)},
                    {"interval80", RecordJson::array({record_number(energy.interval80.low),
                                                      record_number(energy.interval80.high)})},
                    {"parts", parts},
                    {"joules_by_operator", by_operator}};
}

EnergyRecord read_energy(const RecordReader& in) {
  EnergyRecord out;
  in.get("devices", out.devices);
  in.get("limit_w", out.limit_w);
  in.get("clock", out.clock);
  in.get("calibrated_share", out.calibrated_share);
  std::vector<double> interval;
  in.get("interval80", interval);
  if (interval.size() == 2) out.interval80 = {interval[0], interval[1]};
  for (const RecordReader& part : in.list("parts")) {
    EnergyPartRecord& one = out.parts.emplace_back();
    part.get("kind", one.kind);
    part.get("joules", one.joules);
    part.get("calibrated", one.is_calibrated);
  }
  in.numbers("joules_by_operator", out.joules_by_operator);
  return out;
}

}  // namespace foretell

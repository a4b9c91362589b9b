// One prediction as a short list of labelled values.
#include <fmt/format.h>

#include <algorithm>

#include "model/base/text.hpp"
#include "reports/record/hardware_change.hpp"
#include "reports/render/folded_notes.hpp"
#include "reports/render/record_cells.hpp"
#include "reports/render/record_text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMaxSteps = 12;  // rows of the table of decode steps

void add_line(std::string& text, const char* label, const std::string& value) {
  text += fmt::format("  {:<16}{}\n", label, value);
}

void add_time(std::string& text, const char* label, const RunRecord& record,
              const std::string& field, double seconds) {
  std::string value = si_format(seconds, "s");
  if (record.summary.interval80.count(field) > 0) {
    const std::vector<std::string>& notes = record.context.notes;
    const bool is_changed = std::count(notes.begin(), notes.end(), kChangedHardware) > 0;
    const char* meaning = is_changed || !record.context.differs.empty()
                              ? "widened interval"
                              : "80 % of measurements within";
    value += fmt::format("   ({} {})", meaning, interval_cell(record.summary, field));
  }
  add_line(text, label, value);
}

std::string percentiles_line(const Percentiles& values) {
  return fmt::format("p50 {}, p90 {}, p99 {}", si_format(values.p50, "s"),
                     si_format(values.p90, "s"), si_format(values.p99, "s"));
}

std::string padding_line(const PaddingRecord& padding) {
  std::vector<std::string> buckets;
  for (const auto& [length, sizes] : padding.buckets) {
    std::vector<std::string> words;
    for (const std::int64_t size : sizes) words.push_back(std::to_string(size));
    buckets.push_back(length + " " + join(words, ", "));
  }
  return fmt::format(
      "{} x: a call in buckets ({}) takes {}, with each length as it is {}; {} of "
      "what is computed is padding",
      plain_format(padding.overhead, 4), join(buckets, "; "),
      si_format(padding.buckets_call_s, "s"), si_format(padding.dynamic_call_s, "s"),
      percent_format(padding.padding_share));
}

void add_distribution(std::string& text, const DistributionRecord& distribution) {
  add_line(text, "", percentiles_line(distribution.latency_s) + " (above: the expected value)");
  for (const PaddingRecord& padding : distribution.padding)
    add_line(text, "padding", padding_line(padding));
}

void add_training(std::string& text, const TrainingRecord& training, const RunSummary& summary) {
  const double flops = training.forward_flops + training.backward_flops + training.update_flops;
  add_line(text, "training",
           fmt::format(
               "{} parameters, {}; forward {} ({}), backward {}, update {}, {} on average",
               plain_format(training.parameters, 4), training.optimizer,
               si_format(training.forward_flops, "FLOP"), si_format(training.forward_s, "s"),
               si_format(training.backward_flops, "FLOP"), si_format(training.update_flops, "FLOP"),
               si_format(flops / summary.call_s, "FLOP/s")));
  std::string memory = "saved activations " + memory_format(training.saved_activations_bytes) +
                       ", gradients " + memory_format(training.gradients_bytes) +
                       ", optimiser state " + memory_format(training.optimizer_state_bytes);
  if (training.all_reduce_bytes > 0)
    memory += ", summed over the copies " + memory_format(training.all_reduce_bytes);
  add_line(text, "", "per copy: " + memory);
}

// Parts of a network with control flow, by what they add to a call.
std::string parts_text(const DistributionRecord& distribution) {
  if (distribution.parts.empty()) return "";
  Table table;
  table.columns = {{"part"},
                   {"runs per call", Align::kRight},
                   {"time of a run", Align::kRight},
                   {"expected", Align::kRight}};
  for (const PartRecord& part : distribution.parts) {
    table.rows.push_back({part.name, plain_format(part.runs, 4), si_format(part.call_s, "s"),
                          si_format(part.runs * part.call_s, "s")});
  }
  return "\nParts of the network, each a program of its own\n\n" + render_text(table);
}

std::string costs_line(const RunSummary& summary) {
  std::string text = cost_cell(summary.cost_usd_per_million) + " USD per million " +
                     counted_thing(summary.throughput_unit) + " on demand";
  for (const auto& [option, usd] : summary.costs_usd_per_million) {
    if (option != kOnDemand) text += ", " + plain_format(usd) + " " + price_words(option);
  }
  return text;
}

std::string memory_line(const RunSummary& summary) {
  std::string text = memory_format(summary.memory_used_bytes) + " of " +
                     memory_format(summary.memory_capacity_bytes) + " per device";
  if (summary.memory_capacity_bytes > 0) {
    text += ", " + percent_format(summary.memory_used_bytes / summary.memory_capacity_bytes);
  }
  return text;
}

std::string memory_by_use_line(const MemoryRecord& memory) {
  std::vector<std::string> parts;
  const auto add = [&parts](const char* use, double bytes) {
    if (bytes > 0) parts.push_back(std::string(use) + " " + memory_format(bytes));
  };
  add("weights", memory.weights_bytes);
  add("KV cache", memory.kv_cache_bytes);
  add("activations", memory.activations_bytes);
  add("inputs and outputs", memory.inputs_outputs_bytes);
  add("runtime", memory.runtime_bytes);
  add("gradients and optimiser", memory.training_bytes);
  return join(parts, ", ");
}

// From many lengths, some in equal distances, the first and the last among them.
Table step_table(const std::vector<GenerationRecord>& steps) {
  Table table;
  table.columns = {
      {"KV cache", Align::kRight}, {"tokens", Align::kRight}, {"per token", Align::kRight}};
  const std::size_t shown = std::min(steps.size(), kMaxSteps);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t last = shown > 1 ? shown - 1 : 1;
    const GenerationRecord& step = steps[i * (steps.size() - 1) / last];
    table.rows.push_back(
        {std::to_string(step.kv_len), std::to_string(step.tokens), si_format(step.step_s, "s")});
  }
  return table;
}

std::string generation_text(const std::vector<GenerationRecord>& steps) {
  if (steps.empty()) return "";
  const std::string some =
      steps.size() > kMaxSteps ? fmt::format(" ({} of {} lengths)", kMaxSteps, steps.size()) : "";
  return "\nDecode steps by the positions of the KV cache that they read" + some + "\n\n" +
         render_text(step_table(steps));
}

std::string provenance_line(const RunContext& context) {
  std::string text = "foretell " + context.version;
  if (!context.factors.empty()) text += ", factors: " + context.factors;
  text += ", assumed values: " + std::to_string(context.assumed_values);
  return text;
}

// With its band, and for joules how much of them rests on what was measured on the device.
void add_energy(std::string& text, const SummaryMetric& metric, const RunSummary& summary) {
  const std::optional<double> value = value_of(metric, summary);
  if (!value) return;
  std::string line = quantity_text(*value, metric.unit);
  if (summary.interval80.count(metric.field) > 0) {
    line += fmt::format("   ({})", interval_cell(summary, metric.field, metric.unit));
  }
  if (std::string_view(metric.unit) == "J" && summary.calibrated_energy) {
    line += *summary.calibrated_energy > 0 ? fmt::format(", {} by constants measured on the device",
                                                         percent_format(*summary.calibrated_energy))
                                           : ", not calibrated";
  }
  add_line(text, metric.title, line);
}

// A metric with what belongs to it; some have lines of their own form.
void add_metric(std::string& text, const SummaryMetric& metric, const RunRecord& record) {
  const RunSummary& summary = record.summary;
  const std::string_view field = metric.field;
  if (field == "cost_usd_per_million") {
    add_line(text, "cost",
             summary.cost_usd_per_million ? costs_line(summary) : "no price is known");
    return;
  }
  if (field == "memory_capacity_bytes") return;  // said with what is used
  if (field == "memory_used_bytes") {
    add_line(text, "memory", memory_line(summary));
    if (summary.memory) add_line(text, "", memory_by_use_line(*summary.memory));
    return;
  }
  if (field == "throughput") {
    add_line(text, metric.title,
             plain_format(summary.throughput, 4) + " " + summary.throughput_unit);
    return;
  }
  if (std::string_view(metric.unit) == "J" || std::string_view(metric.unit) == "W") {
    return add_energy(text, metric, summary);
  }
  // Facts of the device are for tables and `show --area`.
  if (!metric.is_always_written && metric.shown == SummaryMetric::kNowhere) return;
  const std::optional<double> value = value_of(metric, summary);
  if (value && field != "call_s" && std::string_view(metric.unit) == "s") {
    add_time(text, metric.title, record, metric.field, *value);
  } else if (value && std::string_view(metric.unit) == "USD") {
    add_line(text, metric.title,
             plain_format(*value) + " USD per million " + counted_thing(summary.throughput_unit));
  } else if (value) {
    add_line(text, metric.title, metric_text(metric, *value));
  }
  if (field == "latency_s" && summary.distribution) add_distribution(text, *summary.distribution);
  if (field == "ttft_s" && summary.distribution) {
    for (const auto& [name, values] : summary.distribution->others)
      add_line(text, "", percentiles_line(values));
  }
}

}  // namespace

std::string run_text(const RunRecord& record) {
  const RunContext& context = record.context;
  const RunSummary& summary = record.summary;
  std::string text = fmt::format("{} on {}, {}\n", context.workload, context.system, context.dtype);
  const std::string scenario = scenario_text(context.scenario);
  if (!scenario.empty()) text += scenario + "\n";
  for (const std::string& override_text : context.set) text += "with " + override_text + "\n";
  text += "\n";
  for (const SummaryMetric& metric : summary_metrics()) add_metric(text, metric, record);
  if (summary.training) add_training(text, *summary.training, summary);
  add_line(text, "bottleneck", summary.bottleneck);
  text += generation_text(record.generation);
  if (summary.distribution) text += parts_text(*summary.distribution);
  text += "\n" + provenance_line(context) + "\n";
  for (const std::string& note : folded_notes(context.notes)) text += "note: " + note + "\n";
  return text;
}

}  // namespace foretell

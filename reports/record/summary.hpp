// What came out of a prediction, and the one list of its numbers.
//
// JSON, CSV, stores, differences, studies, claims, texts and the page walk the list. A new metric
// is a member and a row here, and the place that fills the member.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reports/record/distribution_record.hpp"

namespace foretell {

// The purchase option that cost_usd_per_million stands for.
inline constexpr const char* kOnDemand = "on_demand";

struct Interval {
  double low = 0;
  double high = 0;
};

// Memory of a device by what it holds.
struct MemoryRecord {
  double weights_bytes = 0;
  double kv_cache_bytes = 0;
  double activations_bytes = 0;
  double inputs_outputs_bytes = 0;
  double runtime_bytes = 0;   // what the runtime keeps for itself
  double training_bytes = 0;  // gradients and the state of the optimiser
};

// One step of training: forward, backward, sum of the gradients over the copies, update.
struct TrainingRecord {
  std::string optimizer;
  double parameters = 0;
  double forward_flops = 0;  // per copy
  double backward_flops = 0;
  double update_flops = 0;
  double all_reduce_bytes = 0;         // gradients, per copy
  double saved_activations_bytes = 0;  // kept from the forward to the backward pass, per copy
  double gradients_bytes = 0;
  double optimizer_state_bytes = 0;  // with the FP32 copy of narrower weights
  double forward_s = 0;              // until the last operator of the forward pass ends
};

struct RunSummary {
  double latency_s = 0;          // what a client sees for one request, queueing included
  double throughput = 0;         // of the whole system
  std::string throughput_unit;   // "inferences/s"
  double call_s = 0;             // one core group, one batched call
  std::optional<double> ttft_s;  // prefill until the first token
  std::optional<double> tpot_s;  // per output token
  std::map<std::string, Interval> interval80;  // by field name: "latency_s", "call_s", …
  std::optional<double> cost_usd_per_million;  // per million units of throughput, on demand
  // The same by purchase option: "on_demand", "reserved_1y", "reserved_3y".
  std::map<std::string, double> costs_usd_per_million;
  double memory_used_bytes = 0;  // per device, like all of memory
  double memory_capacity_bytes = 0;
  std::optional<MemoryRecord> memory;  // by use; sums up to memory_used_bytes
  // Of the arithmetic that the part could do in a call; of one forward pass or training step.
  std::optional<double> flops_utilisation = {};
  std::string bottleneck;
  // Where calls differ; the times above are expected values then.
  std::optional<DistributionRecord> distribution = {};
  std::optional<TrainingRecord> training = {};
};

// A number of every result.
struct SummaryMetric {
  using Member = std::variant<double RunSummary::*, std::optional<double> RunSummary::*>;

  // Where people see it beside the text of one run.
  enum Shown : unsigned { kNowhere = 0, kCompared = 1, kCharted = 2 };

  Member member;
  const char* field;  // of records, tables and tolerances: "latency_s"
  const char* name;   // of studies and targets: "latency"
  const char* title;  // of columns and lines: "first token"
  const char* unit;   // "s", "B", "USD", "USD/h"; "": a number
  bool maximise;      // more is better
  unsigned shown;
  const char* interval;  // the field whose 80 % interval it shares; "": none
  const char* help;
  // Records of all versions have it, with null where it does not apply; otherwise it is left out.
  bool is_always_written = false;
};

// In the order of records.
inline std::vector<SummaryMetric> summary_metric_rows() {
  using S = RunSummary;
  using M = SummaryMetric;
  constexpr unsigned kBoth = M::kCompared | M::kCharted;
  return {
      {&S::latency_s, "latency_s", "latency", "latency", "s", false, kBoth, "latency_s",
       "what a client sees for one request", true},
      {&S::throughput, "throughput", "throughput", "throughput", "", true, kBoth, "throughput",
       "of the whole system", true},
      {&S::call_s, "call_s", "call", "call", "s", false, M::kNowhere, "call_s",
       "time of one batched call", true},
      {&S::ttft_s, "ttft_s", "ttft", "first token", "s", false, kBoth, "ttft_s",
       "time to the first token", true},
      {&S::tpot_s, "tpot_s", "tpot", "per token", "s", false, kBoth, "tpot_s",
       "time per output token", true},
      {&S::cost_usd_per_million, "cost_usd_per_million", "usd_per_million", "USD per million",
       "USD", false, kBoth, "throughput", "cost of a million units of throughput, on demand", true},
      {&S::memory_used_bytes, "memory_used_bytes", "memory_used", "memory used", "B", false,
       M::kCharted, "", "memory needed on a device", true},
      {&S::memory_capacity_bytes, "memory_capacity_bytes", "memory_capacity", "memory", "B", true,
       M::kNowhere, "", "memory of a device", true},
      {&S::flops_utilisation, "flops_utilisation", "flops_utilisation", "FLOP share", "", true,
       M::kCharted, "", "FLOP/s of a call over the peak of its type, 0 to 1"},
  };
}

const std::vector<SummaryMetric>& summary_metrics();
// By field or name; null for an unknown one.
const SummaryMetric* find_metric(std::string_view name);

std::optional<double> value_of(const SummaryMetric& metric, const RunSummary& summary);
void set_value(const SummaryMetric& metric, RunSummary& summary, double value);
// Shortest text with every digit; "" where it does not apply.
std::string cell_of(const SummaryMetric& metric, const RunSummary& summary);

// Every metric is 1: for what needs names and units alone.
RunSummary example_summary();

}  // namespace foretell

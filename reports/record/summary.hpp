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
#include "reports/record/served_times.hpp"

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

// What a part of the work costs in energy: "dram", "matrix 16 bit", "active idle", …
struct EnergyPartRecord {
  std::string kind;
  double joules = 0;
  bool is_calibrated = false;  // its constant was measured on this very device
};

// Energy of one call of all ranks of a copy, with its share of the idle power of the devices in
// use.
struct EnergyRecord {
  double devices = 1;           // in use
  double limit_w = 0;           // of a board; 0: none is published
  double clock = 0;             // lowest that operators ran at, as a share of the full one
  double calibrated_share = 0;  // of the joules
  Interval interval80;          // measured / predicted
  std::vector<EnergyPartRecord> parts;
  std::map<std::string, double> joules_by_operator;  // by kind, without idle power
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
  // Share of the arithmetic that the part could do in a call; of one forward pass or training step.
  std::optional<double> flops_utilisation = {};
  // For a service under a load; the times above are means over its requests then.
  std::optional<double> ttft_p99_s = {};
  std::optional<double> tpot_p99_s = {};
  std::optional<double> e2e_p99_s = {};
  std::optional<double> requests_per_s = {};
  std::optional<double> goodput_per_s = {};       // answers per second that keep every promise
  std::optional<double> mean_batch = {};          // sequences per decode step
  std::optional<double> joules_per_token = {};    // boards in use, over everything generated
  std::optional<double> joules_per_request = {};  // … per sample of a batch
  std::optional<double> watts = {};               // boards in use, on average
  std::optional<double> wall_watts = {};          // of the whole system
  std::optional<double> energy_usd_per_million = {};
  std::optional<double> usd_per_million_with_energy = {};
  std::optional<double> calibrated_energy = {};  // share of the joules
  std::optional<double> area_mm2 = {};           // of the dies of a device
  std::optional<double> cost_to_make_usd = {};   // of a device: dies, memory, package
  std::string bottleneck;
  // Where calls differ; the times above are expected values then.
  std::optional<DistributionRecord> distribution = {};
  std::optional<TrainingRecord> training = {};
  std::optional<EnergyRecord> energy = {};
  std::optional<ServedTimes> served = {};  // of a service under a load
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
      {&S::ttft_p99_s, "ttft_p99_s", "ttft_p99", "first token 99 %", "s", false, kBoth,
       "ttft_p99_s",
       "time to the first token that 99 % of the requests of a service do not exceed"},
      {&S::tpot_p99_s, "tpot_p99_s", "tpot_p99", "per token 99 %", "s", false, kBoth, "tpot_p99_s",
       "the same of the time per output token"},
      {&S::e2e_p99_s, "e2e_p99_s", "e2e_p99", "answer 99 %", "s", false, M::kCharted, "",
       "the same of a whole answer"},
      {&S::requests_per_s, "requests_per_s", "requests_per_s", "requests/s", "", true, M::kCharted,
       "", "answers per second of a service"},
      {&S::goodput_per_s, "goodput_per_s", "goodput", "goodput/s", "", true, kBoth, "",
       "answers per second of a service that keep every promise of slo"},
      {&S::mean_batch, "mean_batch", "mean_batch", "mean batch", "", true, M::kNowhere, "",
       "sequences per decode step of a service"},
      {&S::joules_per_token, "joules_per_token", "joules_per_token", "token energy", "J", false,
       kBoth, "joules_per_token", "of the boards in use, over the generated tokens"},
      {&S::joules_per_request, "joules_per_request", "joules_per_request", "sample energy", "J",
       false, M::kCharted, "joules_per_request", "of the boards in use, per sample"},
      {&S::watts, "watts", "watts", "board power", "W", false, kBoth, "watts",
       "mean power of the boards in use"},
      {&S::wall_watts, "wall_watts", "wall_watts", "wall power", "W", false, M::kCharted,
       "wall_watts", "of the whole system with host, fans and losses of its supplies"},
      {&S::energy_usd_per_million, "energy_usd_per_million", "energy_usd_per_million",
       "energy cost", "USD", false, kBoth, "",
       "energy at the wall for a million units of throughput, at --usd-per-kwh and --pue"},
      {&S::usd_per_million_with_energy, "usd_per_million_with_energy",
       "usd_per_million_with_energy", "with energy", "USD", false, M::kCharted, "",
       "price on demand and energy of a million units of throughput"},
      {&S::calibrated_energy, "calibrated_energy", "calibrated_energy", "calibrated energy", "",
       true, M::kNowhere, "", "share of the joules that rests on constants measured on the device"},
      {&S::area_mm2, "area_mm2", "area_mm2", "area of dies", "mm2", false, M::kNowhere, "",
       "of the dies of a device; of NeuronCores that of the parts they state, not calibrated"},
      {&S::cost_to_make_usd, "cost_to_make_usd", "cost_to_make_usd", "cost to make", "USD", false,
       M::kNowhere, "", "of a device: dies, memory and package; not its price"},
  };
}

const std::vector<SummaryMetric>& summary_metrics();
// By field or name; null for an unknown one.
const SummaryMetric* find_metric(std::string_view name);

std::optional<double> value_of(const SummaryMetric& metric, const RunSummary& summary);
// Shortest text with every digit; "" where it does not apply.
std::string cell_of(const SummaryMetric& metric, const RunSummary& summary);

// The column of an end of an interval, "lo" or "hi": units stay last, "latency_lo_s", but that of
// rates does not, "requests_per_s_lo".
std::string interval_column(std::string_view column, std::string_view end);
// Does the metric have an interval of its own, and not that of another? Such have both columns.
bool has_interval(const SummaryMetric& metric);
// The cell of an end; "" where it does not apply.
std::string interval_end(const SummaryMetric& metric, const RunSummary& summary,
                         double Interval::*end);

// Every metric is 1: for what needs names and units alone.
RunSummary example_summary();

}  // namespace foretell

// One prediction, with everything needed to repeat it: the schema "foretell.run/1".
//
// Units are in the field names (_s seconds, _bytes, _usd); shares are 0…1. Optional members that
// are empty mean "does not apply" and are written as null (numbers) or left out (scenario).
// Records hold no wall-clock time and no host name: the same input gives the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/distribution_record.hpp"

namespace foretell {

inline constexpr std::string_view kRunSchema = "foretell.run/1";

// The purchase option that cost_usd_per_million stands for.
inline constexpr const char* kOnDemand = "on_demand";

// What was run; 0 or "" means "not stated".
struct Scenario {
  std::int64_t batch = 0;
  std::int64_t seq_len = 0;
  std::int64_t input_len = 0;
  std::int64_t output_len = 0;
  std::int64_t context = 0;  // longest context that was compiled for
  std::int64_t image_size = 0;
  std::string kv;        // "exact": decode steps read the cache up to their own position
  std::string kv_dtype;  // of the KV cache, where it is not that of the precision policy
  std::string sampling;  // "host": logits go to the host, which chooses the next token
  int tp = 0;
  bool sequence_parallel = false;  // in prefill, norms and residuals work on shares of the tokens
  int pp = 0;
  int dp = 0;
  int cores = 0;
  double in_flight = 0;
  std::string sdk;
  std::string l2;      // of GPUs: "rotate:5": so many copies of the network are called in turn
  std::string launch;  // of GPUs: "stream": kernels are launched one by one
  std::string clock;   // of GPUs: "sustained": under the power limit
  // Lengths that vary from call to call, by option: "seq": "uniform:16..512". The number is 0 then.
  std::map<std::string, std::string> distributions = {};
  std::string shapes = {};                             // how: "dynamic", "buckets:64,128"
  std::map<std::string, std::string> branches = {};    // probabilities by name
  std::map<std::string, std::string> trips = {};       // of loops, by name
  std::map<std::string, std::string> dimensions = {};  // sizes that a file leaves open, by name
  std::string phase = {};                              // "train-step"
  std::string optimizer = {};                          // of a training step
  bool exact = false;  // nothing that is equal was replayed instead of simulated
};

struct RunContext {
  std::string version;
  std::string commit;
  std::string system;
  std::string workload;
  std::string workload_file;  // as it was named; "" for one of the library
  std::string dtype;
  Scenario scenario;
  std::vector<std::string> set;     // overrides, as typed: "device.hbm.bandwidth=1 TB/s"
  std::string factors;              // "none", or name@hash of the fitted factors
  std::int64_t assumed_values = 0;  // how many values of kind `assumed` the prediction rests on
  std::uint64_t seed = 0;
  std::vector<std::string> notes;  // defaults that were taken, limits that apply
};

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
  std::string bottleneck;
  // Where calls differ; the times above are expected values then.
  std::optional<DistributionRecord> distribution = {};
  std::optional<TrainingRecord> training = {};
};

// Decode steps of a generation that are compiled for one length of the KV cache.
struct GenerationRecord {
  std::int64_t kv_len = 0;  // positions that the step reads
  std::int64_t tokens = 0;  // output tokens of the run that are made by such steps
  double step_s = 0;
};

struct OperatorRecord {
  std::string name;
  std::string op;
  std::string engine;
  double start_s = 0;
  double duration_s = 0;
  double flops = 0;
  double bytes = 0;
  std::string critical;
  // Of operators that run as thread blocks; left out where it does not apply.
  std::string kernel = {};  // the largest one
  double waves = 0;         // its thread blocks per place that the chip has for them
  double occupancy = 0;     // share of the places that is taken while it runs
};

struct ResourceRecord {
  std::string path;
  double busy = 0;
  double stalled = 0;
  double bytes = 0;
};

// A rate that no operator exceeds.
struct PeakRecord {
  std::string name;  // "tensor engine, bf16"
  double per_s = 0;  // FLOP/s, or bytes/s of a bandwidth
  std::string source;
};

// What runs the operators of the record; a roofline is drawn from it.
struct MachineRecord {
  std::string device;                  // "AWS Inferentia2"
  int devices = 1;                     // of the system
  std::string part;                    // that the peaks are of: "NeuronCore", "GPU"
  int parts = 1;                       // of a device
  std::vector<PeakRecord> compute;     // FLOP/s
  std::vector<PeakRecord> bandwidths;  // of the way to device memory
};

// A parameter that the prediction rests on and that no publication states.
struct ValueRecord {
  std::string path;   // "device.hbm.latency"
  std::string value;  // "150 ns"
  std::string kind;   // "assumed", "fitted", "override"
  std::string source;
  std::string why;
};

struct RunRecord {
  RunContext context;
  std::optional<MachineRecord> machine;
  std::vector<ValueRecord> values;  // assumed, fitted and overridden ones
  RunSummary summary;
  std::vector<GenerationRecord> generation;  // by length; empty without generation
  std::vector<OperatorRecord> operators;
  std::vector<ResourceRecord> resources;
};

// Throws InternalError that names the first field that is NaN, infinite or negative, or a share
// outside 0…1. Whatever writes a record calls it first.
void check_record(const RunRecord& record);

// Compact JSON on one line, keys in schema order, numbers in their shortest form that reads back
// as the same double.
std::string to_json(const RunRecord& record);

// Reads one record; `where` ("runs.jsonl:12") starts every message. UserError when the text is no
// JSON, has another schema, lacks a field or has one of the wrong type. Fields that this version
// does not know are ignored.
RunRecord run_record_from_json(std::string_view text, std::string_view where);

}  // namespace foretell

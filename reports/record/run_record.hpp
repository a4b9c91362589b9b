// One prediction, with everything needed to repeat it: the schema "foretell.run/1".
//
// Units are in the field names (_s seconds, _bytes, _usd); shares are 0…1. Optional members that
// are empty mean "does not apply" and are written as null (numbers) or left out (scenario).
// Records hold no wall-clock time and no host name: the same input gives the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/scenario.hpp"
#include "reports/record/summary.hpp"

namespace foretell {

inline constexpr std::string_view kRunSchema = "foretell.run/1";

// What every prediction is of and rests on, of a call as of a service.
struct PredictionOrigin {
  std::string version;
  std::string commit;
  std::string system;
  std::string workload;
  std::string dtype;
  std::vector<std::string> set;  // overrides, as typed: "device.hbm.bandwidth=1 TB/s"
  std::string likeness;          // which device one of the user's is taken for; also among `notes`
  std::string factors;           // "none", or name@hash of the fitted factors
  std::int64_t assumed_values = 0;  // how many values of kind `assumed` the prediction rests on
  std::uint64_t seed = 0;
  std::vector<std::string> notes;  // defaults that were taken, limits that apply
};

struct RunContext : PredictionOrigin {
  std::string workload_file;  // as it was named; "" for one of the library
  Scenario scenario;
  // Parameters in which a machine of the user's differs from the measured one that it is taken for.
  std::vector<std::string> differs;
  // Of them, what was taken for a value that the request does not state.
  std::vector<std::string> unstated;
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
  // For operators that run as thread blocks; left out where it does not apply.
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

// Of those that the user gave another value.
std::set<std::string> overridden_paths(const std::vector<ValueRecord>& values);

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

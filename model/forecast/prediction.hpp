// The one door from the commands to the simulator: a request in, a record out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// What to predict. 0 or "" means "not stated"; the defaults are resolved by predict() and written
// into the record.
struct Request {
  std::string system;
  std::string workload;  // a name, or a file: config.json, .yaml
  std::string dtype;     // a data type or a precision policy
  std::int64_t batch = 1;
  std::int64_t seq_len = 0;     // one forward pass
  std::int64_t input_len = 0;   // prefill …
  std::int64_t output_len = 0;  // … and decode
  std::int64_t context = 0;     // longest context that the graphs are compiled for
  std::int64_t image_size = 0;  // height and width in pixels
  std::map<std::string, std::int64_t> dimensions = {};  // of an ONNX file that leaves them open
  // Lengths that vary from call to call, as they were given ("uniform:16..512"): by option ("seq"),
  // or by "dim NAME" of an ONNX file. The field itself holds the longest.
  std::map<std::string, std::string> distributions = {};
  std::string shapes;  // how: "dynamic", "buckets", "buckets:64,128"
  // Of control flow, by the name of the operator: the probability of a branch, the trips of a loop.
  std::map<std::string, std::string> branches = {};
  std::map<std::string, std::string> trips = {};
  std::string part;                // of a network with control flow, predicted alone; "": all
  std::string phase;               // "forward", "train-step"; not stated: what the lengths say
  std::string optimizer;           // of a training step: "sgd", "momentum", "adam"
  std::string kv;                  // how far decode steps read the KV cache: "bucket", "exact"
  std::string kv_dtype;            // type of the KV cache; not stated: that of the precision policy
  std::string sampling;            // where the next token is chosen: "device", "host"
  int tp = 0;                      // cores that share one copy of the model
  bool sequence_parallel = false;  // they share the tokens of norms and residuals, too; prefill
  int pp = 0;                      // pipeline stages of one copy
  int ep = 0;                      // groups of GPUs of a copy that each hold some of the experts
  int moe_tp = 0;        // GPUs that share the width of an expert; not stated: the rest of a copy
  int attention_dp = 0;  // groups of --tp GPUs of a copy that each have some of the sequences
  std::string experts;   // how tokens choose experts (workloads/ir/routing.hpp)
  int dp = 0;            // copies side by side; not stated: as many as fit the cores
  int cores = 0;         // cores used; not stated: all of the system
  double in_flight = 0;  // batched requests in flight; not stated: one per copy
  std::string l2;        // of GPUs: "warm", "rotate:5"
  std::string launch;    // of GPUs: "graph", "stream"
  std::string clock;     // of GPUs: "burst", "sustained"
  std::string sdk;       // release of the compiler and runtime, "2.21.0"
  std::vector<std::string> set;  // "device.hbm.bandwidth=1 TB/s"
  std::string factors;           // "": the fitted ones of the device; "none"; or a file
  bool exact = false;            // no replay cache, no interpolation
  std::string trace_file;        // timeline; "": none
  std::uint64_t seed = 0;
};

// Runs the simulation in this process. Deterministic: equal requests give equal records.
// UserError for a request that cannot be answered; the message says what to type instead.
RunRecord predict(const Request& request);

using Predictor = std::function<RunRecord(const Request&)>;

// The same, with the predictions that a request of varying lengths consists of spread over `jobs`
// processes. `progress` gets the share that is done.
RunRecord predict_in_parallel(const Predictor& predict, const Request& request, int jobs,
                              const std::function<void(double)>& progress);

// UserError for a value outside its range or a combination that contradicts itself, found
// without looking at the hardware or the network.
void check_request(const Request& request);

}  // namespace foretell

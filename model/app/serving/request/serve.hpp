// `foretell serve` without the terminal: a request over time in, a record out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "model/app/request/prediction.hpp"
#include "reports/record/serve_record.hpp"
#include "workloads/traffic/load.hpp"

namespace foretell {

// What to serve. "" and 0 mean "not stated". Texts are as typed; serve() checks them.
struct ServeRequest {
  Request machine;  // system, workload, dtype, kv_dtype, tp, set, factors, exact, seed
  // Load: exactly one of the first four.
  std::int64_t concurrency = 0;
  std::string start = "together";  // of the clients: together, staggered
  double rate = 0;                 // per second
  std::string trace;
  std::int64_t trace_every = 1;  // of its requests: the first of every this many
  bool measured = false;         // compare with the times that the trace holds
  std::int64_t offline = 0;
  bool one_batch = false;        // offline: a published generation of a batch; its interval counts
  std::int64_t full_places = 0;  // > 0: watts and joules of the time in which this many are served
  std::string arrivals = "poisson";
  std::string input_len;  // a number or a distribution
  std::string output_len;
  std::int64_t requests = 0;
  std::int64_t warm_up = 0;
  // Engine.
  std::string engine;  // "": the default of hw/engines
  std::int64_t max_batch = 0;
  std::int64_t max_tokens = 0;
  double kv_fraction = 0;
  std::string chunk;
  double prefix_share = 0;
  std::string speculate;
  // Workers.
  int dp = 0;            // replicas; not stated: one
  int attention_dp = 0;  // ranks of a worker; not stated: one
  std::string router = "round-robin";
  std::string prefill;  // separate workers: both or none
  std::string decode;
  std::string decode_system;  // where they are on a machine of their own
  std::string link_rate;      // between them, as in "50 GB/s"; not stated: the link of the system
  std::string slo;
  std::size_t slices = 0;  // steps kept for --trace-out
};

// A record, and the timeline of the first steps.
struct ServeOutcome {
  ServeRecord record;
  std::string trace_json;  // Chrome trace-event format; "" when no slices were asked for
};

// The load of a request; reads the trace. UserErrors name the options.
Load load_of(const ServeRequest& request);

class MachinePool;

// `progress` gets the share of the answers that are there and says whether to go on.
ServeOutcome serve(MachinePool& pool, const ServeRequest& request,
                   const std::function<bool(double)>& progress = {});

}  // namespace foretell

// The one door from the commands to the simulator: a request in, a record out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// What to predict: a scenario on a system. 0 or "" means "not stated"; the defaults are resolved by
// predict() and written into the record.
struct Request : Scenario {
  Request() { batch = 1; }

  std::string system;
  std::string workload;          // a name, or a file: config.json, .yaml
  std::string dtype;             // a data type or a precision policy
  std::string part;              // of a network with control flow, predicted alone; "": all
  std::vector<std::string> set;  // "device.hbm.bandwidth=1 TB/s"
  std::string factors;           // "": the fitted ones of the device; "none"; or a file
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
// Of these, the price of energy and the PUE.
void check_energy_price(const Request& request);

}  // namespace foretell

// calib/factors/<device>.yaml: the few fitted numbers of a device.
//
//   device: inferentia2
//   status: provisional            # or: fitted
//   fitted_on: which measurements
//   split: how the data were divided
//   factors:
//     dma_rate_fraction: {value: 0.92, interval80: [0.88, 0.96], fitted_on: …}
//     sdk_engine_time:
//       "2.9": {value: 1.15, …}
//
// A fitted file states an 80 % interval for every factor; a provisional one may not know it. One
// factor may say otherwise for itself, as in `{value: 1.27 us, status: provisional}`.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "calib/fitted/shared/fitted_values.hpp"

namespace foretell {

struct FactorsFile {
  NeuronFactors factors;
  std::string id;  // "inferentia2@<content hash>"
  std::string device;
  std::string status;  // "provisional", "fitted"
  std::string fitted_on;
  std::string split;
  std::map<std::string, FittedValue>
      provenance;  // by name: "sdk_engine_time.2.9"; all texts filled in
};

// All errors of the file in one UserError.
FactorsFile load_factors(const std::filesystem::path& path, const std::string& shown_as = "");
FactorsFile parse_factors(const std::string& text, const std::string& shown_as);

}  // namespace foretell

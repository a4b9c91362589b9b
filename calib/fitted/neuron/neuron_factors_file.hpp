// calib/factors/<device>.yaml: the few fitted numbers of a device of NeuronCores (factor_file.hpp).
// A factor without an 80 % interval is provisional; `why` says what one rests on where that is not
// what the table was fitted on.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "calib/fitted/neuron/neuron_factors.hpp"

namespace foretell {

// What a file says of one number beside its value.
struct FittedValue {
  std::string fitted_on;
  std::string interval80;  // "0.88 .. 0.96", "" when unknown
  bool is_identified = true;
};

struct FactorsFile {
  NeuronFactors factors;
  std::string id;  // "inferentia2@<content hash>"
  std::string device;
  std::string status;  // "fitted"; "provisional" where no interval is known
  std::string fitted_on;
  std::string split;
  std::map<std::string, FittedValue> provenance;  // by name: "sdk_engine_time.2.9"
};

// All errors of the file in one UserError.
FactorsFile load_factors(const std::filesystem::path& path, const std::string& shown_as = "");
FactorsFile parse_factors(const std::string& text, const std::string& shown_as);

}  // namespace foretell

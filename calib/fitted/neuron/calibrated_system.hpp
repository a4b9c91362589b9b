// A system of NeuronCores with its fitted factors, and an override of either.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/shared/catalog.hpp"

namespace foretell {

struct LoadOptions {
  std::vector<std::string> set;  // "device.hbm.bandwidth=1.6 TB/s", "factors.clock_derate=1.1"
  // "": the file of the device in the factors folder, or none when it has no file;
  // "none": published facts alone; a folder like calib/factors, whose file of the device counts
  // where it has one; otherwise a file.
  std::string factors;
};

struct CalibratedSystem : LoadedSystem {
  NeuronFactors factors;
  std::string factors_id;      // "inferentia2@<content hash>" or "none"
  std::string factors_status;  // "provisional", "fitted", or "none"
  std::string note;            // of a device of the user's: what it is taken for
};

// As Catalog::load(); a device of the user's that has no factors is taken for the one that it is
// like. UserError also when the file was fitted on another device.
CalibratedSystem load_calibrated(std::string_view system, const LoadOptions& options = {},
                                 const Catalog& catalog = Catalog(),
                                 const std::filesystem::path& folder = factors_folder());

}  // namespace foretell

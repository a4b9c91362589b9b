// The factors file of a device (hw/spec/shared/factors_file.hpp) from a fit.
#pragma once

#include <string>
#include <vector>

#include "calib/fit/fit.hpp"
#include "calib/fitted/neuron/neuron_factors_file.hpp"

namespace foretell {

// A factor that this fit leaves as it is.
struct CarriedFactor {
  std::string name;        // "hop_latency"
  std::string value;       // "1.27 us"
  std::string interval80;  // "[1.2 us, 1.3 us]", "" when unknown
  std::string fitted_on;
  std::string meaning;
};

// Every factor of `device` that no free factor of the plan answers for, in the order in which they
// are declared: from what the device has so far (null: nothing), or neutral. A free factor of
// another device is neutral here.
std::vector<CarriedFactor> carried_factors(const FitPlan& plan, const std::string& device,
                                           const FactorsFile* so_far);

struct FactorsText {
  std::string device;
  std::string fitted_on;  // "163 published rows of Inferentia2 and Trainium1 …"
  std::string split;
  std::vector<std::string> residuals;  // lines for the head of the file
  std::vector<CarriedFactor> carried;
};

// Every factor of the fit that applies to the device and the carried ones, each with its meaning,
// its interval and where it is from; the same text for the same fit.
std::string factors_yaml(const FitResult& result, const FactorsText& text);

}  // namespace foretell

// The factors file of a device (calib/fitted/shared/factor_file.hpp) from a fit.
#pragma once

#include <string>
#include <vector>

#include "calib/fit/fit.hpp"
#include "calib/fitted/neuron/neuron_factors_file.hpp"
#include "calib/fitted/shared/factor_file.hpp"

namespace foretell {

// A factor that this fit leaves as it is.
struct CarriedFactor {
  FactorInterval interval80;
  std::string value;  // "1.27 us"
  std::string fitted_on;
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
  std::vector<std::string> residuals;
  std::vector<CarriedFactor> carried;
};

// Every factor of the fit that applies to the device and the carried ones, each with its interval
// and where it is from; the same text for the same fit.
std::string factors_yaml(const FitResult& result, const FactorsText& text);

}  // namespace foretell

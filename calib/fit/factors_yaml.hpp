// The factors file of a device (hw/spec/factors_file.hpp) from a fit.
#pragma once

#include <string>
#include <vector>

#include "calib/fit/fit.hpp"

namespace foretell {

struct FactorsText {
  std::string device;
  std::string fitted_on;  // "163 published rows of Inferentia2 and Trainium1 …"
  std::string split;
  std::vector<std::string> residuals;  // lines for the head of the file
};

// Every factor of the fit that applies to the device, each with its meaning, its interval and
// whether the rows determine it; the same text for the same fit.
std::string factors_yaml(const FitResult& result, const FactorsText& text);

}  // namespace foretell

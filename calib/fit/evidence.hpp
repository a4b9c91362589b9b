// How sure factors are: a search that believes in where it starts, and the intervals of what some
// search has found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calib/fit/fit.hpp"
#include "calib/fitted/shared/fit_evidence.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct EvidenceOptions {
  int resamples = 200;  // of the bootstrap over families
  std::uint64_t seed = 1;
};

// Predictions of all observations, in their order and unit, with the factors that the fields hold.
using FieldForecast = std::function<std::vector<double>()>;

// Moves the factors `free` from what `fields` hold to where predictions meet the observations best,
// with a weak belief (a factor of 1.65 either way) in where they start: what few rows do not
// determine stays there. Logarithms are searched; a relative error of 5 % is no news. UserError as
// of fit().
void fit_around(FieldList& fields, const std::vector<std::string>& free,
                const std::vector<Observation>& observations, const FieldForecast& forecast,
                const FitOptions& options);

// Intervals and trade-offs of the factors `free`, around what `fields` hold and with the same
// belief in that: what a bootstrap over the configurations of the observations (families of shapes)
// moves them by. The fields hold what they held when it returns.
FitEvidence evidence_around(FieldList& fields, const std::vector<std::string>& free,
                            const std::vector<Observation>& observations,
                            const FieldForecast& forecast, const EvidenceOptions& options);

}  // namespace foretell

// How sure the factors are that some search has found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calib/fit/fit_problem.hpp"
#include "calib/fitted/shared/fit_evidence.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct EvidenceOptions {
  int resamples = 200;  // of the bootstrap over families
  std::uint64_t seed = 1;
};

// Predictions of all observations, in their order and unit, with the factors that the fields hold.
using FieldForecast = std::function<std::vector<double>()>;

// The belief around which the logarithm of a factor is searched: a factor of 1.65 either way.
FreeFactor factor_around(const Field& field);

// Writes values, logarithms in the order of `names`, into their fields.
void assign_logarithms(FieldList& fields, const std::vector<std::string>& names,
                       const std::vector<double>& values);

// Intervals and trade-offs of the factors `free`, around what `fields` hold and with a weak belief
// in that: what a bootstrap over the configurations of the observations (families of shapes) moves
// them by. A relative error of 5 % is no news. The fields hold what they held when it returns.
FitEvidence evidence_around(FieldList& fields, const std::vector<std::string>& free,
                            const std::vector<Observation>& observations,
                            const FieldForecast& forecast, const EvidenceOptions& options);

}  // namespace foretell

// How sure factors are: a search that believes in where it starts, and the intervals of what some
// search has found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calib/fit/fit.hpp"
#include "calib/fitted/shared/factor_file.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct EvidenceOptions {
  int resamples = 200;  // of the bootstrap over families
  std::uint64_t seed = 1;
};

// Predictions of all observations, in their order and unit, with the factors that the fields hold.
using FieldForecast = std::function<std::vector<double>()>;

// What is believed of a factor before the rows are seen.
struct Belief {
  double width = 0.5;   // of its logarithm: within a factor of 1.65, two times out of three
  double reach = 1.5;   // farthest, in powers of e
  double noise = 0.05;  // relative error of a row that is no news
  Loss loss = Loss::kBelief;
};
// Nothing but where the search starts and how far it may go: the width is the unit of its steps.
inline constexpr Belief kNoBelief{1, 3, 0, Loss::kMeanRelative};

// "step and prologue: -0.91" for each of two factors that trade off.
std::vector<std::string> trade_offs_of(const FitResult& result);

// The names of the fields that are above zero.
std::vector<std::string> positive_fields(const FieldList& fields);

// Writes values, logarithms in the order of `names`, into their fields.
void assign_logarithms(FieldList& fields, const std::vector<std::string>& names,
                       const std::vector<double>& values);

// The logarithms of `free` are its factors, believed to be what `fields` hold. The problem refers
// to all that it is given.
FitProblem problem_around(FieldList& fields, const std::vector<std::string>& free,
                          const std::vector<Observation>& observations,
                          const FieldForecast& forecast, const Belief& belief = {});

// Moves the factors `free` from what `fields` hold to where predictions meet the observations best,
// with a weak belief in where they start: what few rows do not determine stays there. Returns the
// loss that is left. UserError as of fit().
double fit_around(FieldList& fields, const std::vector<std::string>& free,
                  const std::vector<Observation>& observations, const FieldForecast& forecast,
                  const FitOptions& options, const Belief& belief = {});

// Intervals and trade-offs of the factors `free`, around what `fields` hold and with the same
// belief in that: what a bootstrap over the configurations of the observations (families of shapes)
// moves them by. The fields hold what they held when it returns.
FitEvidence evidence_around(FieldList& fields, const std::vector<std::string>& free,
                            const std::vector<Observation>& observations,
                            const FieldForecast& forecast, const EvidenceOptions& options);

}  // namespace foretell

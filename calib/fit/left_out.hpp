// What a fit says of a network that it has not seen: its factors again without that network.
//
// The problem is linearised once around the factors of all rows (uncertainty.hpp) and minimised
// again for each group without its rows; the prior stands for what the others do not say. That is
// what a fit to the others finds where the forecast is about linear on the way there.
#pragma once

#include <string>
#include <vector>

#include "calib/fit/fit_problem.hpp"

namespace foretell {

// ln(predicted by factors that were fitted without the observations left out / predicted by those
// of all), for each fold and observation: 0 for those that stay. `left_out`: of each fold, which
// observations, in their order; some have to stay. `at`: the factors of all observations, scaled.
std::vector<std::vector<double>> moved_without(const FitProblem& problem, const Point& at,
                                               const std::vector<std::vector<bool>>& left_out);

// ln(predicted by factors that were fitted without the group of the observation / predicted by
// those of all), one per observation. `groups`: of the observations, in their order. `at`: the
// factors of all observations, scaled. All 0 where there is one group alone: nothing is left to fit
// to. InternalError for a list of another length.
std::vector<double> moved_without_group(const FitProblem& problem, const Point& at,
                                        const std::vector<std::string>& groups);

}  // namespace foretell

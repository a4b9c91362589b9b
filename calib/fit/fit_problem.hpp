// The problem that a fit solves, and how well a point solves it.
//
// In scaled coordinates x_j = (factor_j - prior_j) / width_j the fit minimises
//
//   L(x) = sum_i w_i * (sqrt(1 + (r_i / noise)^2) - 1)  +  1/2 * sum_j x_j^2,
//   r_i  = ln(predicted_i / measured_i).
//
// The first term is the pseudo-Huber loss: squares near zero, absolute values far out, so that a
// row which no model explains does not bend the factors. The second is the weak belief of the plan.
// Weights are by network and configuration: every network weighs the same, inside a network every
// configuration, inside a configuration every row; they sum to the number of configurations, so
// that twenty releases of one configuration count as one piece of evidence.
//
// For rows that are many and all alike (kernels of a table) it minimises their mean relative error
// instead, mean_i |predicted_i / measured_i - 1|, and believes in nothing but the box.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calib/fit/minimise.hpp"
#include "calib/fit/plan.hpp"

namespace foretell {

struct Observation {
  std::string network;
  std::string configuration;  // what stays the same over repetitions: "gpt2 on trn1.2xlarge, b16"
  double measured = 0;        // any unit, that of the forecast
};

// Predictions of all observations, in their order, for values of the factors in the order of the
// problem. Has to be deterministic. May throw; the fit passes it on.
using Forecast = std::function<std::vector<double>(const std::vector<double>& factors)>;

enum class Loss { kBelief, kMeanRelative };

struct FitProblem {
  std::vector<FreeFactor> factors;
  double noise = 0;
  std::vector<Observation> observations;
  Forecast forecast;
  Loss loss = Loss::kBelief;
  std::string left_out;  // rows that are no observations and why, for messages: "8 rows judge"
};

using Point = std::vector<double>;  // scaled coordinates

// UserError: measurements that are not above zero, no factors; with a belief also fewer
// configurations than factors.
void check_problem(const FitProblem& problem);

std::vector<double> weights_of(const std::vector<Observation>& observations);

// How far the factors may go, scaled.
Box box_of(const FitProblem& problem);
std::vector<double> values_at(const FitProblem& problem, const Point& point);

// ln(predicted / measured). InternalError when the forecast has another length or a prediction is
// not above zero.
std::vector<double> log_residuals(const FitProblem& problem, const Point& point);

// The two terms of L.
double data_loss(const std::vector<double>& residuals, const std::vector<double>& weights,
                 double noise);
double belief_loss(const Point& point);

// What stands in its place where nothing is believed.
double mean_relative_error(const std::vector<double>& predicted,
                           const std::vector<Observation>& observations);

}  // namespace foretell

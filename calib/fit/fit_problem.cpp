#include "calib/fit/fit_problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "model/base/errors.hpp"

namespace foretell {

void check_problem(const FitProblem& problem) {
  if (problem.factors.empty()) throw UserError("there is no factor to fit");
  std::set<std::string> configurations;
  for (const Observation& observation : problem.observations) {
    if (!(observation.measured > 0) || !std::isfinite(observation.measured)) {
      throw UserError(fmt::format("{}: a measured time of {} cannot be; it has to be above 0",
                                  observation.configuration, observation.measured));
    }
    configurations.insert(observation.configuration);
  }
  if (problem.loss == Loss::kBelief && configurations.size() < problem.factors.size()) {
    throw UserError(
        fmt::format("{} configurations cannot identify {} factors; {} rows are left to fit on{}; "
                    "give more measurements of the networks to fit on, or fewer factors",
                    configurations.size(), problem.factors.size(), problem.observations.size(),
                    problem.left_out.empty() ? "" : ": " + problem.left_out));
  }
}

std::vector<double> weights_of(const std::vector<Observation>& observations) {
  std::map<std::string, std::set<std::string>> configurations;  // by network
  std::map<std::string, int> rows;                              // by configuration
  std::size_t total = 0;
  for (const Observation& observation : observations) {
    if (configurations[observation.network].insert(observation.configuration).second) ++total;
    ++rows[observation.configuration];
  }
  std::vector<double> weights;
  for (const Observation& observation : observations) {
    const double per_network =
        static_cast<double>(total) / static_cast<double>(configurations.size());
    weights.push_back(per_network /
                      static_cast<double>(configurations[observation.network].size()) /
                      rows[observation.configuration]);
  }
  return weights;
}

Box box_of(const FitProblem& problem) {
  Box box;
  for (const FreeFactor& factor : problem.factors) {
    box.low.push_back((factor.low - factor.prior) / factor.width);
    box.high.push_back((factor.high - factor.prior) / factor.width);
  }
  return box;
}

std::vector<double> values_at(const FitProblem& problem, const Point& point) {
  FORETELL_CHECK(point.size() == problem.factors.size(), "a point of another dimension");
  std::vector<double> values;
  for (std::size_t j = 0; j < point.size(); ++j) {
    const FreeFactor& factor = problem.factors[j];
    // Rounding may not carry a value over the end of its range.
    values.push_back(
        std::fmin(factor.high, std::fmax(factor.low, factor.prior + factor.width * point[j])));
  }
  return values;
}

std::vector<double> log_residuals(const FitProblem& problem, const Point& point) {
  const std::vector<double> predicted = problem.forecast(values_at(problem, point));
  FORETELL_CHECK(predicted.size() == problem.observations.size(),
                 "a forecast of another number of observations");
  std::vector<double> residuals;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    FORETELL_CHECK(predicted[i] > 0 && std::isfinite(predicted[i]),
                   "a forecast that is not above zero");
    residuals.push_back(std::log(predicted[i] / problem.observations[i].measured));
  }
  return residuals;
}

double data_loss(const std::vector<double>& residuals, const std::vector<double>& weights,
                 double noise) {
  double loss = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    loss += weights[i] * (std::hypot(1.0, residuals[i] / noise) - 1);
  }
  return loss;
}

double mean_relative_error(const std::vector<double>& predicted,
                           const std::vector<Observation>& observations) {
  FORETELL_CHECK(predicted.size() == observations.size(),
                 "a forecast of another number of observations");
  double sum = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    sum += std::abs(predicted[i] / observations[i].measured - 1);
  }
  return sum / static_cast<double>(predicted.size());
}

double belief_loss(const Point& point) {
  double loss = 0;
  for (const double x : point) loss += x * x / 2;
  return loss;
}

}  // namespace foretell

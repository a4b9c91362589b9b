// Estimates free factors from measurements, of every kind of device. With a belief in priors: a
// descent over linearisations from several starts, a derivative-free search around the best of
// them, then the uncertainty, then again without the factors about which the rows say too little.
// Without one: a simplex on the mean relative error, whose kinks have no slopes worth following.
// Knows nothing of the simulator: the forecast of the problem does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calib/fit/fit_problem.hpp"

namespace foretell {

struct FitOptions {
  // The prior, and others drawn around it; without a belief again and again from the best so far,
  // with ever longer steps.
  int starts = 4;
  int evaluations = 40;      // of the derivative-free search
  double first_step = 0.15;  // of a simplex, in widths of the priors
  int resamples = 400;       // of the bootstrap, where there is a belief
  std::uint64_t seed = 1;
  std::function<void(double)> progress;  // 0 … 1, the share of the work that is done at most
};

struct FactorEstimate {
  FreeFactor factor;
  double value = 0;  // the prior when not identified
  double low80 =
      0;  // 80 % interval; that of the prior when not identified; without a belief the value
  double high80 = 0;
  bool identified = false;
  double narrowed = 1;  // posterior deviation / prior width; near 1: the rows say nothing
};

struct Correlation {
  std::string first;
  std::string second;
  double value = 0;  // -1 … 1
};

struct FitResult {
  std::vector<FactorEstimate> factors;    // in the order of the problem
  std::vector<Correlation> correlations;  // |r| > kStrongCorrelation, strongest first
  // Per observation, at the values above; none without a belief.
  std::vector<double> log_residuals;
  std::vector<double> losses;  // reached from each start of the first round, sorted
  double loss = 0;
  int forecasts = 0;
};

inline constexpr double kStrongCorrelation = 0.8;
// A factor is identified when the rows leave less than this share of its prior's width.
inline constexpr double kIdentified = 0.5;

// UserError as in check_problem, and what the forecast throws. Deterministic.
FitResult fit(const FitProblem& problem, const FitOptions& options);

}  // namespace foretell

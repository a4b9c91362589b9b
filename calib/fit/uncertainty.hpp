// How sure a fit is, from one linearisation of the forecast around the optimum.
//
// Bootstrap over configurations: configurations are drawn anew within each network, every prior is
// drawn anew from its belief, and the linearised problem is minimised again. The spread of the
// minima is the spread of the posterior: a factor that the rows determine moves with the
// configurations drawn, one that they do not determine moves with its prior.
#pragma once

#include <cstdint>
#include <vector>

#include "calib/fit/fit_problem.hpp"
#include "calib/fit/minimise.hpp"

namespace foretell {

// r(x) ~ residuals + slope * (x - at); slope[i][j] = d r_i / d x_j.
struct Linearisation {
  Point at;
  std::vector<double> residuals;
  std::vector<std::vector<double>> slope;
};

// Step of the fits, in widths of the priors.
inline constexpr double kSlopeStep = 0.15;
// An 80 % interval leaves 10 % on each side.
inline constexpr double kLowTail = 0.1;
inline constexpr double kHighTail = 0.9;

// Differences of `step` in scaled coordinates: wide, so that the small steps of a simulator do not
// count. Central ones take 2 forecasts per factor (and are one-sided at an end of the box), forward
// ones take 1 (backward at the upper end).
enum class Differences { kForward, kCentral };
Linearisation linearise(const FitProblem& problem, const Point& at, double step,
                        Differences differences);

// The minimum of the linearised problem inside `box`, for these weights and with the belief around
// `centre`.
Point minimise_linear(const FitProblem& problem, const Linearisation& line,
                      const std::vector<double>& weights, const Point& centre, const Box& box);

// Minima of `count` resamples. The same seed gives the same draws on every machine.
std::vector<Point> bootstrap(const FitProblem& problem, const Linearisation& line, int count,
                             std::uint64_t seed);

// Quantile and deviation of one coordinate over the samples. q from 0 to 1, between order
// statistics linearly.
double sample_quantile(const std::vector<Point>& samples, std::size_t coordinate, double q);
double sample_deviation(const std::vector<Point>& samples, std::size_t coordinate);
// Pearson's; 0 when a coordinate does not move.
double sample_correlation(const std::vector<Point>& samples, std::size_t a, std::size_t b);

}  // namespace foretell

#include "calib/fit/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "calib/fit/minimise.hpp"
#include "calib/fit/random.hpp"
#include "calib/fit/uncertainty.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Lengths in scaled coordinates: widths of the priors.
constexpr double kFirstReach = 1.5;   // how far a linearisation is believed
constexpr double kShortReach = 0.05;  // below it a search has arrived
constexpr double kGain = 0.01;        // of the loss; less is no progress
constexpr int kMaxRounds = 8;
constexpr double kPolishStep = 0.1;
constexpr double kLongStep = 0.5;       // times the number of the start, without a belief
constexpr double kStartSpread = 1.5;    // starts lie within this many widths of the prior
constexpr double kNormalTail = 1.2816;  // deviations from the middle to the 90 % point

class Fitter {
 public:
  Fitter(const FitProblem& problem, const FitOptions& options)
      : full_(problem), options_(options), weights_(weights_of(problem.observations)) {
    const auto factors = static_cast<int>(problem.factors.size());
    const int rounds = (options.starts + 1) * kMaxRounds / 2;
    expected_ = problem.loss == Loss::kMeanRelative ? options.starts * options.evaluations
                                                    : rounds * factors + 2 * options.evaluations;
  }

  FitResult run() {
    if (full_.loss == Loss::kMeanRelative) return finish_simplex(search_simplex());
    Minimum best = search_from_starts();
    std::vector<Point> samples = sample(best.at);
    // Factors leave one by one, the least certain first: what one of two that trade off against
    // each other cannot say, the other may when it is alone.
    while (const std::optional<std::size_t> weakest = least_certain(samples)) {
      narrowed_[free_[*weakest]] = sample_deviation(samples, *weakest);
      fixed_.insert(free_[*weakest]);
      best.at.erase(best.at.begin() + static_cast<std::ptrdiff_t>(*weakest));
      if (best.at.empty()) break;
      best = descend(reduced(), best.at);
      samples = sample(best.at);
    }
    if (!best.at.empty()) best = polish(reduced(), best);
    return finish(best, samples);
  }

 private:
  // The problem with the factors that are still free; the others stay at their priors.
  FitProblem reduced() {
    free_.clear();
    FitProblem problem;
    problem.noise = full_.noise;
    problem.loss = full_.loss;
    problem.observations = full_.observations;
    for (std::size_t j = 0; j < full_.factors.size(); ++j) {
      if (fixed_.count(j) > 0) continue;
      free_.push_back(j);
      problem.factors.push_back(full_.factors[j]);
    }
    problem.forecast = [this](const std::vector<double>& values) {
      std::vector<double> all;
      for (const FreeFactor& factor : full_.factors) all.push_back(factor.prior);
      for (std::size_t i = 0; i < free_.size(); ++i) all[free_[i]] = values[i];
      ++forecasts_;
      if (options_.progress) options_.progress(std::min(1.0, forecasts_ / expected_));
      return full_.forecast(all);
    };
    return problem;
  }

  double loss_at(const FitProblem& problem, const Point& x) const {
    return data_loss(log_residuals(problem, x), weights_, problem.noise) + belief_loss(x);
  }

  // The box within `reach` of a point.
  static Box around(const Point& at, double reach, Box box) {
    for (std::size_t j = 0; j < at.size(); ++j) {
      box.low[j] = std::max(box.low[j], at[j] - reach);
      box.high[j] = std::min(box.high[j], at[j] + reach);
    }
    return box;
  }

  // Gauss and Newton's way: minimise the linearised problem as far as it is believed, linearise
  // again there; where it promised too much, believe it less far.
  Minimum descend(const FitProblem& problem, const Point& start) const {
    const Point centre(start.size(), 0.0);
    Minimum best{start, loss_at(problem, start)};
    double reach = kFirstReach;
    for (int round = 0; round < kMaxRounds && reach > kShortReach; ++round) {
      const Linearisation line = linearise(problem, best.at, kSlopeStep, Differences::kForward);
      Minimum next = best;
      while (reach > kShortReach) {
        next.at = minimise_linear(problem, line, weights_, centre,
                                  around(best.at, reach, box_of(problem)));
        next.value = loss_at(problem, next.at);
        if (next.value < best.value - kGain) break;
        reach /= 3;
      }
      if (next.value < best.value) best = next;
    }
    return best;
  }

  // The last word has a search that needs no slopes.
  Minimum polish(const FitProblem& problem, const Minimum& start) const {
    const auto loss = [&](const Point& x) { return loss_at(problem, x); };
    const Minimum found =
        minimise_blind(loss, box_of(problem), start.at, kPolishStep, options_.evaluations);
    return found.value < start.value ? found : start;
  }

  // Losses with kinks have poor local minima: again from the best, with long steps. In the factors'
  // own coordinates, so that a start is a value of the plan to the last digit.
  Minimum search_simplex() {
    const FitProblem problem = reduced();
    Box box;
    Point from;
    for (const FreeFactor& factor : problem.factors) {
      box.low.push_back(factor.low);
      box.high.push_back(factor.high);
      from.push_back(factor.prior);
    }
    const auto loss = [&](const std::vector<double>& values) {
      return mean_relative_error(problem.forecast(values), problem.observations);
    };
    const auto search_from = [&](const Point& start, double step) {
      std::vector<double> steps;
      for (const FreeFactor& factor : problem.factors) steps.push_back(step * factor.width);
      Minimum found = minimise_rough(loss, box, start, steps, options_.evaluations);
      losses_.push_back(found.value);
      return found;
    };
    Minimum best = search_from(from, options_.first_step);
    for (int start = 1; start < options_.starts; ++start) {
      const Minimum other = search_from(best.at, start * kLongStep);
      if (other.value < best.value) best = other;
    }
    std::sort(losses_.begin(), losses_.end());
    return best;
  }

  // What it found: no belief, so no interval and nothing that is not identified.
  FitResult finish_simplex(const Minimum& best) {
    FitResult result;
    for (std::size_t j = 0; j < best.at.size(); ++j) {
      const double value = best.at[j];
      result.factors.push_back({full_.factors[j], value, value, value, true, 0});
    }
    result.losses = losses_;
    result.loss = best.value;
    result.forecasts = forecasts_;
    return result;
  }

  Minimum search_from_starts() {
    const Box box = box_of(full_);
    Random random(options_.seed);
    const FitProblem problem = reduced();
    std::vector<Minimum> minima;
    for (int s = 0; s < options_.starts; ++s) {
      Point start(box.low.size(), 0.0);
      if (s > 0) {
        for (std::size_t j = 0; j < start.size(); ++j) {
          const double from = std::max(box.low[j], -kStartSpread);
          const double to = std::min(box.high[j], kStartSpread);
          start[j] = from + random.uniform() * (to - from);
        }
      }
      minima.push_back(descend(problem, start));
    }
    const auto less = [](const Minimum& a, const Minimum& b) { return a.value < b.value; };
    std::sort(minima.begin(), minima.end(), less);
    for (const Minimum& minimum : minima) losses_.push_back(minimum.value);
    return minima.front();
  }

  std::vector<Point> sample(const Point& at) {
    const FitProblem problem = reduced();
    const Linearisation line = linearise(problem, at, kSlopeStep, Differences::kCentral);
    return bootstrap(problem, line, options_.resamples, options_.seed);
  }

  std::optional<std::size_t> least_certain(const std::vector<Point>& samples) const {
    std::optional<std::size_t> weakest;
    double largest = kIdentified;
    for (std::size_t j = 0; j < free_.size(); ++j) {
      const double deviation = sample_deviation(samples, j);
      if (deviation > largest) {
        largest = deviation;
        weakest = j;
      }
    }
    return weakest;
  }

  FitResult finish(const Minimum& best, const std::vector<Point>& samples) {
    FitResult result;
    for (std::size_t j = 0; j < full_.factors.size(); ++j) {
      const FreeFactor& factor = full_.factors[j];
      const double reach = kNormalTail * factor.width;
      result.factors.push_back({factor, factor.prior, std::max(factor.low, factor.prior - reach),
                                std::min(factor.high, factor.prior + reach), false,
                                narrowed_.count(j) > 0 ? narrowed_.at(j) : 1});
    }
    const FitProblem problem = reduced();
    const std::vector<double> values = values_at(problem, best.at);
    const auto bound = [&](std::size_t i, double tail) {
      Point point(free_.size(), 0.0);
      point[i] = sample_quantile(samples, i, tail);
      return values_at(problem, point)[i];
    };
    for (std::size_t i = 0; i < free_.size(); ++i) {
      FactorEstimate& estimate = result.factors[free_[i]];
      estimate.value = values[i];
      estimate.low80 = std::min(values[i], bound(i, kLowTail));
      estimate.high80 = std::max(values[i], bound(i, kHighTail));
      estimate.identified = true;
      estimate.narrowed = sample_deviation(samples, i);
    }
    result.correlations = correlations(samples);
    result.log_residuals = log_residuals(problem, best.at);
    result.losses = losses_;
    result.loss = data_loss(result.log_residuals, weights_, problem.noise) + belief_loss(best.at);
    result.forecasts = forecasts_;
    return result;
  }

  std::vector<Correlation> correlations(const std::vector<Point>& samples) const {
    std::vector<Correlation> strong;
    for (std::size_t a = 0; a < free_.size(); ++a) {
      for (std::size_t b = a + 1; b < free_.size(); ++b) {
        const double value = sample_correlation(samples, a, b);
        if (std::abs(value) <= kStrongCorrelation) continue;
        strong.push_back({full_.factors[free_[a]].name, full_.factors[free_[b]].name, value});
      }
    }
    std::sort(strong.begin(), strong.end(), [](const Correlation& x, const Correlation& y) {
      return std::abs(x.value) > std::abs(y.value);
    });
    return strong;
  }

  const FitProblem& full_;
  const FitOptions& options_;
  std::vector<double> weights_;
  std::set<std::size_t> fixed_;
  std::vector<std::size_t> free_;           // factors of the last reduced problem
  std::map<std::size_t, double> narrowed_;  // of factors that were fixed
  std::vector<double> losses_;
  int forecasts_ = 0;
  double expected_ = 1;
};

}  // namespace

FitResult fit(const FitProblem& problem, const FitOptions& options) {
  check_problem(problem);
  return Fitter(problem, options).run();
}

}  // namespace foretell

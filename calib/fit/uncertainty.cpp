#include "calib/fit/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "calib/fit/random.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

double mean_of(const std::vector<Point>& samples, std::size_t coordinate) {
  double sum = 0;
  for (const Point& sample : samples) sum += sample[coordinate];
  return sum / static_cast<double>(samples.size());
}

double covariance(const std::vector<Point>& samples, std::size_t a, std::size_t b) {
  const double mean_a = mean_of(samples, a);
  const double mean_b = mean_of(samples, b);
  double sum = 0;
  for (const Point& sample : samples) sum += (sample[a] - mean_a) * (sample[b] - mean_b);
  return sum / static_cast<double>(samples.size());
}

// Configurations of each network, in the order of their names.
std::map<std::string, std::vector<std::string>> configurations_of(const FitProblem& problem) {
  std::map<std::string, std::set<std::string>> sets;
  for (const Observation& observation : problem.observations) {
    sets[observation.network].insert(observation.configuration);
  }
  std::map<std::string, std::vector<std::string>> lists;
  for (const auto& [network, names] : sets) lists[network] = {names.begin(), names.end()};
  return lists;
}

}  // namespace

Linearisation linearise(const FitProblem& problem, const Point& at, double step,
                        Differences differences) {
  const Box box = box_of(problem);
  Linearisation line;
  line.at = at;
  line.residuals = log_residuals(problem, at);
  line.slope.assign(line.residuals.size(), std::vector<double>(at.size(), 0.0));
  for (std::size_t j = 0; j < at.size(); ++j) {
    Point below = at;
    Point above = at;
    above[j] = std::min(box.high[j], at[j] + step);
    const bool is_central = differences == Differences::kCentral;
    if (is_central || above[j] <= at[j]) below[j] = std::max(box.low[j], at[j] - step);
    const auto residuals_at = [&](const Point& point) {
      return point[j] == at[j] ? line.residuals : log_residuals(problem, point);
    };
    const std::vector<double> from = residuals_at(below);
    const std::vector<double> to = residuals_at(above);
    for (std::size_t i = 0; i < from.size(); ++i) {
      line.slope[i][j] = (to[i] - from[i]) / (above[j] - below[j]);
    }
  }
  return line;
}

Point minimise_linear(const FitProblem& problem, const Linearisation& line,
                      const std::vector<double>& weights, const Point& centre, const Box& box) {
  const auto loss = [&](const std::vector<double>& x, std::vector<double>& gradient) {
    double value = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double from_centre = x[j] - centre[j];
      value += from_centre * from_centre / 2;
      if (!gradient.empty()) gradient[j] = from_centre;
    }
    for (std::size_t i = 0; i < line.residuals.size(); ++i) {
      if (weights[i] <= 0) continue;
      double residual = line.residuals[i];
      for (std::size_t j = 0; j < x.size(); ++j) residual += line.slope[i][j] * (x[j] - line.at[j]);
      const double scaled = residual / problem.noise;
      const double root = std::hypot(1.0, scaled);
      value += weights[i] * (root - 1);
      if (gradient.empty()) continue;
      const double by_residual = weights[i] * scaled / root / problem.noise;
      for (std::size_t j = 0; j < x.size(); ++j) gradient[j] += by_residual * line.slope[i][j];
    }
    return value;
  };
  return minimise_smooth(loss, box, line.at).at;
}

std::vector<Point> bootstrap(const FitProblem& problem, const Linearisation& line, int count,
                             std::uint64_t seed) {
  const std::vector<double> weights = weights_of(problem.observations);
  const auto configurations = configurations_of(problem);
  const Box box = box_of(problem);
  Random random(seed);
  std::vector<Point> samples;
  for (int s = 0; s < count; ++s) {
    std::map<std::string, int> drawn;
    for (const auto& [network, names] : configurations) {
      for (std::size_t i = 0; i < names.size(); ++i) ++drawn[names[random.index(names.size())]];
    }
    std::vector<double> resampled;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      resampled.push_back(weights[i] * drawn[problem.observations[i].configuration]);
    }
    Point centre;
    for (std::size_t j = 0; j < line.at.size(); ++j) centre.push_back(random.normal());
    samples.push_back(minimise_linear(problem, line, resampled, centre, box));
  }
  return samples;
}

double sample_quantile(const std::vector<Point>& samples, std::size_t coordinate, double q) {
  FORETELL_CHECK(!samples.empty(), "a quantile of nothing");
  std::vector<double> values;
  for (const Point& sample : samples) values.push_back(sample[coordinate]);
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

double sample_deviation(const std::vector<Point>& samples, std::size_t coordinate) {
  return std::sqrt(covariance(samples, coordinate, coordinate));
}

double sample_correlation(const std::vector<Point>& samples, std::size_t a, std::size_t b) {
  const double product = sample_deviation(samples, a) * sample_deviation(samples, b);
  return product > 0 ? covariance(samples, a, b) / product : 0;
}

}  // namespace foretell

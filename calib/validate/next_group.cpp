#include "calib/validate/next_group.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kUpper = 0.9;  // of both sides 80 % is left
constexpr double kWideningStep = 0.02;
constexpr int kWideningSteps = 50;
constexpr double kLeastSpread = 1e-6;  // of a group whose rows say all the same

struct Error {
  double value = 0;    // ln(measured / predicted)
  double octaves = 0;  // from the other groups
};
using Errors = std::map<std::string, std::vector<Error>>;

std::vector<Place> places_without(const std::vector<GroupSample>& samples,
                                  const std::string& group) {
  std::vector<Place> places;
  for (const GroupSample& sample : samples) {
    if (sample.group != group) places.push_back(sample.place);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

Errors errors_of(const std::vector<GroupSample>& samples) {
  Errors errors;
  for (const GroupSample& sample : samples) errors[sample.group];
  for (auto& [group, of_group] : errors) {
    const std::vector<Place> others = places_without(samples, group);
    for (const GroupSample& sample : samples) {
      if (sample.group != group) continue;
      FORETELL_CHECK(sample.ratio > 0, "a ratio of times must be above zero");
      of_group.push_back({std::log(sample.ratio), octaves_to(sample.place, others)});
    }
  }
  return errors;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

struct Spread {
  double within = 0;  // variances
  double between = 0;
};

// Of errors as they would be at no distance; every group counts the same. `without`: a group.
Spread spread_of(const Errors& errors, double per_octave, const std::string& without) {
  std::vector<double> within;
  std::vector<double> between;
  for (const auto& [group, rows] : errors) {
    if (group == without) continue;
    std::vector<double> near;
    for (const Error& row : rows) near.push_back(row.value / (1 + per_octave * row.octaves));
    const double middle = mean(near);
    double squares = 0;
    for (const double value : near) squares += (value - middle) * (value - middle);
    const std::size_t free = near.size() > 1 ? near.size() - 1 : 1;
    within.push_back(squares / static_cast<double>(free));
    between.push_back(middle * middle);
  }
  return {mean(within), mean(between)};
}

double half_width(const Spread& spread, std::size_t groups) {
  const auto count = static_cast<double>(groups);
  const double t = boost::math::quantile(boost::math::students_t(count), kUpper);
  return t * std::sqrt(spread.between + spread.within);
}

}  // namespace

double octaves_to(const Place& place, const std::vector<Place>& others) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Place& other : others) {
    if (other.size() != place.size()) continue;
    double squares = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
      const double octaves = std::log2(place[i] / other[i]);
      squares += octaves * octaves;
    }
    nearest = std::min(nearest, std::sqrt(squares));
  }
  return place.empty() || !std::isfinite(nearest) ? 0 : nearest;
}

double widening_per_octave(const std::vector<std::vector<GroupSample>>& classes) {
  std::vector<std::vector<Error>> groups;
  for (const std::vector<GroupSample>& samples : classes) {
    for (auto& [name, rows] : errors_of(samples)) groups.push_back(rows);
  }
  double best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= kWideningSteps; ++step) {
    const double per_octave = kWideningStep * step;
    double loss = 0;  // minus the logarithm of the likelihood, the spread of each group its own
    for (const std::vector<Error>& rows : groups) {
      double squares = 0;
      double logarithms = 0;
      for (const Error& row : rows) {
        const double scale = 1 + per_octave * row.octaves;
        squares += row.value * row.value / (scale * scale);
        logarithms += std::log(scale);
      }
      const auto count = static_cast<double>(rows.size());
      loss += logarithms / count + std::log(std::sqrt(squares / count) + kLeastSpread);
    }
    if (loss < least) {
      least = loss;
      best = per_octave;
    }
  }
  return best;
}

NextGroup next_group(const std::vector<GroupSample>& samples, double per_octave) {
  const Errors errors = errors_of(samples);
  FORETELL_CHECK(errors.size() >= 2, "the interval of the next group needs two groups");
  const Spread spread = spread_of(errors, per_octave, "");
  const double half = half_width(spread, errors.size());
  NextGroup next;
  next.within = std::sqrt(spread.within);
  next.between = std::sqrt(spread.between);
  next.groups = errors.size();
  next.rows = samples.size();
  next.interval = {std::exp(-half), std::exp(half)};
  next.places = places_without(samples, "");
  for (const auto& [group, rows] : errors) {
    const double of_others = half_width(spread_of(errors, per_octave, group), errors.size() - 1);
    const auto inside = std::count_if(rows.begin(), rows.end(), [&](const Error& row) {
      return std::abs(row.value) <= of_others * (1 + per_octave * row.octaves);
    });
    next.left_out += static_cast<double>(inside) / static_cast<double>(rows.size()) /
                     static_cast<double>(errors.size());
  }
  return next;
}

Interval at_distance(const Interval& interval, double per_octave, double octaves) {
  const double power = 1 + per_octave * octaves;
  return {std::pow(interval.low, power), std::pow(interval.high, power)};
}

}  // namespace foretell

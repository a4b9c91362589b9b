#include "calib/validate/next_group.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <map>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kUpper = 0.9;  // of both sides 80 % is left
constexpr double kHeld = 0.8;
constexpr double kCommonGroups = 4;  // as many groups the spread of all classes counts as
constexpr double kOctaveStep = 0.02;
constexpr double kReleaseStep = 0.005;
constexpr int kWideningSteps = 50;
constexpr double kLeastSpread = 1e-6;  // of a group whose rows say all the same

struct Error {
  double value = 0;    // ln(measured / predicted), as of the newest release
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

double release_scale(double per_release, double releases) {
  return std::pow(1 + per_release, std::max(releases, 0.0));
}

// How the errors of the next group, which meets factors of all groups, compare with those of this
// one by factors without it: sqrt(1 - h²) of its leverage h.
double next_over_left_out(const std::vector<double>& left_out, const std::vector<double>& seen) {
  double squares_left_out = 0;
  double squares_seen = 0;
  for (const double value : left_out) squares_left_out += value * value;
  for (const double value : seen) squares_seen += value * value;
  if (squares_seen >= squares_left_out) return 1;
  const double leverage = 1 - std::sqrt(squares_seen / squares_left_out);
  return std::sqrt(1 - leverage * leverage);
}

Errors errors_of(const std::vector<GroupSample>& samples, double per_release) {
  Errors errors;
  for (const GroupSample& sample : samples) errors[sample.group];
  for (auto& [group, of_group] : errors) {
    const std::vector<Place> others = places_without(samples, group);
    std::vector<double> left_out;
    std::vector<double> seen;
    for (const GroupSample& sample : samples) {
      if (sample.group != group) continue;
      FORETELL_CHECK(sample.ratio > 0, "a ratio of times must be above zero");
      const double scale = release_scale(per_release, sample.releases);
      left_out.push_back(std::log(sample.ratio) / scale);
      seen.push_back((std::log(sample.ratio) + sample.moved) / scale);
      of_group.push_back({left_out.back(), octaves_to(sample.place, others)});
    }
    const double next = next_over_left_out(left_out, seen);
    for (Error& error : of_group) error.value *= next;
  }
  return errors;
}

// Errors of rows by factors of nearer ones alone. They count as they are: the next network that
// stands so far from all that was judged meets factors that have seen nothing nearer, either.
Errors far_errors_of(const std::vector<GroupSample>& samples, double per_release) {
  Errors errors;
  for (const GroupSample& sample : samples) {
    const double scale = release_scale(per_release, sample.releases);
    const double seen = std::log(sample.ratio) + sample.moved;
    for (const FarPrediction& far : sample.far) {
      errors[sample.group].push_back({(seen - far.moved) / scale, far.octaves});
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
  double within = 0;  // variances, every group counting the same
  double between = 0;
  double both = 0;  // mean square of the errors of a group
};

// `without`: a group.
Spread spread_of(const Errors& errors, const std::string& without) {
  std::vector<double> within;
  std::vector<double> between;
  std::vector<double> both;
  for (const auto& [group, rows] : errors) {
    if (group == without) continue;
    std::vector<double> values;
    for (const Error& row : rows) values.push_back(row.value);
    const double middle = mean(values);
    double squares = 0;
    for (const double value : values) squares += (value - middle) * (value - middle);
    const std::size_t free = values.size() > 1 ? values.size() - 1 : 1;
    within.push_back(squares / static_cast<double>(free));
    between.push_back(middle * middle);
    both.push_back(squares / static_cast<double>(values.size()) + middle * middle);
  }
  return {mean(within), mean(between), mean(both)};
}

// The mean square of the errors of a group of any class: the geometric mean over the classes.
double common_square(const std::vector<Errors>& classes, std::size_t of_class,
                     const std::string& without) {
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const Spread spread = spread_of(classes[i], i == of_class ? without : "");
    logarithms.push_back(std::log(std::max(spread.both, kLeastSpread * kLeastSpread)));
  }
  return std::exp(mean(logarithms));
}

double half_width(double own_square, std::size_t groups, double common) {
  const auto count = static_cast<double>(groups);
  const double square = (count * own_square + kCommonGroups * common) / (count + kCommonGroups);
  const double t = boost::math::quantile(boost::math::students_t(count + kCommonGroups), kUpper);
  return t * std::sqrt(square);
}

double octave_scale(double per_octave, double octaves) { return 1 + per_octave * octaves; }

double wider_by(double per_octave, double usual_octaves, double octaves) {
  return std::max(1.0, octave_scale(per_octave, octaves) / octave_scale(per_octave, usual_octaves));
}

// Share of the errors inside half a width that is that much wider with every octave beyond the
// usual ones.
double share_inside(const std::vector<Error>& rows, double half, double per_octave,
                    double usual_octaves) {
  const auto inside = std::count_if(rows.begin(), rows.end(), [&](const Error& row) {
    return std::abs(row.value) <= half * wider_by(per_octave, usual_octaves, row.octaves);
  });
  return static_cast<double>(inside) / static_cast<double>(rows.size());
}

// `scale`: of errors of the newest release of the class, over those of the newest of all.
NextGroup next_group(const std::vector<Errors>& classes, std::size_t at, const Errors& far,
                     double scale, double per_octave) {
  const Errors& errors = classes[at];
  FORETELL_CHECK(errors.size() >= 2, "the interval of the next group needs two groups");
  const Spread spread = spread_of(errors, "");
  const double half =
      scale * half_width(spread.both, errors.size(), common_square(classes, at, ""));
  NextGroup next;
  next.within = scale * std::sqrt(spread.within);
  next.between = scale * std::sqrt(spread.between);
  next.groups = errors.size();
  next.interval = {std::exp(-half), std::exp(half)};
  const auto groups = static_cast<double>(errors.size());
  for (const auto& [group, rows] : errors) {
    for (const Error& row : rows) {
      next.octaves += row.octaves / static_cast<double>(rows.size()) / groups;
    }
    next.rows += rows.size();
  }
  for (const auto& [group, rows] : errors) {
    const double of_others = half_width(spread_of(errors, group).both, errors.size() - 1,
                                        common_square(classes, at, group));
    next.left_out += share_inside(rows, of_others, per_octave, next.octaves) / groups;
    const auto beyond = far.find(group);
    if (beyond == far.end()) continue;
    const auto of_far = static_cast<double>(far.size());
    next.far += share_inside(beyond->second, of_others, per_octave, next.octaves) / of_far;
    next.far_as_near += share_inside(beyond->second, of_others, 0, next.octaves) / of_far;
    next.far_rows += beyond->second.size();
  }
  return next;
}

// An error and what it grows with.
struct ScaledError {
  double value = 0;
  double distance = 0;
};

// Minus the logarithms of the likelihoods of growths by 0, `step`, twice that …: the spread of each
// group is its own, and a group counts as one observation.
std::vector<double> growth_losses(const std::vector<std::vector<ScaledError>>& groups, double step,
                                  double (*scale_of)(double growth, double distance)) {
  std::vector<double> losses;
  for (int steps = 0; steps <= kWideningSteps; ++steps) {
    double loss = 0;
    for (const std::vector<ScaledError>& rows : groups) {
      double squares = 0;
      double logarithms = 0;
      for (const ScaledError& row : rows) {
        const double scale = scale_of(step * steps, row.distance);
        squares += row.value * row.value / (scale * scale);
        logarithms += std::log(scale);
      }
      const auto count = static_cast<double>(rows.size());
      loss += logarithms / count + std::log(std::sqrt(squares / count) + kLeastSpread);
    }
    losses.push_back(loss);
  }
  return losses;
}

double most_likely_growth(const std::vector<double>& losses, double step) {
  const auto least = std::min_element(losses.begin(), losses.end());
  return step * static_cast<double>(least - losses.begin());
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

double widening_per_release(const std::vector<std::vector<GroupSample>>& classes) {
  std::vector<std::vector<ScaledError>> groups;
  for (const std::vector<GroupSample>& samples : classes) {
    std::map<std::string, std::vector<ScaledError>> by_group;
    for (const GroupSample& sample : samples) {
      by_group[sample.group].push_back({std::log(sample.ratio), sample.releases});
    }
    for (auto& [name, rows] : by_group) groups.push_back(std::move(rows));
  }
  return most_likely_growth(growth_losses(groups, kReleaseStep, release_scale), kReleaseStep);
}

std::vector<NextGroup> next_groups(const std::vector<std::vector<GroupSample>>& classes,
                                   double per_release, double per_octave) {
  std::vector<Errors> errors;
  for (const std::vector<GroupSample>& samples : classes) {
    errors.push_back(errors_of(samples, per_release));
  }
  std::vector<NextGroup> next;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    double newest = std::numeric_limits<double>::infinity();
    for (const GroupSample& sample : classes[i]) newest = std::min(newest, sample.releases);
    next.push_back(next_group(errors, i, far_errors_of(classes[i], per_release),
                              release_scale(per_release, newest), per_octave));
    next.back().places = places_without(classes[i], "");
  }
  return next;
}

namespace {

// Share of the far rows that intervals hold, each group counting the same; 1 without far rows.
double far_rows_held(const std::vector<std::vector<GroupSample>>& classes, double per_release,
                     double per_octave) {
  double held = 0;
  double groups = 0;
  const std::vector<NextGroup> next = next_groups(classes, per_release, per_octave);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto far = static_cast<double>(far_errors_of(classes[i], per_release).size());
    held += far * next[i].far;
    groups += far;
  }
  return groups > 0 ? held / groups : 1;
}

}  // namespace

double widening_per_octave(const std::vector<std::vector<GroupSample>>& classes,
                           double per_release) {
  int steps = 0;
  while (steps < kWideningSteps &&
         far_rows_held(classes, per_release, kOctaveStep * steps) < kHeld) {
    ++steps;
  }
  return kOctaveStep * steps;
}

Interval at_distance(const Interval& interval, double per_octave, double usual_octaves,
                     double octaves) {
  const double power = wider_by(per_octave, usual_octaves, octaves);
  return {std::pow(interval.low, power), std::pow(interval.high, power)};
}

Interval at_release(const Interval& interval, double per_release, double releases) {
  const double power = release_scale(per_release, releases);
  return {std::pow(interval.low, power), std::pow(interval.high, power)};
}

}  // namespace foretell

#include "calib/validate/family_interval.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <set>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kUpperEnd = 0.9;              // of both sides 80 % is left
constexpr double kDeviationOfMedian = 1.4826;  // 1 / (75th percentile of the normal law)

// The spread of one family.
struct FamilySpread {
  double within = 0;   // s^2
  double between = 0;  // m^2
  std::size_t rows = 0;
};

// The two parts of several families, and how well they are known.
struct Parts {
  double within = 0;  // variances
  double between = 0;
  double half_width = 0;
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

FamilySpread family_spread(const std::vector<double>& errors) {
  const double middle = median_of(errors);
  std::vector<double> distances;
  for (const double error : errors) distances.push_back(std::abs(error - middle));
  const double deviation = kDeviationOfMedian * median_of(distances);
  return {deviation * deviation, middle * middle, errors.size()};
}

using Spreads = std::map<std::string, FamilySpread>;

Parts parts_of(const Spreads& spreads, const std::string& left_out, const ChosenNumbers& chosen) {
  FamilySpread sum;
  double families = 0;
  std::set<std::string> numbers;
  for (const auto& [family, one] : spreads) {
    if (family == left_out) continue;
    ++families;
    sum.within += one.within;
    sum.between += one.between;
    sum.rows += one.rows;
    if (const auto of = chosen.find(family); of != chosen.end())
      numbers.insert(of->second.begin(), of->second.end());
  }
  const double free_between = std::max(1.0, families - static_cast<double>(numbers.size()));
  const double free_within = std::max(1.0, static_cast<double>(sum.rows) - families);
  Parts parts{sum.within / families, sum.between / free_between, 0};
  const double all = parts.within + parts.between;
  if (!(all > 0)) return parts;
  const double freedom =
      all * all /
      (parts.within * parts.within / free_within + parts.between * parts.between / free_between);
  const boost::math::students_t law(freedom);
  parts.half_width = boost::math::quantile(law, kUpperEnd) * std::sqrt(all);
  return parts;
}

}  // namespace

FamilyInterval family_interval80(const std::vector<RatioSample>& samples,
                                 const ChosenNumbers& chosen) {
  std::map<std::string, std::vector<double>> families;
  for (const RatioSample& sample : samples) {
    FORETELL_CHECK(sample.ratio > 0, "a ratio of times must be above zero");
    families[sample.network].push_back(std::log(sample.ratio));
  }
  FORETELL_CHECK(families.size() >= 2, "the interval of the next family needs two families");
  Spreads spreads;
  for (const auto& [family, errors] : families) spreads[family] = family_spread(errors);
  const Parts all = parts_of(spreads, "", chosen);
  FamilyInterval made;
  made.within = std::sqrt(all.within);
  made.between = std::sqrt(all.between);
  made.rows = samples.size();
  made.interval = {std::exp(-all.half_width), std::exp(all.half_width)};
  for (const auto& [family, errors] : families) {
    const double of_others = parts_of(spreads, family, chosen).half_width;
    const auto inside = static_cast<double>(std::count_if(
        errors.begin(), errors.end(), [&](double error) { return std::abs(error) <= of_others; }));
    made.left_out[family] = inside / static_cast<double>(errors.size());
    made.rows_left_out += inside / static_cast<double>(samples.size());
  }
  return made;
}

}  // namespace foretell

#include "calib/validate/family_interval.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kUpperEnd = 0.9;              // of both sides 80 % is left
constexpr double kDeviationOfMedian = 1.4826;  // 1 / (75th percentile of the normal law)

// Of one family.
struct FamilySpread {
  double within = 0;   // s^2
  double between = 0;  // m^2
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
  return {deviation * deviation, middle * middle};
}

double family_half_width(const FamilySpread& mean, std::size_t families) {
  const boost::math::students_t law(static_cast<double>(families));
  return boost::math::quantile(law, kUpperEnd) * std::sqrt(mean.within + mean.between);
}

}  // namespace

FamilyInterval family_interval80(const std::vector<RatioSample>& samples) {
  std::map<std::string, std::vector<double>> families;
  for (const RatioSample& sample : samples) {
    FORETELL_CHECK(sample.ratio > 0, "a ratio of times must be above zero");
    families[sample.network].push_back(std::log(sample.ratio));
  }
  FORETELL_CHECK(families.size() >= 2, "the interval of the next family needs two families");
  std::map<std::string, FamilySpread> spreads;
  FamilySpread sum;
  for (const auto& [family, errors] : families) {
    const FamilySpread one = family_spread(errors);
    spreads[family] = one;
    sum.within += one.within;
    sum.between += one.between;
  }
  const auto count = static_cast<double>(families.size());
  const FamilySpread mean{sum.within / count, sum.between / count};
  const double half = family_half_width(mean, families.size());
  FamilyInterval made;
  made.within = std::sqrt(mean.within);
  made.between = std::sqrt(mean.between);
  made.rows = samples.size();
  made.interval = {std::exp(-half), std::exp(half)};
  for (const auto& [family, errors] : families) {
    const FamilySpread others{(sum.within - spreads[family].within) / (count - 1),
                              (sum.between - spreads[family].between) / (count - 1)};
    const double of_others = family_half_width(others, families.size() - 1);
    const auto inside = static_cast<double>(std::count_if(
        errors.begin(), errors.end(), [&](double error) { return std::abs(error) <= of_others; }));
    made.left_out[family] = inside / static_cast<double>(errors.size());
    made.rows_left_out += inside / static_cast<double>(samples.size());
  }
  return made;
}

}  // namespace foretell

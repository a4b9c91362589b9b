#include "model/app/plan/certainty.hpp"

#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kUpperQuantile = 0.9;  // of an 80 % interval

const ServeStatistic& statistic_of(const ServeSummary& summary, const std::string& metric) {
  if (metric == "ttft") return summary.ttft_s;
  if (metric == "tpot") return summary.tpot_s;
  return metric == "itl" ? summary.itl_s : summary.e2e_s;
}

// Mean and standard deviation of the logarithm of measured over predicted.
struct LogError {
  double mean = 0;
  double deviation = 0;
};

LogError error_of(const ServeSummary& summary, const std::string& metric) {
  const auto found = summary.interval80.find(metric + "_s.mean");
  const double value = statistic_of(summary, metric).mean;
  if (found == summary.interval80.end() || !(found->second.low > 0) || !(value > 0)) return {};
  const double low = std::log(found->second.low / value);
  const double high = std::log(found->second.high / value);
  const double quantile = boost::math::quantile(boost::math::normal(), kUpperQuantile);
  return {(low + high) / 2, (high - low) / 2 / quantile};
}

}  // namespace

double promised_value(const ServeRecord& record, const Promise& promise) {
  return value_of(statistic_of(record.summary, promise.metric), promise.statistic);
}

double probability_of(const ServeRecord& record, const Promise& promise) {
  const double value = promised_value(record, promise);
  if (!(value > 0)) return 1;
  const LogError error = error_of(record.summary, promise.metric);
  const double distance = std::log(promise.limit.value() / value) - error.mean;
  if (!(error.deviation > 0)) return distance >= 0 ? 1 : 0;
  return boost::math::cdf(boost::math::normal(), distance / error.deviation);
}

double probability_of(const ServeRecord& record, const std::vector<Promise>& promises) {
  double product = 1;
  for (const Promise& promise : promises) product *= probability_of(record, promise);
  return product;
}

double limit_kept_with(const ServeRecord& record, const Promise& promise, double probability) {
  FORETELL_CHECK(probability > 0 && probability < 1, "a probability between 0 and 1");
  const LogError error = error_of(record.summary, promise.metric);
  const double quantile = boost::math::quantile(boost::math::normal(), probability);
  return promised_value(record, promise) * std::exp(error.mean + quantile * error.deviation);
}

}  // namespace foretell

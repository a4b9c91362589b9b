#include "model/serving/log_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

constexpr double kLowest = 1e-7;  // seconds; what is below counts as this
constexpr double kHighest = 1e7;
constexpr double kWidth = 1.001;  // of a bucket, upper edge over lower

std::size_t bucket_of(double seconds) {
  static const double kScale = 1 / std::log(kWidth);
  const double bounded = std::clamp(seconds, kLowest, kHighest);
  return static_cast<std::size_t>(std::log(bounded / kLowest) * kScale);
}

}  // namespace

LogHistogram::LogHistogram() : buckets_(bucket_of(kHighest) + 1) {}

void LogHistogram::add(double seconds, std::int64_t count) {
  if (seconds != last_) {
    last_ = seconds;
    last_bucket_ = bucket_of(seconds);
  }
  buckets_[last_bucket_] += count;
  count_ += count;
  sum_ += seconds * static_cast<double>(count);
}

double LogHistogram::quantile(double share) const {
  if (count_ == 0) return 0;
  const auto rank = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_))));
  std::int64_t seen = 0;
  std::size_t bucket = 0;
  while (bucket + 1 < buckets_.size() && (seen += buckets_[bucket]) < rank) ++bucket;
  return kLowest * std::pow(kWidth, static_cast<double>(bucket) + 0.5);
}

}  // namespace foretell

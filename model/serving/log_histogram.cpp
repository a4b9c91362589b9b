#include "model/serving/log_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

constexpr Seconds kLowest(1e-7);  // what is below counts as this
constexpr Seconds kHighest(1e7);
constexpr double kWidth = 1.001;  // of a bucket, upper edge over lower

std::size_t bucket_of(Seconds time) {
  static const double kScale = 1 / std::log(kWidth);
  const Seconds bounded = std::clamp(time, kLowest, kHighest);
  return static_cast<std::size_t>(std::log(bounded / kLowest) * kScale);
}

}  // namespace

LogHistogram::LogHistogram() : buckets_(bucket_of(kHighest) + 1) {}

void LogHistogram::add(Seconds time, std::int64_t count) {
  if (time != last_) {
    last_ = time;
    last_bucket_ = bucket_of(time);
  }
  buckets_[last_bucket_] += count;
  count_ += count;
  sum_ += time * static_cast<double>(count);
}

Seconds LogHistogram::quantile(double share) const {
  if (count_ == 0) return Seconds(0);
  const auto rank = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_))));
  std::int64_t seen = 0;
  std::size_t bucket = 0;
  while (bucket + 1 < buckets_.size() && (seen += buckets_[bucket]) < rank) ++bucket;
  return kLowest * std::pow(kWidth, static_cast<double>(bucket) + 0.5);
}

}  // namespace foretell

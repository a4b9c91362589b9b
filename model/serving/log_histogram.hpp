// Percentiles of very many times in little memory: counts in buckets that are 0.1 % wide.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/units.hpp"

namespace foretell {

class LogHistogram {
 public:
  LogHistogram();

  void add(Seconds time, std::int64_t count = 1);
  std::int64_t count() const { return count_; }
  Seconds mean() const { return count_ == 0 ? Seconds(0) : sum_ / static_cast<double>(count_); }
  // The value that a share of 0…1 does not exceed, within 0.05 %; 0 without values.
  Seconds quantile(double share) const;

 private:
  std::vector<std::int64_t> buckets_;
  std::int64_t count_ = 0;
  Seconds sum_;
  Seconds last_{-1};  // most values repeat the one before
  std::size_t last_bucket_ = 0;
};

}  // namespace foretell

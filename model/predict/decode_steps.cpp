#include "model/predict/decode_steps.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using Steps = std::vector<GenerationMetrics::Step>;

constexpr double kOnTheLine = 2e-4;  // of the time of a step

class Interpolation {
 public:
  Interpolation(std::int64_t first, std::int64_t last, std::int64_t block, const StepTime& time)
      : first_(first), last_(last), block_(block), time_(time) {}

  Steps run() {
    const std::int64_t from = block_of(first_);
    const std::int64_t to = block_of(last_);
    if (from == to) {
      add_block(from);
      return std::move(steps_);
    }
    // The run may begin and end inside a block, which says nothing about whole ones.
    const std::int64_t whole_from = from + (begin_of(from) < first_ ? 1 : 0);
    const std::int64_t whole_to = to - (end_of(to) > last_ ? 1 : 0);
    if (whole_from > from) add_block(from);
    if (whole_from <= whole_to) {
      add_block(whole_from);
      add_between(whole_from, whole_to);
      if (whole_to > whole_from) add_block(whole_to);
    }
    if (whole_to < to) add_block(to);
    return std::move(steps_);
  }

 private:
  std::int64_t block_of(std::int64_t position) const { return (position - 1) / block_; }
  std::int64_t begin_of(std::int64_t block) const { return block * block_ + 1; }
  std::int64_t end_of(std::int64_t block) const { return (block + 1) * block_; }

  double mean_of(std::int64_t block) {
    const auto known = means_.find(block);
    if (known != means_.end()) return known->second;
    const std::int64_t begin = std::max(begin_of(block), first_);
    const std::int64_t end = std::min(end_of(block), last_);
    const double mean =
        begin == end ? time_(begin).value() : (time_(begin).value() + time_(end).value()) / 2;
    return means_[block] = mean;
  }

  void add_block(std::int64_t block) {
    const std::int64_t begin = std::max(begin_of(block), first_);
    const std::int64_t end = std::min(end_of(block), last_);
    steps_.push_back({end, end - begin + 1, Seconds(mean_of(block))});
  }

  // Blocks after `low` and before `high`.
  void add_between(std::int64_t low, std::int64_t high) {
    if (high - low < 2) return;
    const std::int64_t middle = low + (high - low) / 2;
    const double share = static_cast<double>(middle - low) / static_cast<double>(high - low);
    const double line = mean_of(low) + share * (mean_of(high) - mean_of(low));
    if (std::abs(mean_of(middle) - line) <= kOnTheLine * line) {
      const double mean = (mean_of(low) + mean_of(high)) / 2;
      steps_.push_back({end_of(high - 1), (high - low - 1) * block_, Seconds(mean)});
      return;
    }
    add_between(low, middle);
    add_block(middle);
    add_between(middle, high);
  }

  std::int64_t first_;
  std::int64_t last_;
  std::int64_t block_;
  const StepTime& time_;
  std::map<std::int64_t, double> means_;
  Steps steps_;
};

}  // namespace

std::vector<GenerationMetrics::Step> interpolated_steps(std::int64_t first, std::int64_t last,
                                                        std::int64_t block, const StepTime& time) {
  FORETELL_CHECK(first >= 1 && block >= 1, "positions and blocks are counted from 1");
  if (last < first) return {};
  return Interpolation(first, last, block, time).run();
}

std::vector<GenerationMetrics::Step> executed_steps(std::int64_t first, std::int64_t last,
                                                    const StepTime& time) {
  std::vector<GenerationMetrics::Step> steps;
  for (std::int64_t positions = first; positions <= last; ++positions)
    steps.push_back({positions, 1, time(positions)});
  return steps;
}

}  // namespace foretell

#include "model/app/serving/steps/lazy_grid.hpp"

#include <algorithm>
#include <utility>

namespace foretell {
namespace {

// Distance of the points around a size: a power of two.
std::int64_t spacing(const GridAxis& axis, std::int64_t size) {
  if (size <= axis.fine) return 1;
  std::int64_t octave = 1;
  while (octave * 2 <= size) octave *= 2;
  return std::max<std::int64_t>(1, octave / axis.per_octave);
}

CallCost between(const CallCost& low, const CallCost& high, double share) {
  return {low.time + share * (high.time - low.time),
          low.energy + (high.energy - low.energy) * share};
}

}  // namespace

std::int64_t GridAxis::below(std::int64_t size) const {
  const std::int64_t step = spacing(*this, size);
  return size / step * step;
}

std::int64_t GridAxis::above(std::int64_t size) const {
  const std::int64_t step = spacing(*this, size);
  return std::min(std::max(size, highest), (size + step - 1) / step * step);
}

LazyGrid::LazyGrid(GridAxis x, GridAxis y, bool exact, Function function)
    : x_(x), y_(y), exact_(exact), function_(std::move(function)) {}

const CallCost& LazyGrid::point(std::int64_t x, std::int64_t y) {
  const std::uint64_t key = (static_cast<std::uint64_t>(x) << 32U) ^ static_cast<std::uint64_t>(y);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const CallCost cost = function_(x, y);
  return known_.emplace(key, cost).first->second;
}

CallCost LazyGrid::at(std::int64_t x, std::int64_t y) {
  if (exact_) return point(x, y);
  const std::int64_t x0 = x_.below(x);
  const std::int64_t x1 = x_.above(x);
  const std::int64_t y0 = y_.below(y);
  const std::int64_t y1 = y_.above(y);
  const auto along_y = [&](std::int64_t at) {
    const CallCost low = point(at, y0);
    if (y1 == y0) return low;
    const double share = static_cast<double>(y - y0) / static_cast<double>(y1 - y0);
    return between(low, point(at, y1), share);
  };
  const CallCost low = along_y(x0);
  if (x1 == x0) return low;
  const double share = static_cast<double>(x - x0) / static_cast<double>(x1 - x0);
  return between(low, along_y(x1), share);
}

}  // namespace foretell

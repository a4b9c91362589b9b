#include "model/components/neuron/dma_occupancy.hpp"

#include <algorithm>
#include <numeric>

namespace foretell {

Ticks DmaOccupancy::occupy(std::uint32_t descriptors, Ticks each, Ticks now) {
  taken_ = std::min<std::size_t>(free_.size(), descriptors);
  const Ticks share = static_cast<Ticks>(descriptors / taken_) * each;
  const std::size_t one_more = descriptors % taken_;
  if (alike_ && taken_ == free_.size() && one_more == 0) {
    first_free_ = std::max(first_free_, now) + share;
    return first_free_;
  }
  if (alike_) std::fill(free_.begin(), free_.end(), first_free_);
  order_.resize(free_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (taken_ < free_.size()) {
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::size_t a, std::size_t b) { return free_[a] < free_[b]; });
  }
  Ticks end = 0;
  for (std::size_t i = 0; i < taken_; ++i) {
    Ticks& free = free_[order_[i]];
    free = std::max(free, now) + share + (i < one_more ? each : 0);
    end = std::max(end, free);
  }
  note_first_free();
  return end;
}

void DmaOccupancy::hold_until(Ticks end) {
  if (alike_) {
    first_free_ = std::max(first_free_, end);
    return;
  }
  for (std::size_t i = 0; i < taken_; ++i) free_[order_[i]] = std::max(free_[order_[i]], end);
  note_first_free();
}

void DmaOccupancy::note_first_free() {
  const auto [first, last] = std::minmax_element(free_.begin(), free_.end());
  first_free_ = *first;
  alike_ = *first == *last && taken_ == free_.size();
}

}  // namespace foretell

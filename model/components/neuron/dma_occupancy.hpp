// Until when the DMA engines of a core are occupied.
//
// A transfer spreads its descriptors over the engines that are free first, as evenly as they go.
// Most transfers have as many descriptors for every engine; while all engines are free at one time,
// that time alone is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "model/components/shared/ticks.hpp"

namespace foretell {

class DmaOccupancy {
 public:
  explicit DmaOccupancy(std::size_t engines) : free_(engines, 0) {}

  // The first engine is free then.
  Ticks first_free() const { return first_free_; }

  // Occupies engines with `descriptors`, at least one, of `each` ticks from `now` on; when the last
  // of them is done.
  Ticks occupy(std::uint32_t descriptors, Ticks each, Ticks now);
  // The engines of the last transfer stay occupied until `end`, unless they are for longer anyway.
  void hold_until(Ticks end);
  // How many those are.
  std::size_t taken() const { return taken_; }

 private:
  void note_first_free();

  std::vector<Ticks> free_;  // of each engine, unless they are alike
  bool alike_ = true;        // all are free at first_free_
  Ticks first_free_ = 0;
  std::size_t taken_ = 0;
  std::vector<std::size_t> order_;  // engines, those of the last transfer first, unless alike
};

}  // namespace foretell

// Engines that are kept as one time against engines that are kept one by one.
#include "model/components/neuron/dma_occupancy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace foretell {
namespace {

// What the header says, engine by engine.
struct OneByOne {
  explicit OneByOne(std::size_t engines) : free(engines, 0) {}

  Ticks occupy(std::uint32_t descriptors, Ticks each, Ticks now) {
    taken.clear();
    for (std::size_t e = 0; e < free.size(); ++e) taken.push_back(e);
    if (descriptors < taken.size()) {
      std::stable_sort(taken.begin(), taken.end(),
                       [&](std::size_t a, std::size_t b) { return free[a] < free[b]; });
      taken.resize(descriptors);
    }
    Ticks end = 0;
    for (std::uint32_t d = 0; d < taken.size(); ++d) {
      const auto engines = static_cast<std::uint32_t>(taken.size());
      const Ticks count = descriptors / engines + (d < descriptors % engines ? 1 : 0);
      Ticks& until = free[taken[d]];
      until = std::max(until, now) + count * each;
      end = std::max(end, until);
    }
    return end;
  }
  void hold_until(Ticks end) {
    for (const std::size_t e : taken) free[e] = std::max(free[e], end);
  }

  std::vector<Ticks> free;
  std::vector<std::size_t> taken;
};

TEST(DmaOccupancy, IsThatOfEnginesOneByOne) {
  std::mt19937 random(7);
  for (int series = 0; series < 50; ++series) {
    DmaOccupancy occupancy(16);
    OneByOne expected(16);
    Ticks now = 0;
    for (int transfer = 0; transfer < 100; ++transfer) {
      const bool even = random() % 3 != 0;
      const auto descriptors =
          static_cast<std::uint32_t>(even ? 16 * (1 + random() % 8) : 1 + random() % 100);
      const Ticks each = 1 + static_cast<Ticks>(random() % 1000);
      const Ticks end = occupancy.occupy(descriptors, each, now);
      ASSERT_EQ(end, expected.occupy(descriptors, each, now)) << series << " " << transfer;
      ASSERT_EQ(occupancy.taken(), expected.taken.size());
      if (random() % 4 == 0) {  // the memory is the slower one
        occupancy.hold_until(end + 500);
        expected.hold_until(end + 500);
      }
      ASSERT_EQ(occupancy.first_free(),
                *std::min_element(expected.free.begin(), expected.free.end()));
      now += static_cast<Ticks>(random() % 3000);
    }
  }
}

}  // namespace
}  // namespace foretell

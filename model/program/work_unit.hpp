// Parts of a device that a piece of work keeps busy, and how long it would take on each alone.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/base/units.hpp"

namespace foretell {

// In the order of their names: of parts that are busy equally long, the first one is reported.
enum class WorkUnit : std::uint8_t {
  kDram,
  kL2,
  kArithmetic,        // of the cores of a CPU
  kCaches,            // of the cores of a CPU
  kCalls,             // of primitives, on one thread
  kForkJoin,          // of the threads of a loop
  kLaunch,            // from the work before until the first thread block or message
  kLink,              // to other devices
  kOperandFeed,       // into the pipes of an SM
  kPipelineLatency,   // of stages that wait for those before
  kReduction,         // of split results
  kSpecialFunctions,  // exponentials
  kTensorPipe,
  kVectorPipe
};
inline constexpr std::size_t kWorkUnitCount = 14;
std::string_view to_string(WorkUnit unit);  // "DRAM", "L2", "arithmetic", …, "tensor pipe"

// How long a piece of work keeps each part busy. A part that it does not use has no time.
class UnitTimes {
 public:
  Seconds& operator[](WorkUnit unit) { return times_[static_cast<std::size_t>(unit)]; }
  Seconds operator[](WorkUnit unit) const { return times_[static_cast<std::size_t>(unit)]; }
  UnitTimes& operator+=(const UnitTimes& other) {
    for (std::size_t u = 0; u < kWorkUnitCount; ++u) times_[u] += other.times_[u];
    return *this;
  }
  // The part that is busy longest.
  WorkUnit longest() const;

 private:
  std::array<Seconds, kWorkUnitCount> times_{};
};

}  // namespace foretell

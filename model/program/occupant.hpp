// What lies in SBUF while a program runs, for timelines. Entries of the engine queues say from when
// until when.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/program/instruction.hpp"

namespace foretell {

using QueueLengths = std::array<std::uint32_t, kEngineCount>;

// There from the begin of the first entry at or after `from`, in any queue, until the last entry
// in front of `until` has ended.
struct Occupant {
  std::uint64_t bytes = 0;
  QueueLengths from{};
  QueueLengths until{};
};

struct Occupancy {
  std::vector<Occupant> activations;
  // By transfer of the ring of weights: what it loaded is there until this many entries have ended;
  // to the end of the program when that is none.
  std::vector<QueueLengths> weights_until;
};

}  // namespace foretell

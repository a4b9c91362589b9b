// What a component leaves behind about each entry of its queue: when it ran and what it waited for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/components/ticks.hpp"
#include "model/program/program.hpp"

namespace foretell {

// An entry of a queue of the same core: engines are queues 0..4, ring r is queue 5 + r, the
// collectives come after the last ring.
struct EntryRef {
  std::int32_t queue = -1;  // -1: none, the entry could start at once
  std::uint32_t index = 0;
};

struct Execution {
  Ticks begin = 0;
  Ticks end = 0;
  EntryRef cause;  // the entry whose end decided when this one began
};

struct CoreExecution {
  std::array<std::vector<Execution>, kEngineCount> engines;
  std::vector<std::vector<Execution>> rings;
  std::vector<Execution> collectives;
  std::array<Ticks, kEngineCount> busy{};
  std::array<Ticks, kEngineCount>
      stalled{};                   // had an instruction, waited for a semaphore or a port
  Ticks collective_busy = 0;       // from joining a collective to its end
  Ticks dma_busy = 0;              // sum over the DMA engines / their number
  std::uint64_t loaded_bytes = 0;  // into SBUF
  std::uint64_t stored_bytes = 0;  // out of SBUF
  Ticks end = 0;                   // last entry

  const Execution& at(EntryRef ref) const {
    const auto queue = static_cast<std::size_t>(ref.queue);
    if (queue < engines.size()) return engines[queue][ref.index];
    const std::size_t ring = queue - engines.size();
    return ring < rings.size() ? rings[ring][ref.index] : collectives[ref.index];
  }
};

}  // namespace foretell

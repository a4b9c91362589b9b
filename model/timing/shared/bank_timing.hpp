// How long stacked memory takes for a request, from its channels, banks and timings. Pure formulas.
//
// A request of neighbouring addresses is spread over all pseudo-channels in pieces of `interleave`
// bytes and opens row after row in banks that take turns. Per row, aggregated over the bursts in
// it:
//   transfer    whole bursts at the rate of the pins
//   rows        what opening them takes beyond that: a row no sooner than tRRD, tFAW / 4 and
//               tRC / banks after the one before
//   turnaround  the gap of the bus between reads and writes
//   refresh     all banks of a pseudo-channel together: tRFC of every tREFI is lost
// Organisation and timings: hw/memories, with their sources.
#pragma once

#include "hw/spec/neuron/neuron_spec.hpp"
#include "hw/spec/shared/memory_timings.hpp"
#include "model/base/units.hpp"

namespace foretell {

struct BankedMemory {
  MemoryTimings timings;
  BytesPerSecond bandwidth;    // peak, of all stacks
  double pseudo_channels = 0;  // of all stacks
  Seconds refresh_time;        // of a channel that holds its share of the capacity
};

// UserError unless the spec states its stacks.
BankedMemory banked_memory(const HbmSpec& spec, const MemoryTimings& timings);

struct BankTime {
  Seconds transfer;
  Seconds rows;
  Seconds turnaround;
  Seconds refresh;

  Seconds total() const { return transfer + rows + turnaround + refresh; }
  BankTime& operator+=(const BankTime& other);
};

// The time of `bytes` in runs of `run` neighbouring ones; the bus of each pseudo-channel turns
// `turns` times meanwhile, to the other direction and back counting as two.
BankTime bank_time(const BankedMemory& memory, Bytes bytes, Bytes run, double turns);

// How often the bus turns while this many bytes pass beside as much in the other direction.
double turns_beside(const BankedMemory& memory, Bytes bytes);

}  // namespace foretell

#include "model/timing/shared/bank_timing.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kGigabit = 1024.0 * 1024 * 1024 / 8;  // bytes

}  // namespace

BankedMemory banked_memory(const HbmSpec& spec, const MemoryTimings& timings) {
  if (spec.stacks < 1) {
    throw UserError(
        "device.hbm.stacks: not stated, and the bank model needs the number of stacks of " +
        timings.id + "; --set device.hbm.stacks=4");
  }
  BankedMemory memory;
  memory.timings = timings;
  memory.bandwidth = spec.bandwidth;
  const double channels = 1.0 * spec.stacks * timings.channels;
  memory.pseudo_channels = channels * timings.pseudo_channels;
  // Whole gigabits for each channel: the capacity is what drivers report, who keep a little of it.
  const double gigabits = std::ceil(spec.capacity.value() / channels / kGigabit);
  memory.refresh_time = refresh_time(timings, gigabits);
  return memory;
}

BankTime& BankTime::operator+=(const BankTime& other) {
  transfer += other.transfer;
  rows += other.rows;
  turnaround += other.turnaround;
  refresh += other.refresh;
  return *this;
}

BankTime bank_time(const BankedMemory& memory, Bytes bytes, Bytes run, double turns) {
  const MemoryTimings& t = memory.timings;
  const double length = std::max(1.0, std::min(run.value(), bytes.value()));
  const double whole = std::ceil(length / t.burst.value()) * t.burst.value();
  BankTime time;
  time.transfer = bytes * (whole / length) / memory.bandwidth;
  // What a pseudo-channel reads from one row before it needs the next.
  const double piece = std::min(whole, t.interleave.value());
  const double from_row = std::min(std::max(whole / memory.pseudo_channels, piece), t.row.value());
  const Seconds read = Bytes(from_row) / (memory.bandwidth / memory.pseudo_channels);
  const Seconds opened =
      std::max({t.activates, t.four_activates / 4.0, t.row_cycle / (1.0 * t.banks)});
  time.rows = time.transfer * std::max(0.0, opened / read - 1);
  time.turnaround = turns / 2 * (t.read_to_write + t.write_to_read);
  const double lost = memory.refresh_time / t.refresh_interval;
  time.refresh = (time.transfer + time.rows + time.turnaround) * (lost / (1 - lost));
  return time;
}

double turns_beside(const BankedMemory& memory, Bytes bytes) {
  return 2 * std::ceil(bytes / (memory.timings.turn_batch * memory.pseudo_channels));
}

}  // namespace foretell

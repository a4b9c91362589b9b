#include "model/components/gpu/memory_port.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Where a memory does not say how large it is; what is asked of it lies within.
constexpr std::uint64_t kAddressSpan = std::uint64_t{1} << 33U;
constexpr double kSame = 0.999;  // of what an idle memory takes: rounding

}  // namespace

MemoryPort::MemoryPort(const sc_core::sc_module_name& name, BytesPerSecond peak)
    : sc_module(name), socket("socket"), peak_(peak) {}

MemoryPort::Answer MemoryPort::ask(Bytes bytes, BytesPerSecond rate, const Speaker& speaker) {
  FORETELL_CHECK(rate > BytesPerSecond(0), "bytes without a rate");
  MemoryAccess access;
  access.bytes =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(bytes.value())));
  access.address = next_address_;
  next_address_ = (next_address_ + access.bytes) % kAddressSpan;
  access.occupied = std::max(1.0, std::round(bytes.value() * (peak_ / rate)));
  const Ticks now = now_ticks();
  const Ticks passed = path_.pass(*socket.operator->(), socket.name(), access, 0, speaker);
  const bool idle = free_at_ <= now;
  Answer answer;
  answer.held = std::max<Ticks>(0, now + passed - std::max(now, free_at_));
  answer.alone = answer.held;
  free_at_ = std::max(free_at_, now + passed);
  if (idle) {
    per_byte_ = static_cast<double>(passed) / static_cast<double>(access.bytes);
    per_held_byte_ = static_cast<double>(passed) / access.occupied;
    return answer;
  }
  const double shown =
      std::min({static_cast<double>(passed), per_byte_ * static_cast<double>(access.bytes),
                per_held_byte_ * access.occupied});
  if (static_cast<double>(answer.held) < kSame * shown) answer.alone = std::llround(shown);
  return answer;
}

}  // namespace foretell

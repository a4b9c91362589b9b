#include "model/components/neuron/dma.hpp"

#include <algorithm>
#include <functional>

#include "model/components/shared/memory_access.hpp"
#include "model/timing/neuron/instruction_work.hpp"
#include "model/timing/neuron/neuron_timing.hpp"

namespace foretell {
namespace {

// Where a memory does not say how large it is; what is asked of it lies within.
constexpr std::uint64_t kAddressSpan = std::uint64_t{1} << 33U;

}  // namespace

DmaEngines::DmaEngines(const sc_core::sc_module_name& name, const DmaSpec& spec,
                       double rate_fraction, ProgramShared& shared)
    : sc_module(name),
      hbm("hbm"),
      spec_(spec),
      rate_fraction_(rate_fraction),
      start_latency_(to_ticks(spec.start_latency)),
      shared_(shared),
      rings_(shared.program.ring_count()),
      occupancy_(static_cast<std::size_t>(spec.engines)),
      last_ring_(rings_.empty() ? 0 : rings_.size() - 1),
      wake_("due") {
  for (std::size_t r = 0; r < rings_.size(); ++r) {
    rings_[r].owner = this;
    rings_[r].index = r;
    rings_[r].ready_at.reserve(transfers(r).size());
    times(r).resize(transfers(r).size());
  }
  SC_METHOD(service);
  sensitive << wake_;
  dont_initialize();
}

bool DmaEngines::finished(std::size_t ring) const {
  return rings_[ring].completed == transfers(ring).size();
}

void DmaEngines::issue(std::size_t index) {
  RingState& ring = rings_[index];
  const std::vector<Transfer>& pending = transfers(index);
  const Ticks now = now_ticks();
  while (ring.next < pending.size()) {
    const Transfer& transfer = pending[ring.next];
    const auto readiness = shared_.semaphores.check(
        shared_.program.waits.data() + transfer.first_wait, transfer.wait_count);
    if (!readiness.ready) {
      shared_.semaphores.notify(readiness.blocked_on, readiness.threshold, ring);
      break;
    }
    const Ticks at = std::max({readiness.at, ring.last_issue, now});
    const bool waited = readiness.at > ring.last_issue;
    ring.last_issue = at;
    const auto number = static_cast<std::uint32_t>(ring.next);
    const auto queue = static_cast<std::int32_t>(static_cast<std::size_t>(kEngineCount) + index);
    times(index)[number].cause =
        waited || number == 0 ? readiness.cause : EntryRef{queue, number - 1};
    ring.ready_at.push_back(at + start_latency_);
    ++ring.next;
  }
  if (!serving_) schedule_wake(now);
}

void DmaEngines::service() {
  const Ticks now = now_ticks();
  serving_ = true;
  wake_at_ = -1;
  while (!in_flight_.empty() && in_flight_.top().time <= now) {
    const InFlight done = in_flight_.top();
    in_flight_.pop();
    complete(done);
  }
  while (occupancy_.first_free() <= now) {
    RingState* const ring = due_ring(now);
    if (ring == nullptr) break;
    begin(*ring, now);
  }
  serving_ = false;
  schedule_wake(now);
}

DmaEngines::RingState* DmaEngines::due_ring(Ticks now) {
  for (std::size_t turn = 1; turn <= rings_.size(); ++turn) {
    RingState& ring = rings_[(last_ring_ + turn) % rings_.size()];
    if (ring.waiting() && ring.head() <= now) return &ring;
  }
  return nullptr;
}

void DmaEngines::begin(RingState& ring, Ticks now) {
  const auto index = static_cast<std::uint32_t>(ring.begun);
  const Transfer& transfer = transfers(ring.index)[index];
  Ticks end = occupy_engines(transfer, now);
  if (transfer.direction != TransferDirection::kOnChip) {
    const Ticks memory_end = pass_hbm(transfer, ring.index, index, now);
    if (memory_end > end) {  // the memory is the slower one: the engines stay occupied
      shared_.execution.dma_busy +=
          (memory_end - end) * static_cast<Ticks>(occupancy_.taken()) / spec_.engines;
      end = memory_end;
      occupancy_.hold_until(end);
    }
  }
  if (transfer.op >= 0) {
    count_transfer(transfer,
                   shared_.execution.operators[static_cast<std::size_t>(transfer.op)].work);
  }
  end = std::max(end, ring.last_end);  // a ring completes in order
  ring.last_end = end;
  EntryTimes& execution = times(ring.index)[index];
  execution.begin = now;
  execution.end = end;
  if (now > ring.head()) execution.cause = last_begun_;  // it was the engines that were occupied
  last_begun_ = {static_cast<std::int32_t>(static_cast<std::size_t>(kEngineCount) + ring.index),
                 index};
  last_ring_ = ring.index;
  ++ring.begun;
  const InFlight ends{end, ring.index, index};
  if (transfer.signal == kNoSemaphore || shared_.semaphores.known_ahead(transfer.signal)) {
    complete(ends);  // whoever waits for it knows when: no event
  } else {
    in_flight_.push(ends);
  }
}

Ticks DmaEngines::occupy_engines(const Transfer& transfer, Ticks now) {
  const Seconds time = descriptor_time(spec_, engine_bytes(spec_, transfer), rate_fraction_);
  const Ticks descriptor = descriptor_ticks_.of(time.value() * kTicksPerSecond);
  shared_.execution.dma_busy +=
      static_cast<Ticks>(transfer.descriptors) * descriptor / spec_.engines;
  return occupancy_.occupy(transfer.descriptors, descriptor, now);
}

Ticks DmaEngines::pass_hbm(const Transfer& transfer, std::size_t ring, std::size_t index,
                           Ticks now) {
  const bool load = transfer.direction == TransferDirection::kLoad;
  MemoryAccess access;
  access.command = load ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
  access.bytes = transfer.bytes();
  access.address = transfer.hbm_address;
  if (access.address == 0) {  // not stated: one tensor after the other
    access.address = next_address_;
    next_address_ = (next_address_ + transfer.bytes()) % kAddressSpan;
  }
  const auto place = [&] {
    return shared_.program.place(static_cast<std::size_t>(kEngineCount) + ring, index);
  };
  const Speaker speaker{std::cref(place)};  // which a std::function holds without allocating
  const Ticks end = now + path_.pass(*hbm.operator->(), hbm.name(), access, 0, speaker);
  (load ? shared_.execution.loaded_bytes : shared_.execution.stored_bytes) += transfer.bytes();
  return end;
}

void DmaEngines::complete(const InFlight& done) {
  const Transfer& transfer = transfers(done.ring)[done.index];
  ++rings_[done.ring].completed;
  shared_.execution.end = std::max(shared_.execution.end, done.time);
  if (transfer.signal != kNoSemaphore) {
    const auto queue =
        static_cast<std::int32_t>(static_cast<std::size_t>(kEngineCount) + done.ring);
    shared_.semaphores.raise(transfer.signal, done.time, {queue, done.index});
  }
}

void DmaEngines::schedule_wake(Ticks now) {
  Ticks next = -1;
  const auto consider = [&next](Ticks time) { next = next < 0 ? time : std::min(next, time); };
  if (!in_flight_.empty()) consider(in_flight_.top().time);
  for (const RingState& ring : rings_) {
    if (ring.waiting()) consider(std::max(ring.head(), occupancy_.first_free()));
  }
  if (next < 0 || next == wake_at_) return;
  wake_at_ = next;
  wake_.notify(to_sc_time(std::max<Ticks>(0, next - now)));
}

}  // namespace foretell

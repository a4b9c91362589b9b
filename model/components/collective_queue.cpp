#include "model/components/collective_queue.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {

CollectiveQueue::CollectiveQueue(const sc_core::sc_module_name& name, const CollectiveSeat& seat,
                                 CoreShared& shared)
    : sc_module(name), seat_(seat), shared_(shared), due_("due") {
  FORETELL_CHECK(seat_.network != nullptr || queue().empty(),
                 "a core with collectives needs a network");
  shared_.execution.collectives.reserve(queue().size());
  SC_METHOD(advance);
  sensitive << due_;
  dont_initialize();
}

void CollectiveQueue::advance() {
  if (joined_ || next_ == queue().size()) return;
  const Collective& collective = queue()[next_];
  const auto readiness = shared_.semaphores.check(
      shared_.program.waits.data() + collective.first_wait, collective.wait_count);
  if (!readiness.ready) {
    shared_.semaphores.notify(readiness.blocked_on, readiness.threshold, *this);
    return;
  }
  const Ticks now = now_ticks();
  if (readiness.at > now) {
    due_.notify(to_sc_time(readiness.at - now));
    return;
  }
  const bool waited = next_ == 0 || readiness.at >= shared_.execution.collectives.back().end;
  const EntryRef previous{number(), static_cast<std::uint32_t>(next_) - 1};
  shared_.execution.collectives.push_back({now, now, waited ? readiness.cause : previous});
  joined_ = true;
  seat_.network->join(seat_.rank, static_cast<std::uint32_t>(next_), collective, *this);
}

void CollectiveQueue::collective_done() {
  const Ticks now = now_ticks();
  Execution& execution = shared_.execution.collectives.back();
  execution.end = now;
  shared_.execution.collective_busy += now - execution.begin;
  shared_.execution.end = std::max(shared_.execution.end, now);
  const std::uint16_t signal = queue()[next_].signal;
  const auto index = static_cast<std::uint32_t>(next_++);
  joined_ = false;
  if (signal != kNoSemaphore) shared_.semaphores.raise(signal, now, {number(), index});
  advance();
}

}  // namespace foretell

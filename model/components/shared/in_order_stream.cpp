#include "model/components/shared/in_order_stream.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/components/shared/simulation_context.hpp"

namespace foretell {

InOrderStream::InOrderStream(const sc_core::sc_module_name& name, std::size_t stream,
                             ProgramShared& shared)
    : sc_module(name),
      stream_(stream),
      shared_(shared),
      size_(shared.program.streams[stream].size()),
      due_("due") {
  times().reserve(size_);
  SC_METHOD(advance);
  sensitive << due_;
  dont_initialize();
}

void InOrderStream::start() {
  free_at_ = now_ticks();
  advance();
}

void InOrderStream::advance() {
  if (running_ || finished()) return;
  const EntryLinks links = shared_.program.links(stream_, next_);
  const auto readiness =
      shared_.semaphores.check(shared_.program.waits.data() + links.first_wait, links.wait_count);
  if (!readiness.ready) {
    shared_.semaphores.notify(readiness.blocked_on, readiness.threshold, *this);
    return;
  }
  const Ticks now = now_ticks();
  if (readiness.at > now) {
    due_.notify(to_sc_time(readiness.at - now));
    return;
  }
  check_length(now);
  const bool waited = next_ == 0 || readiness.at >= times().back().end;
  const EntryRef previous{static_cast<std::int32_t>(stream_),
                          static_cast<std::uint32_t>(next_) - 1};
  times().push_back({now, now, waited ? readiness.cause : previous});
  shared_.execution.stalled[stream_] += now - free_at_;
  running_ = true;
  begin_entry(next_);
}

OperatorActivity* InOrderStream::activity() {
  const std::int32_t op = shared_.program.links(stream_, next_).op;
  return op < 0 ? nullptr : &shared_.execution.operators[static_cast<std::size_t>(op)];
}

void InOrderStream::check_length(Ticks now) const {
  if (now <= to_ticks(kLongestCall)) return;
  fail_simulation(shared_.program.place(stream_, next_) + ": the call lasts more than the " +
                  std::to_string(std::llround(kLongestCall.value())) +
                  " s that a simulation counts; lower the batch or the lengths, or set a faster "
                  "machine");
}

void InOrderStream::end_entry() {
  const Ticks now = now_ticks();
  check_length(now);
  EntryTimes& entry = times().back();
  entry.end = now;
  free_at_ = now;
  shared_.execution.busy[stream_] += now - entry.begin;
  shared_.execution.end = std::max(shared_.execution.end, now);
  const std::uint16_t signal = shared_.program.links(stream_, next_).signal;
  const auto index = static_cast<std::uint32_t>(next_++);
  running_ = false;
  if (signal != kNoSemaphore) {
    shared_.semaphores.raise(signal, now, {static_cast<std::int32_t>(stream_), index});
  }
  advance();
}

}  // namespace foretell

#include "model/components/shared/semaphores.hpp"

namespace foretell {

void Semaphores::raise(std::uint16_t semaphore, Ticks time, EntryRef source) {
  Semaphore& s = semaphores_[semaphore];
  s.raises.push_back({time, source});
  const auto value = static_cast<std::uint32_t>(s.raises.size());
  for (std::size_t i = 0; i < s.registrations.size();) {
    if (s.registrations[i].threshold > value) {
      ++i;
      continue;
    }
    SemaphoreWaiter* waiter = s.registrations[i].waiter;
    s.registrations[i] = s.registrations.back();
    s.registrations.pop_back();
    waiter->semaphore_reached();
  }
}

Semaphores::Readiness Semaphores::check(const Wait* waits, std::uint16_t count) const {
  Readiness result;
  result.ready = true;
  for (std::uint16_t w = 0; w < count; ++w) {
    const Semaphore& s = semaphores_[waits[w].semaphore];
    if (waits[w].threshold == 0) continue;
    if (s.raises.size() < waits[w].threshold) {
      result.ready = false;
      result.blocked_on = waits[w].semaphore;
      result.threshold = waits[w].threshold;
      return result;
    }
    const Raise& raise = s.raises[waits[w].threshold - 1];
    if (raise.time + latency_ > result.at) {
      result.at = raise.time + latency_;
      result.cause = raise.source;
    }
  }
  return result;
}

void Semaphores::notify(std::uint16_t semaphore, std::uint32_t threshold, SemaphoreWaiter& waiter) {
  semaphores_[semaphore].registrations.push_back({threshold, &waiter});
}

}  // namespace foretell

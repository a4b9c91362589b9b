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

void Semaphores::notify(std::uint16_t semaphore, std::uint32_t threshold, SemaphoreWaiter& waiter) {
  semaphores_[semaphore].registrations.push_back({threshold, &waiter});
}

}  // namespace foretell

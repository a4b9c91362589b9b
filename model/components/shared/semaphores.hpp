// The semaphores of one core. Each counts up; a queue that needs a threshold registers itself and
// is told at the moment the count arrives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/components/shared/execution.hpp"

namespace foretell {

class SemaphoreWaiter {
 public:
  virtual ~SemaphoreWaiter() = default;
  // The awaited threshold has been reached; called once per registration, inside raise().
  virtual void semaphore_reached() = 0;
};

class Semaphores {
 public:
  // `latency`: from the end of the raising entry until another queue sees the count.
  Semaphores(std::size_t count, Ticks latency) : semaphores_(count), latency_(latency) {}

  // Adds one at time `now` on behalf of `source`, which becomes the cause of whoever waited.
  void raise(std::uint16_t semaphore, Ticks now, EntryRef source);

  struct Readiness {
    bool ready = false;
    Ticks at = 0;                  // when ready: the last threshold became visible
    EntryRef cause;                // who raised it
    std::uint16_t blocked_on = 0;  // when not ready: the first semaphore that is short
    std::uint32_t threshold = 0;
  };
  // Looks at `count` waits; does not register.
  Readiness check(const Wait* waits, std::uint16_t count) const;

  // `waiter` is told once when `semaphore` reaches `threshold`, which it has not yet.
  void notify(std::uint16_t semaphore, std::uint32_t threshold, SemaphoreWaiter& waiter);

  std::uint32_t value(std::uint16_t semaphore) const {
    return static_cast<std::uint32_t>(semaphores_[semaphore].raises.size());
  }

 private:
  struct Raise {
    Ticks time;
    EntryRef source;
  };
  struct Registration {
    std::uint32_t threshold;
    SemaphoreWaiter* waiter;
  };
  struct Semaphore {
    std::vector<Raise> raises;
    std::vector<Registration> registrations;
  };

  std::vector<Semaphore> semaphores_;
  Ticks latency_;
};

}  // namespace foretell

// The semaphores of one core. Each counts up; a queue that needs a threshold registers itself and
// is notified when the time of its arrival is known: for semaphores that one stream raises, in
// order, that is as soon as the end of the entry is known, which spares an event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/components/shared/execution.hpp"

namespace foretell {

class SemaphoreWaiter {
 public:
  virtual ~SemaphoreWaiter() = default;
  // It is known when the awaited threshold is reached, now or later; called once per registration,
  // inside raise().
  virtual void semaphore_reached() = 0;
};

class Semaphores {
 public:
  // `latency`: from the end of the raising entry until another queue sees the count.
  // `in_order`: by semaphore, whether one stream raises it.
  Semaphores(std::vector<bool> in_order, Ticks latency)
      : semaphores_(in_order.size()),
        in_order_(std::move(in_order)),
        all_in_order_(std::find(in_order_.begin(), in_order_.end(), false) == in_order_.end()),
        latency_(latency) {}

  // May a time that lies ahead be announced? Each call of raise() is then no earlier than the last.
  bool known_ahead(std::uint16_t semaphore) const { return in_order_[semaphore]; }

  // Does every waiter know beforehand when it becomes ready? Counts that are raised at
  // a moment are seen later then, and all others are announced ahead.
  bool all_foreseen() const { return all_in_order_ && latency_ > 0; }

  // Adds one at `time` on behalf of `source`, which becomes the cause of whoever waited. Now, or
  // later where it is known ahead.
  void raise(std::uint16_t semaphore, Ticks time, EntryRef source);

  struct Readiness {
    bool ready = false;
    Ticks at = 0;                  // when ready: the last threshold became visible
    EntryRef cause;                // who raised it
    std::uint16_t blocked_on = 0;  // when not ready: the first semaphore that is short
    std::uint32_t threshold = 0;
  };
  // Looks at `count` waits; does not register.
  Readiness check(const Wait* waits, std::uint16_t count) const {
    Readiness result;
    result.ready = true;
    for (const Wait* wait = waits; wait != waits + count; ++wait) {
      if (wait->threshold == 0) continue;
      const std::vector<Raise>& raises = semaphores_[wait->semaphore].raises;
      if (raises.size() < wait->threshold) {
        result.ready = false;
        result.blocked_on = wait->semaphore;
        result.threshold = wait->threshold;
        return result;
      }
      const Raise& raise = raises[wait->threshold - 1];
      if (raise.time + latency_ > result.at) {
        result.at = raise.time + latency_;
        result.cause = raise.source;
      }
    }
    return result;
  }

  // `waiter` is notified once when `semaphore` reaches `threshold`, which it has not yet.
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
  std::vector<bool> in_order_;
  bool all_in_order_;
  Ticks latency_;
};

}  // namespace foretell

#include "model/timing/gpu/cta_schedule.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kTicksPerSecond = 1e15;

}  // namespace

CtaSchedule::CtaSchedule(const std::vector<CtaRun>& runs, std::int64_t slots)
    : runs_(runs), slots_(slots) {
  FORETELL_CHECK(slots > 0, "a kernel needs a slot for a thread block");
  groups_.push({0, slots});
  next_run();
}

// Moves on to the run at run_, or to the next one that has thread blocks.
void CtaSchedule::next_run() {
  while (run_ < runs_.size() && runs_[run_].count == 0) ++run_;
  if (run_ == runs_.size()) return;
  left_ = runs_[run_].count;
  duration_ = std::llround(runs_[run_].duration.value() * kTicksPerSecond);
}

CtaSchedule::Group CtaSchedule::pop_earliest() {
  Group group = groups_.top();
  groups_.pop();
  while (!groups_.empty() && groups_.top().time == group.time) {
    group.slots += groups_.top().slots;
    groups_.pop();
  }
  return group;
}

void CtaSchedule::step() {
  FORETELL_CHECK(!all_issued(), "no thread block is left to place");
  ++steps_;
  Group group = pop_earliest();
  const std::int64_t waves = group.slots == slots_ ? left_ / slots_ : 0;
  std::int64_t issued = 0;
  if (waves > 0) {
    issued = waves * slots_;
    group.time += waves * duration_;
    drain_ = group.time;
    makespan_ = std::max(makespan_, group.time);
    groups_.push(group);
  } else {
    issued = std::min(group.slots, left_);
    drain_ = group.time;
    makespan_ = std::max(makespan_, group.time + duration_);
    groups_.push({group.time + duration_, issued});
    if (issued < group.slots) groups_.push({group.time, group.slots - issued});
  }
  busy_ += issued * duration_;
  left_ -= issued;
  if (left_ == 0) {
    ++run_;
    next_run();
  }
}

Seconds cta_makespan(const std::vector<CtaRun>& runs, std::int64_t slots) {
  CtaSchedule schedule(runs, slots);
  while (!schedule.all_issued()) schedule.step();
  return Seconds(static_cast<double>(schedule.makespan()) / kTicksPerSecond);
}

}  // namespace foretell

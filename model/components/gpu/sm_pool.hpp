// The SMs of a GPU and the scheduler that gives them thread blocks.
//
// Thread blocks of one kernel at a time. The module wakes when SMs become free together, places
// what they take at once (model/timing/gpu/cta_schedule.hpp), and notifies `drained` when the last
// thread block ends. Thread blocks like those of a grid before are not placed again.
#pragma once

#include <memory>
#include <systemc>

#include "model/components/shared/known_times.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/program/gpu_kernel.hpp"
#include "model/timing/gpu/cta_schedule.hpp"

namespace foretell {

class SmPool : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(SmPool);
  // `exact`: equal thread blocks are placed again and again.
  SmPool(const sc_core::sc_module_name& name, int sms, bool exact);

  sc_core::sc_event drained;

  // Starts the thread blocks of a grid now; it has some, and none are left of the one before.
  // The grid outlives its thread blocks.
  void start(const Grid& grid);

  Ticks busy() const { return busy_; }  // SMs x time with work
  std::uint64_t activations() const { return activations_; }

 private:
  void place();  // SC_METHOD

  int sms_;
  Ticks begin_ = 0;
  std::unique_ptr<CtaSchedule> schedule_;
  sc_core::sc_event wake_;
  Ticks busy_ = 0;
  Ticks busy_before_ = 0;  // the grid at hand
  KnownTimes known_;
  KnownTimes::Key key_;
  int ctas_per_sm_ = 1;
  std::uint64_t activations_ = 0;
};

}  // namespace foretell

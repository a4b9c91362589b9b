// The SMs of a GPU and the scheduler that gives them thread blocks.
//
// Thread blocks of one kernel at a time. The module wakes when SMs become free together, places
// what they take at once (model/timing/cta_schedule.hpp), and notifies `drained` when the last
// thread block ends.
#pragma once

#include <memory>
#include <systemc>

#include "model/components/ticks.hpp"
#include "model/program/gpu_kernel.hpp"
#include "model/timing/cta_schedule.hpp"

namespace foretell {

class SmPool : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(SmPool);
  SmPool(const sc_core::sc_module_name& name, int sms);

  sc_core::sc_event drained;

  // Starts the thread blocks of a kernel now; it has some, and none are left of the one before.
  // The kernel outlives its thread blocks.
  void start(const GpuKernel& kernel);

  Ticks busy() const { return busy_; }  // SMs x time with work
  std::uint64_t activations() const { return activations_; }

 private:
  void place();  // SC_METHOD

  int sms_;
  Ticks begin_ = 0;
  std::unique_ptr<CtaSchedule> schedule_;
  sc_core::sc_event wake_;
  Ticks busy_ = 0;
  int ctas_per_sm_ = 1;
  std::uint64_t activations_ = 0;
};

}  // namespace foretell

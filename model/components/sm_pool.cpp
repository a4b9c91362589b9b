#include "model/components/sm_pool.hpp"

#include "model/base/errors.hpp"

namespace foretell {

SmPool::SmPool(const sc_core::sc_module_name& name, int sms) : sc_module(name), sms_(sms) {
  SC_METHOD(place);
  sensitive << wake_;
  dont_initialize();
}

void SmPool::start(const GpuKernel& kernel) {
  FORETELL_CHECK(schedule_ == nullptr, "the SMs still run another kernel");
  FORETELL_CHECK(!kernel.ctas.empty(), "a kernel without thread blocks needs no SM");
  begin_ = now_ticks();
  ctas_per_sm_ = kernel.ctas_per_sm;
  schedule_ =
      std::make_unique<CtaSchedule>(kernel.ctas, static_cast<std::int64_t>(sms_) * ctas_per_sm_);
  place();
}

void SmPool::place() {
  ++activations_;
  while (!schedule_->all_issued() && begin_ + schedule_->next_time() == now_ticks()) {
    schedule_->step();
  }
  if (!schedule_->all_issued()) {
    wake_.notify(to_sc_time(begin_ + schedule_->next_time() - now_ticks()));
    return;
  }
  drained.notify(to_sc_time(begin_ + schedule_->makespan() - now_ticks()));
  busy_ += schedule_->busy() / ctas_per_sm_;
  schedule_.reset();
}

}  // namespace foretell

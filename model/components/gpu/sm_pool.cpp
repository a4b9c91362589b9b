#include "model/components/gpu/sm_pool.hpp"

#include <utility>

#include "model/base/errors.hpp"

namespace foretell {

namespace {

KnownTimes::Key key_of_blocks(const Grid& grid) {
  KnownTimes::Key key;
  key.reserve(1 + 2 * grid.ctas.size());
  key.push_back(grid.ctas_per_sm);
  for (const CtaRun& run : grid.ctas) {
    key.push_back(static_cast<double>(run.count));
    key.push_back(run.duration.value());
  }
  return key;
}

}  // namespace

SmPool::SmPool(const sc_core::sc_module_name& name, int sms, bool exact)
    : sc_module(name), sms_(sms), known_(!exact) {
  SC_METHOD(place);
  sensitive << wake_;
  dont_initialize();
}

void SmPool::start(const Grid& grid) {
  FORETELL_CHECK(schedule_ == nullptr, "the SMs still run another grid");
  FORETELL_CHECK(!grid.ctas.empty(), "a grid without thread blocks needs no SM");
  if (known_.enabled()) {
    key_ = key_of_blocks(grid);
    if (const KnownTimes::Known* const known = known_.find(key_)) {
      busy_ += known->busy;
      drained.notify(to_sc_time(known->time));
      return;
    }
  }
  begin_ = now_ticks();
  busy_before_ = busy_;
  ctas_per_sm_ = grid.ctas_per_sm;
  schedule_ =
      std::make_unique<CtaSchedule>(grid.ctas, static_cast<std::int64_t>(sms_) * ctas_per_sm_);
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
  known_.add(std::move(key_), {schedule_->makespan(), busy_ - busy_before_});
  schedule_.reset();
}

}  // namespace foretell

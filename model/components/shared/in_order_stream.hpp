// A stream whose entries run one at a time and in order: each waits for its semaphores, begins, and
// signals when the module says that it has ended.
#pragma once

#include <systemc>

#include "model/components/shared/stream_module.hpp"

namespace foretell {

class InOrderStream : public sc_core::sc_module, public StreamModule, public SemaphoreWaiter {
 public:
  SC_HAS_PROCESS(InOrderStream);
  InOrderStream(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& shared);

  void start() override;
  bool finished() const override { return next_ == size_; }
  std::size_t position() const override { return next_; }
  void semaphore_reached() override { advance(); }

 protected:
  // Entry number `index` begins now; end_entry() follows when it has ended.
  virtual void begin_entry(std::size_t index) = 0;
  void end_entry();

  bool running() const { return running_; }  // an entry has begun and not ended
  Ticks began() const { return times().back().begin; }
  ProgramShared& shared() { return shared_; }
  std::size_t stream() const { return stream_; }
  // What the running entry is counted for; nullptr: it belongs to no operator.
  OperatorActivity* activity();

 private:
  void advance();  // SC_METHOD: begins the head once its semaphores are visible
  void check_length(Ticks now) const;
  std::vector<EntryTimes>& times() { return shared_.execution.entries[stream_]; }
  const std::vector<EntryTimes>& times() const { return shared_.execution.entries[stream_]; }

  std::size_t stream_;
  ProgramShared& shared_;
  std::size_t size_;
  std::size_t next_ = 0;
  bool running_ = false;
  Ticks free_at_ = 0;  // start, or end of the entry before
  sc_core::sc_event due_;
};

}  // namespace foretell

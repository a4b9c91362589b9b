// The collectives of one core, in order and one at a time: each waits for its semaphores, joins
// the network and signals when the network says that it is done.
#pragma once

#include <systemc>

#include "model/components/collective_network.hpp"
#include "model/components/engine.hpp"

namespace foretell {

class CollectiveQueue final : public sc_core::sc_module,
                              public SemaphoreWaiter,
                              public CollectiveMember {
 public:
  SC_HAS_PROCESS(CollectiveQueue);
  CollectiveQueue(const sc_core::sc_module_name& name, const CollectiveSeat& seat,
                  CoreShared& shared);

  void start() { advance(); }
  bool finished() const { return next_ == queue().size(); }
  // Collectives completed so far; the head of the queue when it is blocked.
  std::size_t position() const { return next_; }
  bool joined() const { return joined_; }  // waits for other members, not for a semaphore

  void semaphore_reached() override { advance(); }
  void collective_done() override;

 private:
  void advance();  // SC_METHOD: joins the head once its semaphores are visible

  const std::vector<Collective>& queue() const { return shared_.program.collectives; }
  std::int32_t number() const {
    return static_cast<std::int32_t>(shared_.program.collective_queue());
  }

  CollectiveSeat seat_;
  CoreShared& shared_;
  std::size_t next_ = 0;
  bool joined_ = false;
  sc_core::sc_event due_;
};

}  // namespace foretell

// The collectives of one core or GPU, in order and one at a time: each waits for its semaphores,
// joins the network and signals when the network says that it is done.
#pragma once

#include <systemc>

#include "model/components/neuron/collective_network.hpp"
#include "model/components/shared/in_order_stream.hpp"

namespace foretell {

class CollectiveQueue final : public InOrderStream, public CollectiveMember {
 public:
  SC_HAS_PROCESS(CollectiveQueue);
  CollectiveQueue(const sc_core::sc_module_name& name, const CollectiveSeat& seat,
                  std::size_t stream, ProgramShared& shared);

  std::string waits_for() const override;
  void collective_done() override;

 private:
  void begin_entry(std::size_t index) override;
  void join();  // SC_METHOD: after the launch
  const Collective& head() const { return queue_[position()]; }

  CollectiveSeat seat_;
  const std::vector<Collective>& queue_;
  sc_core::sc_event launched_;
};

}  // namespace foretell

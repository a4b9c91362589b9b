// A group whose cores run the same program in lock step, seen from one of them: a collective takes
// as long as it was found to take on the whole topology, and its memory traffic passes the HBM of
// the device meanwhile; where others keep the HBM so busy that the traffic takes longer, so does
// the collective.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <map>
#include <systemc>
#include <vector>

#include "model/components/neuron/collective_network.hpp"
#include "model/components/shared/memory_access.hpp"
#include "model/components/shared/ticks.hpp"

namespace foretell {

// A collective on an otherwise idle system.
struct CollectiveCost {
  Ticks duration = 0;
  std::uint64_t hbm_read = 0;  // bytes, per core
  std::uint64_t hbm_written = 0;
};
using CollectiveCostTable = std::map<CollectiveShape, CollectiveCost>;

class LockstepNetwork : public sc_core::sc_module, public CollectiveNetwork {
 public:
  SC_HAS_PROCESS(LockstepNetwork);
  // `costs` has every collective that will be joined, and outlives the network.
  LockstepNetwork(const sc_core::sc_module_name& name, const CollectiveCostTable& costs);

  tlm_utils::simple_initiator_socket<LockstepNetwork> hbm;

  void join(int rank, std::uint32_t index, const Collective& collective,
            CollectiveMember& member) override;

 private:
  void advance();  // SC_METHOD: the next burst of memory traffic, or the end
  Ticks access(tlm::tlm_command command, std::uint64_t bytes);

  const CollectiveCostTable& costs_;
  MemoryPath path_;
  const CollectiveCost* cost_ = nullptr;
  CollectiveMember* member_ = nullptr;
  std::uint64_t bursts_ = 0;
  std::uint64_t done_ = 0;  // bursts
  sc_core::sc_event due_;
};

}  // namespace foretell

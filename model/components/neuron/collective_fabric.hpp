// All devices of a group, or those that route for it, with the links between them: the network on
// which every rank runs its own part of a collective. Between instances these are links to the
// neighbour, or one from each device to the network and one back, at its share of the rate of its
// instance: every adapter stands at a device of its own.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/components/neuron/collective_unit.hpp"
#include "model/components/shared/execution.hpp"
#include "model/components/shared/memory.hpp"

namespace foretell {

class CollectiveFabric : public sc_core::sc_module, public CollectiveNetwork {
 public:
  // `system` outlives the fabric.
  CollectiveFabric(const sc_core::sc_module_name& name, const NeuronSystemSpec& system,
                   const NeuronFactors& factors, int ranks, DeviceOrder order = DeviceOrder::kRing);

  // Gives the device at `position` of the placement its memory; every one needs one before the
  // simulation starts.
  void bind_memory(int position, Memory& hbm);

  void join(int rank, std::uint32_t index, const Collective& collective,
            CollectiveMember& member) override;

  const Topology& topology() const { return topology_; }
  const RankPlacement& placement() const { return placement_; }
  // Every direction of every link; -1 is the network.
  std::vector<LinkTraffic> traffic() const;
  const CollectiveUnit& unit(int device) const { return *units_[static_cast<std::size_t>(device)]; }

 private:
  CollectiveUnit& unit_of(int rank);

  RankPlacement placement_;
  Topology topology_;
  std::vector<std::unique_ptr<CollectiveUnit>> units_;  // by device, then the network
  std::vector<std::unique_ptr<NeuronLink>> links_;      // as in the topology
};

}  // namespace foretell

#include "model/components/neuron/collective_fabric.hpp"

#include <algorithm>
#include <string>

#include "calib/fitted/neuron/neuron_factors.hpp"

namespace foretell {
namespace {

LinkSpec link_between(const NeuronSystemSpec& system, const NeuronFactors& factors, LinkKind kind,
                      bool to_network) {
  LinkSpec link = system.device.link;
  if (kind == LinkKind::kNeighbour) link.bandwidth = system.neighbour_bandwidth;
  if (kind == LinkKind::kNetwork) {
    link.bandwidth = system.network / system.devices_of_instance();
    // With the rest of a step, which its receiver adds, the way there and back takes the hop.
    const Seconds more = system.network_hop - (hop_latency(system.device, factors) - link.latency);
    link.latency = to_network ? std::max(Seconds(0), more) : Seconds(0);
  }
  return link;
}

}  // namespace

CollectiveFabric::CollectiveFabric(const sc_core::sc_module_name& name,
                                   const NeuronSystemSpec& system, const NeuronFactors& factors,
                                   int ranks, DeviceOrder order)
    : sc_module(name), placement_(system, ranks, order), topology_(system, placement_.instances()) {
  const CollectiveTiming timing = collective_timing(system.device, factors);
  for (int d = 0; d < topology_.places(); ++d) {
    const std::string unit_name = d == topology_.network() ? "network" : "chip" + std::to_string(d);
    units_.push_back(std::make_unique<CollectiveUnit>(
        unit_name.c_str(), d, timing, system.device.collective, topology_, placement_));
  }
  for (std::size_t l = 0; l < topology_.links().size(); ++l) {
    const LinkEnds& ends = topology_.links()[l];
    const std::string link_name =
        "link" + std::to_string(ends.from) + "_" + std::to_string(ends.to);
    links_.push_back(std::make_unique<NeuronLink>(
        link_name.c_str(),
        link_between(system, factors, ends.kind, ends.to == topology_.network())));
    units_[static_cast<std::size_t>(ends.from)]->connect(static_cast<int>(l), *links_.back());
    links_.back()->out.bind(units_[static_cast<std::size_t>(ends.to)]->in);
  }
}

CollectiveUnit& CollectiveFabric::unit_of(int rank) {
  return *units_[static_cast<std::size_t>(placement_.device(rank))];
}

void CollectiveFabric::bind_memory(int position, Memory& hbm) {
  const int device = placement_.devices().at(static_cast<std::size_t>(position));
  units_[static_cast<std::size_t>(device)]->bind_memory(hbm);
}

void CollectiveFabric::join(int rank, std::uint32_t index, const Collective& collective,
                            CollectiveMember& member) {
  unit_of(rank).join(rank, index, collective, member);
}

std::vector<LinkTraffic> CollectiveFabric::traffic() const {
  std::vector<LinkTraffic> traffic;
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const auto place = [&](int end) { return end == topology_.network() ? -1 : end; };
    const LinkEnds& ends = topology_.links()[l];
    traffic.push_back({place(ends.from), place(ends.to), links_[l]->bytes(), links_[l]->busy()});
  }
  return traffic;
}

}  // namespace foretell

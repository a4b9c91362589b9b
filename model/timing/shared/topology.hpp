// How the devices of an instance and of several instances are linked, and in which order a ring of
// ranks runs through them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"

namespace foretell {

enum class LinkKind : std::uint8_t {
  kInside,     // of an instance
  kNeighbour,  // to the device of the same place in the next instance
  kNetwork     // from a device to the network, or back
};

// One direction of a link.
struct LinkEnds {
  int from = 0;  // device, or Topology::network()
  int to = 0;
  LinkKind kind = LinkKind::kInside;
};

enum class DeviceOrder : std::uint8_t { kRing, kLine };  // of a group; of stages of a pipeline

class Topology {
 public:
  // As NeuronSystemSpec::topology names it. Devices of "torus-4x4" are numbered row by row.
  Topology(const std::string& name, int devices);
  // The first `instances` of a system; all of them where several are a ring, which passes by.
  Topology(const NeuronSystemSpec& system, int instances);

  int devices() const { return devices_; }
  // What stands for the network: every device of several instances that meet in one has a link to
  // it and one back. As many as there are devices: there is none.
  int places() const { return places_; }
  int network() const { return devices_; }
  const std::vector<LinkEnds>& links() const { return links_; }
  // Number of the link that leads from `from` towards `to` on a shortest way; -1 on `to` itself.
  // InternalError where no way exists.
  int next_link(int from, int to) const;
  // Links on that way.
  int distance(int from, int to) const;

  // The first `count` devices in the order in which a ring visits them; more than an instance has
  // are whole instances, each in this order. Neighbours in this order,
  // the last and the first among them, are linked where the topology allows it; on an open chain
  // the ring goes out over every second device and returns over the others, so that no step
  // passes more than two links and no two neighbours share one. In a line each is linked to the
  // next, whatever the way back.
  std::vector<int> ring(int count, DeviceOrder order = DeviceOrder::kRing) const;

 private:
  void link(int a, int b, LinkKind kind = LinkKind::kInside);  // both directions
  void link_instance(int first);
  void link_instances(const NeuronSystemSpec& system);
  void find_ways();

  std::string name_;
  int devices_;      // of all instances
  int of_instance_;  // devices
  int places_;       // devices and the network
  std::vector<LinkEnds> links_;
  std::vector<std::vector<int>> next_;  // [from][to]
};

// The devices and cores that a group occupies. Rank r runs on core r mod cores-per-device of the
// device at position r / cores-per-device of the ring, or of the line.
class RankPlacement {
 public:
  RankPlacement(const NeuronSystemSpec& system, int ranks, DeviceOrder order = DeviceOrder::kRing);

  int ranks() const { return ranks_; }
  int cores_per_device() const { return cores_per_device_; }  // that take part
  const std::vector<int>& devices() const { return devices_; }
  int ranks_of_instance() const { return ranks_ / instances_; }
  int instances() const { return instances_; }
  int position(int rank) const { return rank / cores_per_device_; }
  int device(int rank) const { return devices_[static_cast<std::size_t>(position(rank))]; }

 private:
  int ranks_;
  int cores_per_device_;
  int instances_ = 1;  // that the group lies on
  std::vector<int> devices_;
};

}  // namespace foretell

// How the devices of an instance are linked, and in which order a ring of ranks runs through them.
#pragma once

#include <string>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"

namespace foretell {

// One direction of a link.
struct LinkEnds {
  int from = 0;  // device
  int to = 0;
};

class Topology {
 public:
  // As NeuronSystemSpec::topology names it. Devices of "torus-4x4" are numbered row by row.
  Topology(const std::string& name, int devices);

  int devices() const { return devices_; }
  const std::vector<LinkEnds>& links() const { return links_; }
  // Number of the link that leads from `from` towards `to` on a shortest way; -1 on `to` itself.
  // InternalError where no way exists.
  int next_link(int from, int to) const;
  // Links on that way.
  int distance(int from, int to) const;

  // The first `count` devices in the order in which a ring visits them. Neighbours in this order,
  // the last and the first among them, are linked where the topology allows it; on an open chain
  // the ring goes out over every second device and returns over the others, so that no step
  // passes more than two links and no two neighbours share one.
  std::vector<int> ring(int count) const;

 private:
  void link(int a, int b);  // both directions

  std::string name_;
  int devices_;
  std::vector<LinkEnds> links_;
  std::vector<std::vector<int>> next_;  // [from][to]
};

// The devices and cores that a tensor-parallel group occupies. Rank r runs on core r mod
// cores-per-device of the device at position r / cores-per-device of the ring.
class RankPlacement {
 public:
  RankPlacement(const NeuronSystemSpec& system, int ranks);

  int ranks() const { return ranks_; }
  int cores_per_device() const { return cores_per_device_; }  // that take part
  const std::vector<int>& devices() const { return devices_; }
  int position(int rank) const { return rank / cores_per_device_; }
  int device(int rank) const { return devices_[static_cast<std::size_t>(position(rank))]; }

 private:
  int ranks_;
  int cores_per_device_;
  std::vector<int> devices_;
};

}  // namespace foretell

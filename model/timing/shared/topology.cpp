#include "model/timing/shared/topology.hpp"

#include <algorithm>
#include <deque>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr int kTorusSide = 4;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Row by row, every second one backwards: neighbours in this order are linked, and after an even
// number of rows the last column leads back to the first row's start.
int torus_snake(int position) {
  const int row = position / kTorusSide;
  const int column = position % kTorusSide;
  return row * kTorusSide + (row % 2 == 0 ? column : kTorusSide - 1 - column);
}

}  // namespace

Topology::Topology(const std::string& name, int devices)
    : name_(name), devices_(devices), of_instance_(devices), places_(devices) {
  link_instance(0);
  find_ways();
}

Topology::Topology(const NeuronSystemSpec& system, int instances)
    : name_(system.topology), of_instance_(system.devices_of_instance()) {
  const bool is_ring = instances > 1 && system.neighbour_bandwidth > BytesPerSecond(0);
  devices_ = places_ = is_ring ? system.devices : instances * of_instance_;
  for (int first = 0; first < devices_; first += of_instance_) link_instance(first);
  if (instances > 1) link_instances(system);
  find_ways();
}

void Topology::link_instance(int first) {
  if (name_ == "torus-4x4") {
    FORETELL_CHECK(of_instance_ == kTorusSide * kTorusSide, "a torus of another size");
    for (int d = 0; d < of_instance_; ++d) {
      const int row = d / kTorusSide;
      const int column = d % kTorusSide;
      link(first + d, first + row * kTorusSide + (column + 1) % kTorusSide);
      link(first + d, first + (row + 1) % kTorusSide * kTorusSide + column);
    }
  } else {
    for (int d = 0; d + 1 < of_instance_; ++d) link(first + d, first + d + 1);
    if (name_ == "ring" && of_instance_ > 2) link(first + of_instance_ - 1, first);
  }
}

void Topology::link_instances(const NeuronSystemSpec& system) {
  if (system.neighbour_bandwidth == BytesPerSecond(0)) {
    ++places_;
    for (int d = 0; d < devices_; ++d) link(d, network(), LinkKind::kNetwork);
    return;
  }
  for (int d = 0; d + of_instance_ < devices_; ++d) link(d, d + of_instance_, LinkKind::kNeighbour);
  if (devices_ == 2 * of_instance_) return;
  for (int d = 0; d < of_instance_; ++d) link(devices_ - of_instance_ + d, d, LinkKind::kNeighbour);
}

void Topology::find_ways() {
  std::vector<std::vector<int>> leading(at(places_));  // links, by the place they end at
  for (std::size_t l = 0; l < links_.size(); ++l)
    leading[at(links_[l].to)].push_back(static_cast<int>(l));
  // Breadth first from every target, against the direction of the links. Devices of one instance
  // don't meet in the network.
  next_.assign(at(places_), std::vector<int>(at(devices_), -1));
  for (int to = 0; to < devices_; ++to) {
    std::deque<int> front = {to};
    while (!front.empty()) {
      const int reached = front.front();
      front.pop_front();
      for (const int l : leading[at(reached)]) {
        const int from = links_[at(l)].from;
        if (from == to || next_[at(from)][at(to)] >= 0) continue;
        if (reached == network() && from / of_instance_ == to / of_instance_) continue;
        next_[at(from)][at(to)] = l;
        front.push_back(from);
      }
    }
  }
}

void Topology::link(int a, int b, LinkKind kind) {
  links_.push_back({a, b, kind});
  links_.push_back({b, a, kind});
}

int Topology::next_link(int from, int to) const {
  const int next = next_.at(at(from)).at(at(to));
  FORETELL_CHECK(from == to || next >= 0, "devices that no way joins");
  return next;
}

int Topology::distance(int from, int to) const {
  int links = 0;
  for (int device = from; device != to; ++links) device = links_[at(next_link(device, to))].to;
  return links;
}

std::vector<int> Topology::ring(int count, DeviceOrder order) const {
  FORETELL_CHECK(count > 0 && count <= devices_, "more devices than there are");
  if (count > of_instance_) {
    FORETELL_CHECK(count % of_instance_ == 0, "a group that fills its instances unevenly");
    std::vector<int> all;
    for (int d = 0; d < count; d += of_instance_) {
      for (const int device : ring(of_instance_, order)) all.push_back(d + device);
    }
    return all;
  }
  const bool torus = name_ == "torus-4x4";
  std::vector<int> line(at(count));
  for (int d = 0; d < count; ++d) line[at(d)] = torus ? torus_snake(d) : d;
  if (order == DeviceOrder::kLine || distance(line.back(), line.front()) <= 1) return line;
  std::vector<int> folded;
  for (int d = 0; d < count; d += 2) folded.push_back(line[at(d)]);
  for (int d = (count - 1) | 1; d > 0; d -= 2) {
    if (d < count) folded.push_back(line[at(d)]);
  }
  return folded;
}

RankPlacement::RankPlacement(const NeuronSystemSpec& system, int ranks, DeviceOrder order)
    : ranks_(ranks), cores_per_device_(std::min(ranks, system.device.cores)) {
  FORETELL_CHECK(ranks > 0 && ranks % cores_per_device_ == 0,
                 "a group that fills its devices unevenly");
  const int devices = ranks / cores_per_device_;
  const int of_instance = system.devices_of_instance();
  instances_ = (devices + of_instance - 1) / of_instance;
  devices_ = Topology(system, instances_).ring(devices, order);
}

}  // namespace foretell

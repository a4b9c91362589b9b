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

Topology::Topology(const std::string& name, int devices) : name_(name), devices_(devices) {
  if (name == "torus-4x4") {
    FORETELL_CHECK(devices == kTorusSide * kTorusSide, "a torus of another size");
    for (int d = 0; d < devices; ++d) {
      const int row = d / kTorusSide;
      const int column = d % kTorusSide;
      link(d, row * kTorusSide + (column + 1) % kTorusSide);
      link(d, (row + 1) % kTorusSide * kTorusSide + column);
    }
  } else {
    for (int d = 0; d + 1 < devices; ++d) link(d, d + 1);
    if (name == "ring" && devices > 2) link(devices - 1, 0);
  }
  // Breadth first from every target, against the direction of the links.
  next_.assign(at(devices), std::vector<int>(at(devices), -1));
  for (int to = 0; to < devices; ++to) {
    std::deque<int> front = {to};
    while (!front.empty()) {
      const int reached = front.front();
      front.pop_front();
      for (std::size_t l = 0; l < links_.size(); ++l) {
        const LinkEnds& ends = links_[l];
        if (ends.to != reached || ends.from == to || next_[at(ends.from)][at(to)] >= 0) continue;
        next_[at(ends.from)][at(to)] = static_cast<int>(l);
        front.push_back(ends.from);
      }
    }
  }
}

void Topology::link(int a, int b) {
  links_.push_back({a, b});
  links_.push_back({b, a});
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

std::vector<int> Topology::ring(int count) const {
  FORETELL_CHECK(count > 0 && count <= devices_, "more devices than there are");
  const bool torus = name_ == "torus-4x4";
  std::vector<int> line(at(count));
  for (int d = 0; d < count; ++d) line[at(d)] = torus ? torus_snake(d) : d;
  if (distance(line.back(), line.front()) <= 1) return line;
  std::vector<int> folded;
  for (int d = 0; d < count; d += 2) folded.push_back(line[at(d)]);
  for (int d = (count - 1) | 1; d > 0; d -= 2) {
    if (d < count) folded.push_back(line[at(d)]);
  }
  return folded;
}

RankPlacement::RankPlacement(const NeuronSystemSpec& system, int ranks)
    : ranks_(ranks), cores_per_device_(std::min(ranks, system.device.cores)) {
  FORETELL_CHECK(ranks > 0 && ranks % cores_per_device_ == 0,
                 "a group that fills its devices unevenly");
  devices_ = Topology(system.topology, system.devices).ring(ranks / cores_per_device_);
}

}  // namespace foretell

// Where the cores of a tensor-parallel group meet: joined by each of them, it runs collectives.
#pragma once

#include <cstdint>

#include "model/program/collective.hpp"

namespace foretell {

class CollectiveMember {
 public:
  virtual ~CollectiveMember() = default;
  // The member's part of the collective it joined is complete: now.
  virtual void collective_done() = 0;
};

class CollectiveNetwork {
 public:
  virtual ~CollectiveNetwork() = default;
  // Rank `rank` joins its collective number `index` now; its data is ready. `member` is notified
  // once when its part is done, and joins no other before.
  virtual void join(int rank, std::uint32_t index, const Collective& collective,
                    CollectiveMember& member) = 0;
};

// The place of a core in its group.
struct CollectiveSeat {
  CollectiveNetwork* network = nullptr;  // outlives the core; none: the program has no collectives
  int rank = 0;
};

}  // namespace foretell

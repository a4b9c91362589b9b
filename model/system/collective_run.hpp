// One collective alone on the whole topology.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/components/neuron/collective_fabric.hpp"
#include "model/components/neuron/lockstep_network.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/program/collective.hpp"
#include "model/timing/shared/collective_schedule.hpp"

namespace foretell {

// UserError unless the groups of `shape` divide a copy of `ranks` cores, and each has as many, of
// the same places, in every instance that it lies on.
void require_groups(const NeuronSystemSpec& system, const CollectiveShape& shape, int ranks);

struct CollectiveExecution {
  Ticks duration = 0;              // all ranks join at once, until the last one is done
  Ticks skew = 0;                  // by which the last one was later than the first
  std::vector<LinkTraffic> links;  // every direction of every link of the system
  std::uint64_t sent = 0;          // by all ranks
  std::uint64_t received = 0;
  std::uint64_t hbm_read = 0;  // of the first device
  std::uint64_t hbm_written = 0;
};

// By a copy of `ranks` cores, all of whose groups do it at once. UserError unless the vendor allows
// copies of as many cores on this system (at least 2), groups divide them and there are bytes.
CollectiveExecution execute_collective(const NeuronSystemSpec& system, const NeuronFactors& factors,
                                       const CollectiveShape& shape, int ranks);

// What each of `ranks` cores sends at once to the core that stands `apart` places after it, devices
// in a line; both send, as in a pipeline whose stages are all busy. `apart` cores fill devices, and
// `ranks` <= `apart`. Until the last one has received it all.
struct StageMessage {
  int ranks = 1;
  int apart = 1;
  std::uint64_t bytes = 0;
};
CollectiveExecution execute_message(const NeuronSystemSpec& system, const NeuronFactors& factors,
                                    const StageMessage& message);

// Executes each different collective of a copy once. Lives longer than the simulations that use
// it; system and factors outlive it.
class CollectiveCosts {
 public:
  CollectiveCosts(const NeuronSystemSpec& system, const NeuronFactors& factors, int ranks)
      : system_(system), factors_(factors), ranks_(ranks) {}

  // Makes sure that the table has it. No simulation may be running.
  const CollectiveExecution& of(const CollectiveShape& shape);
  const CollectiveCostTable& table() const { return table_; }
  int ranks() const { return ranks_; }

 private:
  const NeuronSystemSpec& system_;
  const NeuronFactors& factors_;
  int ranks_;
  std::map<CollectiveShape, CollectiveExecution> executions_;
  CollectiveCostTable table_;
};

}  // namespace foretell

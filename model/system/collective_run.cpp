#include "model/system/collective_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/group_sizes.hpp"
#include "model/base/errors.hpp"
#include "model/components/neuron/collective_fabric.hpp"
#include "model/components/shared/simulation_context.hpp"

namespace foretell {
namespace {

// Ranks that do not end together: how many rounds the mean of a round in a row is taken from, and
// by which share of its time they must differ to make that worth it.
constexpr std::uint32_t kRoundsInARow = 9;
constexpr double kSkewThatCounts = 1e-3;

// Who runs a collective, and where.
struct Members {
  int cores = 0;           // that the devices have
  std::vector<int> ranks;  // of them
  DeviceOrder order = DeviceOrder::kRing;
};

Members all_of(int cores) {
  Members members{cores, std::vector<int>(static_cast<std::size_t>(cores))};
  std::iota(members.ranks.begin(), members.ranks.end(), 0);
  return members;
}

// Lets all members join at time 0, and again as soon as they are done until they have run `rounds`.
class Driver : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Driver);
  Driver(const sc_core::sc_module_name& name, CollectiveNetwork& network,
         const Collective& collective, const std::vector<int>& ranks, std::uint32_t rounds)
      : sc_module(name), network_(network), collective_(collective), rounds_(rounds) {
    for (const int rank : ranks) ranks_.push_back(std::make_unique<Rank>(*this, rank));
    SC_METHOD(begin);
  }

  // When the first and the last rank were done with a round.
  std::pair<Ticks, Ticks> ends(std::size_t round) const {
    std::pair<Ticks, Ticks> ends(std::numeric_limits<Ticks>::max(), 0);
    for (const auto& rank : ranks_) {
      FORETELL_CHECK(rank->ends.size() == rounds_, "a collective that does not end");
      ends.first = std::min(ends.first, rank->ends[round]);
      ends.second = std::max(ends.second, rank->ends[round]);
    }
    return ends;
  }

 private:
  struct Rank final : CollectiveMember {
    Rank(Driver& its_driver, int its_number) : driver(its_driver), number(its_number) {}
    void collective_done() override {
      ends.push_back(now_ticks());
      if (ends.size() < driver.rounds_) join();
    }
    void join() {
      driver.network_.join(number, static_cast<std::uint32_t>(ends.size()), driver.collective_,
                           *this);
    }
    Driver& driver;
    int number;
    std::vector<Ticks> ends;
  };

  void begin() {
    for (const auto& rank : ranks_) rank->join();
  }

  CollectiveNetwork& network_;
  Collective collective_;
  std::uint32_t rounds_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

Collective collective_of(const CollectiveShape& shape) {
  Collective collective;
  static_cast<CollectiveShape&>(collective) = shape;
  return collective;
}

// What one round took; of several, the mean of those after the first. Traffic is that of all.
CollectiveExecution execute_rounds(const NeuronSystemSpec& system, const NeuronFactors& factors,
                                   const Collective& collective, const Members& members,
                                   std::uint32_t rounds) {
  SimulationContext context;
  CollectiveFabric fabric("collectives", system, factors, members.cores, members.order);
  std::vector<std::unique_ptr<Memory>> memories;
  for (std::size_t p = 0; p < fabric.placement().devices().size(); ++p) {
    const std::string name = "hbm" + std::to_string(p);
    memories.push_back(make_memory(name.c_str(), system.device.hbm));
    fabric.bind_memory(static_cast<int>(p), *memories.back());
  }
  Driver driver("driver", fabric, collective, members.ranks, rounds);
  context.run();

  CollectiveExecution result;
  const auto [first, last] = driver.ends(rounds - 1);
  result.duration = rounds == 1 ? last : (last - driver.ends(0).second) / (rounds - 1);
  result.skew = last - first;
  result.links = fabric.traffic();
  for (const int device : fabric.placement().devices()) {
    result.sent += fabric.unit(device).sent_bytes();
    result.received += fabric.unit(device).received_bytes();
  }
  result.hbm_read = memories.front()->read_bytes();
  result.hbm_written = memories.front()->written_bytes();
  return result;
}

}  // namespace

CollectiveExecution execute_collective(const NeuronSystemSpec& system, const NeuronFactors& factors,
                                       const CollectiveShape& shape, int ranks) {
  require_group_size(system, ranks);
  if (ranks < 2) throw UserError("a collective needs at least 2 ranks");
  if (shape.bytes == 0)
    throw UserError("a collective of 0 bytes; state the size of the buffer of a rank");
  require_groups(system, shape, ranks);
  return execute_rounds(system, factors, collective_of(shape), all_of(ranks), 1);
}

CollectiveExecution execute_message(const NeuronSystemSpec& system, const NeuronFactors& factors,
                                    const StageMessage& message) {
  Members members{2 * message.apart, {}, DeviceOrder::kLine};
  for (int r = 0; r < message.ranks; ++r) {
    members.ranks.push_back(r);
    members.ranks.push_back(r + message.apart);
  }
  const Collective permute =
      collective_of({CollectiveKind::kPermute, message.bytes, 2, message.apart});
  return execute_rounds(system, factors, permute, members, 1);
}

void require_groups(const NeuronSystemSpec& system, const CollectiveShape& shape, int ranks) {
  const bool is_whole = shape.ranks == 0;
  const std::int64_t span = std::int64_t{shape.ranks} * shape.stride;
  if (!is_whole && (shape.ranks <= 1 || shape.stride <= 0 || ranks % span != 0)) {
    throw UserError(fmt::format("a collective among {} ranks, {} apart, does not divide {} cores",
                                shape.ranks, shape.stride, ranks));
  }
  const int of_instance = system.devices_of_instance() * system.device.cores;
  const auto divides = [](std::int64_t a, std::int64_t b) { return a % b == 0 || b % a == 0; };
  if (is_whole || ranks <= of_instance ||
      (divides(span, of_instance) && divides(shape.stride, of_instance)))
    return;
  throw UserError(
      fmt::format("a collective among {} ranks, {} apart, divides instances of {} cores unevenly",
                  shape.ranks, shape.stride, of_instance));
}

const CollectiveExecution& CollectiveCosts::of(const CollectiveShape& shape) {
  const auto known = executions_.find(shape);
  if (known != executions_.end()) return known->second;
  const auto& execution = executions_[shape] = execute_collective(system_, factors_, shape, ranks_);
  Ticks duration = execution.duration;
  const bool is_whole = shape.ranks == 0 || shape.ranks == ranks_;
  if (is_whole &&
      static_cast<double>(execution.skew) > kSkewThatCounts * static_cast<double>(duration)) {
    // Ranks that are done earlier begin the next one earlier: what counts in a row of collectives
    // is by how much the next one ends later. Groups would run away from one another in a row; the
    // other collectives of their program hold them together.
    duration =
        execute_rounds(system_, factors_, collective_of(shape), all_of(ranks_), kRoundsInARow)
            .duration;
  }
  const auto cores = static_cast<std::uint64_t>(std::min(ranks_, system_.device.cores));
  table_[shape] = {duration, execution.hbm_read / cores, execution.hbm_written / cores};
  return execution;
}

}  // namespace foretell

// How long a collective takes.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/system/collective_run.hpp"

namespace foretell {

inline Seconds collective_time(const NeuronSystemSpec& system, const NeuronFactors& factors,
                               CollectiveKind kind, int ranks, std::uint64_t bytes) {
  return to_seconds(execute_collective(system, factors, {kind, bytes}, ranks).duration);
}

inline constexpr CollectiveKind kCollectiveKinds[] = {
    CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
    CollectiveKind::kAllToAll, CollectiveKind::kPermute};

inline double collective_seconds(const NeuronSystemSpec& system, CollectiveKind kind, int ranks,
                                 double bytes) {
  return collective_time(system, {}, kind, ranks, static_cast<std::uint64_t>(std::ceil(bytes)))
      .value();
}

}  // namespace foretell

// How long a collective takes.
#pragma once

#include <cstdint>

#include "model/system/collective_run.hpp"

namespace foretell {

inline Seconds collective_time(const NeuronSystemSpec& system, const NeuronFactors& factors,
                               CollectiveKind kind, int ranks, std::uint64_t bytes) {
  return to_seconds(execute_collective(system, factors, {kind, bytes}, ranks).duration);
}

}  // namespace foretell

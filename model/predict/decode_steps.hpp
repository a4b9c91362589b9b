// Decode steps that each read the KV cache up to a position of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/base/metrics.hpp"

namespace foretell {

using StepTime = std::function<Seconds(std::int64_t positions)>;

// The steps that read `first`, `first` + 1, … `last` positions, those of neighbouring positions
// together: `kv_len` is the last of them, `time` their mean. In SBUF, keys lie in blocks of `block`
// positions; a step that begins a new one takes longer at once, within a block steps grow evenly.
// So the mean of a block is that of its ends, and blocks between two that were executed are
// interpolated where the one in the middle is on the line.
std::vector<GenerationMetrics::Step> interpolated_steps(std::int64_t first, std::int64_t last,
                                                        std::int64_t block, const StepTime& time);

// The same with every step executed and listed.
std::vector<GenerationMetrics::Step> executed_steps(std::int64_t first, std::int64_t last,
                                                    const StepTime& time);

}  // namespace foretell

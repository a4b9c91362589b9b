// How long the array works: a column of the moving operand per cycle.
#pragma once

#include <cstdint>

#include "model/testing/toy_npu/spec/toy_spec.hpp"

namespace foretell {

// The time of `columns` that pass through it.
Seconds toy_array_time(const ToyArraySpec& array, std::uint64_t columns);

// Columns of products of this many FLOP (1 MAC = 2 FLOP) on a full array, at least 1.
std::uint64_t toy_columns(const ToyArraySpec& array, Flops flops);

}  // namespace foretell

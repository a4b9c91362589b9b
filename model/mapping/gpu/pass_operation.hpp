// What a kernel of a pass is asked for: which operation, over rows of what length.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/ir/graph.hpp"

namespace foretell {

// Over rows, with parameters or without.
bool is_norm(const Op& op);

// The operation that tables of passes know it by: a norm of rows without parameters has the kernel
// of one with them.
std::string pass_operation(const Op& op, const Tensor& operand);

// Elements that a thread block goes over together.
std::int64_t pass_row(const Op& op, const Shape& shape);

}  // namespace foretell

// Operators that stand alone, as a library runs them and as measurements of CPUs name them, in
// terms of CpuTiming.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/program/loop.hpp"
#include "model/timing/cpu/cpu_timing.hpp"

namespace foretell {

struct CpuOperator {
  std::string op;     // "gemm", "conv", "softmax", …
  std::string dtype;  // "fp32", "bf16", "int8"
  std::map<std::string, std::int64_t> sizes;
  bool cold = false;  // nothing is in the caches before
};

// The loops of one call of the operator that is called again and again on the same operands. Blocks
// of several operators ("bert_layer", "resnet_block") have several. UserError for an operator that
// is not known, and one that lacks a size.
std::vector<Loop> loops_of(const CpuTiming& timing, const CpuOperator& op);

// The sum of the loops in closed form.
Seconds operator_time(const CpuTiming& timing, const CpuOperator& op);

// What an operator is one of: "product fp32", "convolution int8", "row-wise", "stream", "block", ….
std::string operator_class(const CpuOperator& op);

}  // namespace foretell

// What operators do and move, in the sums that publishers of networks state.
#pragma once

#include <map>

#include "workloads/ir/graph.hpp"

namespace foretell {

// Multiply-accumulates of a convolution or product, without what is added to its result; 0 for
// every other operator.
double macs_of(const Graph& graph, OpId id);

// All inputs read and all outputs written once; a table of which rows are gathered counts those
// rows alone.
Bytes bytes_moved(const Graph& graph, OpId id);

// Elements of the weights that the operator reads.
std::int64_t parameters_of(const Graph& graph, OpId id);

// Bytes of the tensors of one kind by data type.
std::map<DType, Bytes> bytes_by_dtype(const Graph& graph, TensorKind kind);

}  // namespace foretell

// Precision policies: which data type each class of operator runs in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/ir/dtype.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

struct PrecisionPolicy {
  std::string name;         // what the user types: "bf16-matmul"
  std::string description;  // one line: what runs in which type
  DType matmul_compute;     // operands of the matrix engine
  DType weight_storage;     // weights of matmuls in device memory
  DType vector;             // everything else: element-wise results, biases, embedding tables
  DType io;                 // floating-point tensors that cross the host boundary
  DType kv_cache;           // keys and values that stay on the device
  // Narrow types of weights that are kept in them (Tensor::is_kept) whose products take operands
  // as narrow; those of other such weights are in the type of activations.
  std::vector<DType> multiplied = {};
};

// FP8 as files store it that have a scale for each block of weights.
inline constexpr const char* kBlockScales = "fp8-block";

// All policies, in the order in which they are listed to people.
const std::vector<PrecisionPolicy>& precision_policies();

// UserError names the nearest policy.
const PrecisionPolicy& find_precision(std::string_view given);

// Sets the type of every floating-point tensor. Weights that only matmuls read take weight_storage
// (INT8 of a graph with weights in INT8: these alone, as it says which products are quantised);
// one that others read too (a tied embedding) takes matmul_compute; inputs and outputs take io;
// states take kv_cache; the rest takes vector. Tensors that are kept (Tensor::is_kept): states and
// activations stay as they are, and so do weights in a type below two bytes where weight_storage is
// one; other weights take vector. Ids and indices keep theirs.
void apply_precision(const PrecisionPolicy& policy, Graph* graph);

// The type of the operands of a product with a weight that is kept in a narrow type; nothing for
// other weights, where the policy says it.
std::optional<DType> own_operands(const PrecisionPolicy& policy, const Tensor& weight);

}  // namespace foretell

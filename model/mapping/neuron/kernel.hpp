// The operators of a graph grouped into what a NeuronCore runs as one piece.
//
// Grouping is decided by dataflow and by the rules of hw/kernels/neuron/fusion.yaml: a linear layer
// takes its bias, activation and residual along (they ride on the eviction from PSUM); scores,
// scale, mask, softmax and context form one attention; layout operators (Reshape, Transpose, Split,
// Slice) become views and cost nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

enum class KernelKind {
  kLinear,
  kAttention,
  kNorm,
  kElementwise,
  kRowWise,
  kExperts,
  kCombine,
  kGather,
  kRope,
  kUpdateCache,
  kCollective,
  kConvolution,
  kImage,
  kScan,
  kShortConv,
  kCompress,
  kIndexer,
  kGeneral,
};

// A tensor seen through layout operators: `columns` of the rows of `tensor`, from `first_column`.
struct View {
  TensorId tensor = kNoId;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;
};

struct Kernel {
  KernelKind kind = KernelKind::kElementwise;
  std::vector<OpId> ops;  // every operator that is done when the kernel is done
  TensorId output = kNoId;

  // kConvolution: `matmul` is the convolution; bias_op may be a batch norm folded into it.
  // kImage: any other operator with an image. kGeneral: what no other kind covers.
  // kLinear: output[rows, N] = act(input[rows, K] * weight[K, N] + bias) + residual
  OpId matmul = kNoId;
  View input;
  TensorId weight = kNoId;
  TensorId bias = kNoId;
  OpId bias_op = kNoId;
  OpId activation_op = kNoId;
  View residual;
  OpId residual_op = kNoId;

  // kAttention: output[B * S, heads * dim]
  View query, key, value;
  OpId scores_op = kNoId, softmax_op = kNoId, context_op = kNoId;
  OpId scale_op = kNoId;       // a Mul or Div by a constant, folded into the eviction
  std::vector<OpId> mask_ops;  // passes over the scores: Add of a mask or bias, CausalMask, Alibi
  bool is_causal = false;      // the only mask hides keys beyond `causal_offset` + query, and keys
                               // that lie `window` or more before it, unless that is 0
  std::int64_t causal_offset = 0, window = 0;
  bool cached = false;  // keys and values are read from the KV cache in HBM
  std::int64_t batch = 0, heads = 0, kv_heads = 0, head_dim = 0, queries = 0, keys = 0;

  // All others: the operator itself is ops.front(); its activations as views.
  // kExperts: rows, then the choice of the experts. An activation may ride along.
  // kCombine: the results of the experts, then the router's factors where there are any.
  std::vector<View> operands;
  bool feature_major = false;  // kElementwise: computed with features on the partitions
  bool row_wise = false;  // kElementwise: on results of kRowWise, with tokens on the partitions
  bool per_head = false;  // kNorm: of every head by itself, [batch, heads, length, head_dim]
};

// Kernels in execution order. Throws UserError for an operator that has no NeuronCore mapping.
std::vector<Kernel> fuse(const Graph& graph);

// Follows layout operators upwards from `id` to the tensor that holds the data. Heads split into a
// dimension of their own still count as columns of that tensor.
View resolve_view(const Graph& graph, TensorId id);

// Rows and columns of a tensor on the core: the last dimension is the free one.
std::int64_t row_count(const Shape& shape);
std::int64_t column_count(const Shape& shape);

}  // namespace foretell

// Lowering of kernels to instructions, one file per kind of kernel.
#pragma once

#include <cstdint>

#include "model/mapping/neuron/emitter.hpp"
#include "model/mapping/neuron/residency.hpp"
#include "model/mapping/neuron/weights.hpp"

namespace foretell {

// Which layouts of a tensor its readers need, per range of columns.
struct Demand {
  std::int64_t first_column = 0;
  std::int64_t columns = 0;
  bool token_major = false;
  bool feature_major = false;
};

struct LoweringContext {
  const Graph& graph;
  Emitter& emitter;
  WeightStream& weights;
  Residency& residency;
};

// x W + b with activation and residual. Where the readers want features on the partitions, weights
// are stationary and tokens move (a bank of PSUM at a time); otherwise tokens are stationary and
// weights move.
void lower_linear(LoweringContext& context, const Kernel& kernel,
                  const std::vector<Demand>& demands);

// softmax(q k^T * scale + mask) v per sequence, tile of queries and head; the result comes out
// feature-major, ready for the output projection.
void lower_attention(LoweringContext& context, const Kernel& kernel);
// The same with scores that stay on the core, for long causal prompts and large images;
// token-major.
void lower_flash_attention(LoweringContext& context, const Kernel& kernel);
bool takes_flash_attention(const CoreShape& core, const Kernel& kernel);

// Mean and variance of elements of a partition, as many at a time as an instruction takes, then
// combined.
Deps statistics(Emitter& emitter, std::int64_t elements, const Deps& source);

// LayerNorm: bn_stats, bn_aggr, rsqrt, (x - mean) * rstd, * gamma, + beta. RmsNorm likewise
// without mean and beta.
void lower_norm(LoweringContext& context, const Kernel& kernel);

// The same over the columns of every head, feature-major.
void lower_head_norm(LoweringContext& context, const Kernel& kernel);

// Element-wise operators that are fused into no other kernel.
void lower_elementwise(LoweringContext& context, const Kernel& kernel);

// Softmax outside an attention, TopK, reductions: along the columns of each token.
void lower_row_wise(LoweringContext& context, const Kernel& kernel);
// Rows times the weights of the experts chosen for them; tokens on the partitions of the result or
// features.
void lower_experts(LoweringContext& context, const Kernel& kernel, bool token_major);
// Sum over the experts of each token, weighted by the router.
void lower_combine(LoweringContext& context, const Kernel& kernel);

// A convolution with batch norm, residual and activation; other operators on images.
void lower_convolution(LoweringContext& context, const Kernel& kernel);
void lower_image(LoweringContext& context, const Kernel& kernel);
void lower_image_output(LoweringContext& context, TensorId id);
// The image, loaded unless it is there; and a new one, of which nothing is ready yet.
Value& require_image(LoweringContext& context, TensorId id);
Value& declare_image(LoweringContext& context, TensorId id);

// A linear recurrence over the tokens; feature-major.
void lower_scan(LoweringContext& context, const Kernel& kernel);
// Channels over their last few tokens, means of every few tokens, keys that attention is to read.
void lower_short_conv(LoweringContext& context, const Kernel& kernel);
void lower_compress(LoweringContext& context, const Kernel& kernel);
void lower_indexer(LoweringContext& context, const Kernel& kernel);

// Operators outside these patterns.
void lower_general(LoweringContext& context, const Kernel& kernel);

// Rows of an embedding table: one DMA descriptor per row.
void lower_gather(LoweringContext& context, const Kernel& kernel);

// Rotary positions: x * cos + rotate(x) * sin, feature-major.
void lower_rope(LoweringContext& context, const Kernel& kernel);
// New rows of the KV cache to HBM, one descriptor per row.
void lower_update_cache(LoweringContext& context, const Kernel& kernel);
// Attention of single tokens over the KV cache, per sequence and query head.
void lower_cached_attention(LoweringContext& context, const Kernel& kernel);
// Sums over the cores of a tensor-parallel copy, and what they have together.
void lower_collective(LoweringContext& context, const Kernel& kernel);

// The same kernels over few tokens (Emitter::narrow_rows), with features on the partitions.
bool is_narrow(const LoweringContext& context, TensorId id);
void lower_linear_narrow(LoweringContext& context, const Kernel& kernel);
void lower_norm_narrow(LoweringContext& context, const Kernel& kernel);
void lower_elementwise_narrow(LoweringContext& context, const Kernel& kernel);
// When all features of the tensor are ready, feature-major.
Deps narrow_operand(LoweringContext& context, const View& view);
// Declares a narrow tensor, ready as a whole.
void set_narrow(Value* value, std::int64_t rows, std::int64_t columns, const Deps& ready);

// The tensor transposed to feature-major by the tensor engine, unless it is already.
Value& require_feature_major(LoweringContext& context, const View& view);
// The tensor with rows on partitions; transposed back when only the other layout exists.
Value& require_token_major(LoweringContext& context, const View& view);

// Stores a graph output to HBM.
void lower_output(LoweringContext& context, TensorId output);

}  // namespace foretell

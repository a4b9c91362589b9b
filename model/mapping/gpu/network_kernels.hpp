// Operators of today's language models (workloads/ir/operators/networks.hpp) as kernels of a GPU,
// one function each: experts, latent attention, recurrences, and what ranks send each other.
//
// They are put together from products, passes and attention where layer_kernels.hpp knows no
// measured kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/mapping/gpu/attention_kernels.hpp"
#include "model/mapping/gpu/layer_kernels.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/mapping/gpu/pass_kernels.hpp"
#include "model/mapping/gpu/product_kernels.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// The columns of a table of expert kernels, for this rank's share.
struct ExpertShape {
  std::int64_t tokens = 0;  // that enter the layer, of all ranks
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;  // on this rank
  std::int64_t top_k = 0;
  std::int64_t experts = 0;
  std::int64_t held = 0;       // on this rank, copies included
  std::int64_t redundant = 0;  // copies of all ranks, beside one of each
  bool gated = true;
  bool exchanged = false;          // tokens come from ranks that have sequences of their own
  std::string routing;             // workloads/ir/routing.hpp
  std::vector<std::int64_t> rows;  // of each expert here that gets any
};
ExpertShape expert_shape(const Graph& graph, const Op& op);

struct ExpertLayer {
  ExpertShape shape;
  std::string type;  // of gemm_library.hpp
  double activation_bytes = 2;
  Bytes weights;       // of all experts held
  double missing = 1;  // of the weights, the share that L2 does not hold
  int copies = 1;
};
// Rows to their experts, first products, activation, second products, weighted sum.
void lower_experts(ProductKernels& products, PassKernels& passes, const ExpertLayer& layer,
                   MappedOp& op);

struct StateSpace {
  std::string function;
  std::int64_t batch = 0;
  std::int64_t tokens = 0;
  std::int64_t key_heads = 0;
  std::int64_t heads = 0;  // of values
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t chunk = 1;
  std::string type;
  double element_bytes = 2;
  Bytes moved;
  Bytes dram;
};
StateSpace state_space_shape(const Graph& graph, const Op& op);
// One token is a pass over the state, prompts are products of chunks.
void lower_state_space(ProductKernels& products, PassKernels& passes, const StateSpace& work,
                       MappedOp& op);

// Softmax attention, also of heads whose values are narrower than their keys (latents, of which the
// values are a part): taken as a head of the mean width, which has the same arithmetic.
void lower_latent_attention(AttentionKernels& kernels, AttentionDimensions attention,
                            const AttentionType& type, Bytes dram, MappedOp& op);

// Scores of a few narrow heads, and the choice among them.
struct IndexerKernels {
  std::string type;                // of the products, of gemm_library.hpp
  AttentionBlockFacts::Walk walk;  // in place of products
  Hertz clock;
  int sms = 0;
  BytesPerSecond dram_rate;
  double in_layer = 1;  // time of them in a whole layer of the library, beside that of our kernels
};
void lower_indexer(ProductKernels& products, PassKernels& passes, const Graph& graph,
                   const Op& indexer, const IndexerKernels& kernels, Bytes dram, MappedOp& op);
// `type`: of the products.
IndexerKernels indexer_kernels(const GpuFactors& factors, const GpuDeviceSpec& device,
                               const Graph& graph, const Op& indexer, std::string type);

// What an ExpertExchange sends or brings back, of this rank.
LayerKernels::Exchanged exchange_of(const Graph& graph, const Op& exchange);

// What a rank sends: every token once to each rank that holds one of its experts.
Bytes exchanged_bytes(const Op& exchange, Bytes tokens);

}  // namespace foretell

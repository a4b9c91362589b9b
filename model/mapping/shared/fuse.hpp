// The operators of a graph grouped into what the libraries of GPUs and CPUs run as one kernel, or
// as a few that belong together.
//
// Grouping is decided by dataflow and by the rules of hw/kernels/layers/fusion.yaml:
//   * a product with weights takes bias, activation and residual into its epilogue;
//   * products of one input with several weights (queries, keys and values; gate and up) are one
//     product with its biases; an activation after it is then a pass of its own;
//   * a convolution takes the norm of its channels, which is part of its weights then, residual and
//     activation;
//   * scores, scale, mask, softmax and context are one attention;
//   * element-wise operators one after another are one pass, with the norm, softmax or reduction
//     that ends them; rotations, norms of heads and cache updates next to each other likewise;
//   * layout operators are views: kernels read and write with strides. A transposition (or a roll)
//     between two kernels that do not remains a copy.
//
// A framework that launches operator by operator groups nothing but a product with its bias, and an
// attention; some of its operators are several passes over their result one after another. A
// library of hand-written passes between products leaves their epilogues empty. Where products do
// not read with strides, heads are copied apart before an attention that is products and a softmax,
// and together again after it, unless a pass next to it does that.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/units.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

enum class FusedKind {
  kLinear,
  kProduct,
  kConvolution,
  kAttention,
  kExperts,
  kPass,
  kCollective,
  kExpertLayer,  // the operator Experts
  kScan,         // the operator Scan
  kIndexer       // the operator Indexer
};

// What an operation touches of a tensor that has data of its own.
struct TensorAccess {
  TensorId tensor = kNoId;
  Bytes bytes;
};

struct AttentionDimensions {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t head_dim = 0;
  bool causal = false;         // query q sees keys up to keys - queries + q, and no score beyond
  std::int64_t window = 0;     // … and no more than this many keys before itself; 0: all
  bool in_chunks = false;      // a query sees the keys of its chunk, from fixed places on
  std::int64_t selected = 0;   // keys that an indexer chose for each query, of which window is
                               // about as many; there may be fewer keys than that; 0: none chose
  std::int64_t value_dim = 0;  // where it is not head_dim; else 0
  TensorId key = kNoId;        // the keys
  bool narrow_cache = false;   // that keeps them in 8 bits, set by who knows the precision
};

struct FusedOp {
  FusedKind kind = FusedKind::kPass;
  OpId main = kNoId;      // gives its name
  bool is_again = false;  // a pass after the first of an operator that takes several
  std::vector<OpId> ops;  // every operator that is done when this is done
  std::vector<TensorAccess> reads;
  std::vector<TensorAccess> writes;
  std::vector<TensorId> weights;  // kLinear: of the products that are one; else the only one
  AttentionDimensions attention;
};

struct FusionRules {
  bool groups = true;
  std::map<std::string, int> passes = {};  // of one that takes more, by kind or kind.function
  bool epilogues = true;  // products take bias, activation and residual, else a pass does
  std::set<std::string> activations = {};  // of those, and of convolutions; empty: all
  bool strides = true;                     // products read and write with strides
  bool attention = true;                   // scores, softmax and context are one kernel …
  std::int64_t attention_keys = 0;         // … up to this many keys; 0: any
  // Branches of a block that run beside the rest of it, by what the names of their operators hold:
  // no kernel has operators of such a branch and others.
  std::map<std::string, std::string> beside = {};
  bool exchanges_beside = false;  // collectives run beside the rest, and nothing else does

  bool operator==(const FusionRules& other) const {
    return groups == other.groups && passes == other.passes && epilogues == other.epilogues &&
           activations == other.activations && strides == other.strides &&
           attention == other.attention && attention_keys == other.attention_keys &&
           beside == other.beside && exchanges_beside == other.exchanges_beside;
  }
};

// The branch of `beside` that an operator of this name is of; "" of the rest.
std::string_view branch_of(const std::map<std::string, std::string>& beside, std::string_view name);

// In execution order. UserError for an operator that has no mapping.
std::vector<FusedOp> fuse_kernels(const Graph& graph, const FusionRules& rules = {});

}  // namespace foretell

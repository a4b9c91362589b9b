// Attention whose projections are experts (JetMoe, arXiv 2404.07413): each chosen one makes a query
// for every head of keys, and the results go back through the same ones.
#pragma once

#include "workloads/import/hf/decoder/parts_graph.hpp"

namespace foretell {

class MixtureOfHeads {
 public:
  // Chooses for x [B, S, H]; `part` must outlive it.
  MixtureOfHeads(PartsContext& context, TensorId x, const MixerPart& part);

  // [B, S, heads * head_dim]
  TensorId queries(TensorId x);
  // Of the results of attention [B, S, heads * value_dim] to [B, S, H], summed over the ranks.
  TensorId output(TensorId result);

 private:
  std::int64_t chosen() const { return part_.heads / part_.kv_heads; }
  TensorId product(const std::string& name, TensorId rows, std::int64_t out);

  PartsContext& context_;
  BlockBuilder& block_;
  const MixerPart& part_;
  Shape in_;
  TensorId weights_ = kNoId;  // of the chosen ones; what was chosen comes after it
};

}  // namespace foretell

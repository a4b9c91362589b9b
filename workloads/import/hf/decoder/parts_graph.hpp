// Graphs of decoders that are made of parts (decoder_parts.hpp): every phase, one rank.
#pragma once

#include <map>
#include <string>

#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// As build_decoder(). States: per layer a cache of keys and values [batch, kv_heads, rows, dim] of
// at most a window's rows, of latents [batch, 1, rows, kv_rank + rope], of an indexer's keys, and
// the states of recurrences. UserError for experts or heads that the ranks cannot share.
Graph build_from_parts(const ModelConfig& config, const Binding& binding);

// The attention of one layer alone, of one rank: hidden_states [batch, seq_len, hidden] and
// position_ids to what the output projection gives, without the norm before and the sum after it.
Graph build_attention_block(const ModelConfig& config, const Binding& binding, std::size_t layer);

// The share of one rank. UserError for what does not divide.
ModelConfig shard_of_parts(const ModelConfig& config, const Binding& binding);

// What building one layer needs of the others.
struct PartsContext {
  BlockBuilder* block = nullptr;
  const ModelConfig* config = nullptr;  // of the rank
  const Binding* binding = nullptr;
  TensorId positions = kNoId;
  struct Cache {
    TensorId keys = kNoId;
    TensorId values = kNoId;
  };
  std::map<bool, Cache> earlier;  // of the last layer with and without a window
  std::string adapter;            // ends the names of the layer's own weights in a shared block

  std::int64_t batch() const;  // sequences of this rank
  bool reads_cache() const;
  bool has_cache() const { return binding->phase != Phase::kForward; }
  // x times a weight, which stays in its wide type where `is_kept`, whatever the checkpoint says.
  TensorId linear(const std::string& name, TensorId x, std::int64_t out, bool bias,
                  bool is_kept = false) const;
  TensorId row_linear(const std::string& name, TensorId x, std::int64_t out, bool bias) const;
  // a and b along the last axis, and the pieces of x.
  TensorId joined(const std::string& name, TensorId a, TensorId b, std::int64_t axis) const;
  TensorId split(const std::string& name, TensorId x, const Shape& sizes) const;
  TensorId reshaped(const std::string& name, TensorId x, const Shape& shape) const;
  TensorId norm(const std::string& name, TensorId x) const;
  TensorId rotated(const std::string& name, TensorId x, std::int64_t columns) const;
  // fresh [B, heads, S, dim] written into a state of as many rows; all of it.
  TensorId cached(const std::string& name, TensorId fresh, std::int64_t rows) const;
  // A state whose type is its own in every precision policy.
  TensorId own_state(const std::string& name, const Shape& shape, DType type) const;
  TensorId gated(const std::string& name, TensorId result, TensorId x, const MixerPart& part) const;
  // y = shared weights times x, with what the layer's own low-rank matrices make of x.
  TensorId adapted(const std::string& name, TensorId x, TensorId y, std::int64_t rank) const;
};

// x [B, S, H] -> [B, S, H]; sums over the ranks included.
TensorId mix_tokens(PartsContext& context, TensorId x, const MixerPart& part);
TensorId mix_linear(PartsContext& context, TensorId x, const MixerPart& part);
// Experts read `of_experts` where it is given.
TensorId feed_forward(PartsContext& context, TensorId x, const FeedForwardPart& part,
                      TensorId of_experts = kNoId);

// parts_shared.cpp. A block whose weights several layers share, of x and the embeddings
// [B, S, H] each: what is added to x before the layer reads it.
TensorId shared_block(PartsContext& context, TensorId x, TensorId embeddings,
                      const SharedBlockPart& part, std::int64_t layer);

// parts_predictions.cpp. Several copies of the stream side by side [B, S, copies * H], of which
// every layer computes the first and predicts the others (AltUp; arXiv 2301.13310), with a low-rank
// residual beside attention (LAuReL; arXiv 2411.07501). `own` are columns for this layer, or kNoId.
TensorId spread_predictions(PartsContext& context, TensorId x);
TensorId layer_of_predictions(PartsContext& context, TensorId x, const LayerPart& part,
                              TensorId own);
TensorId merged_predictions(PartsContext& context, TensorId x);

}  // namespace foretell

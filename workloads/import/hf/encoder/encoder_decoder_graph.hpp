// Graphs of networks of an encoder and a decoder (T5, Whisper, T5Gemma): the encoder once per
// request, then the decoder token by token.
#pragma once

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// The encoder over seq_len positions, and the keys and values of the cross attention of every block
// of the decoder, [batch, kv_heads, seq_len, head_dim] each, as state. Inputs: input_ids [batch,
// seq_len], or log_mel [batch, mel_bins, 2 seq_len, 1] of an encoder of sound; what tells the order
// of tokens: distance_buckets [seq_len, seq_len] or position_ids [batch, seq_len]; and, where
// inputs differ in length, attention_mask [batch, 1, 1, seq_len].
Graph build_encoder_prefill(const ModelConfig& config, const Binding& binding);

// The encoder alone, whose hidden states are the output.
Graph build_encoder_alone(const ModelConfig& config, const Binding& binding);

// seq_len new tokens of the decoder over a cache of kv_len rows and encoder_len positions of the
// encoder. Inputs: input_ids [batch, seq_len], distance_buckets [seq_len, kv_len] or position_ids
// [batch, seq_len], and encoder_attention_mask [batch, 1, 1, encoder_len]. Output: the logits.
Graph build_encoded_decode(const ModelConfig& config, const Binding& binding);

}  // namespace foretell

// Graphs of T5: the encoder once per request, then the decoder token by token.
#pragma once

#include "workloads/import/hf/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// The encoder over seq_len tokens, and the keys and values of the cross attention of every block of
// the decoder, [batch, heads, seq_len, head_dim] each, as state. Inputs: input_ids [batch,
// seq_len], distance_buckets [seq_len, seq_len] and attention_mask [batch, 1, 1, seq_len].
Graph build_t5_prefill(const ModelConfig& config, const Binding& binding);

// The encoder alone, whose hidden states are the output.
Graph build_t5_encoder(const ModelConfig& config, const Binding& binding);

// seq_len new tokens of the decoder over a cache of kv_len rows and encoder_len tokens of the
// encoder. Inputs: input_ids [batch, seq_len], distance_buckets [seq_len, kv_len] and
// encoder_attention_mask [batch, 1, 1, encoder_len]. Output: the logits.
Graph build_t5_decode(const ModelConfig& config, const Binding& binding);

}  // namespace foretell

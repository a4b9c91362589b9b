// Graphs of decoders: every phase.
#pragma once

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// Inputs: input_ids and, except with ALiBi, position_ids, both [batch, seq_len]. The KV cache of
// each block is state [batch, kv_heads, kv_len, head_dim]. Outputs: the hidden states (a plain
// model run forward) or the logits: of all tokens in forward and decode, of the last one in
// prefill. A pipeline stage that is not the first takes hidden_states [batch, seq_len, hidden]
// instead of input_ids, and one that is not the last gives them.
Graph build_decoder(const ModelConfig& config, const Binding& binding);

// The feed-forward network of a block of a decoder or of T5: plain or gated.
class BlockBuilder;
TensorId decoder_feed_forward(BlockBuilder* block, TensorId x, const ModelConfig& config);

}  // namespace foretell

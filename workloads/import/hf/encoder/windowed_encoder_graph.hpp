// Graph of encoders whose layers turn between all tokens and a window around each (ModernBERT:
// Warner et al. 2024).
#pragma once

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// Norms before, rotated positions, gated feed-forward networks, no biases. Inputs: input_ids and
// position_ids, both [batch, seq_len]; all tokens count, as in batches without padding. Output: the
// hidden states or the logits of all tokens.
Graph build_windowed_encoder(const ModelConfig& config, const Binding& binding);

}  // namespace foretell

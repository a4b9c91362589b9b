// Graphs of the encoders as one forward pass over [batch, seq_len] tokens.
#pragma once

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// Post-norm encoder. Inputs: input_ids, token_type_ids (where the table has more than one row),
// position_ids (all [batch, seq_len]) and attention_mask [batch, 1, 1, seq_len], which is added to
// the scores (0 or a large negative number).
Graph build_encoder(const ModelConfig& config, const Binding& binding);

// In relative_encoder_graph.cpp: XLNet.
Graph build_relative_encoder(const ModelConfig& config, const Binding& binding);

}  // namespace foretell

// The share of a decoder that one of several cores computes (tensor parallel).
//
// Attention is cut by heads and the feed-forward network by columns; the two matmuls that lead
// back to the hidden size are cut by rows and their results summed over the cores (AllReduce). The
// vocabulary is cut too: embeddings are summed, and logits gathered where a token is chosen. The
// vendor's runtime pads the query heads to a multiple of the cores, gives every core at least one
// key/value head by replication, and pads feed-forward slices to whole blocks of 128 columns.
#pragma once

#include "workloads/import/hf/config/model_config.hpp"

namespace foretell {

// The network as one of `ranks` cores sees it; hidden size, layers and lengths stay. UserError when
// there are more cores than query heads.
ModelConfig shard_of(const ModelConfig& config, int ranks);

}  // namespace foretell

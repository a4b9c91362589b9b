// What tables of kernels inside layers leave out, of networks that they name.
#pragma once

#include <cstdint>
#include <string>

namespace foretell {

struct PublishedLayer {
  std::int64_t heads = 1;      // of queries
  std::int64_t key_heads = 1;  // of keys and values
  bool gated = false;          // the feed-forward layer
  bool side_by_side = false;   // attention and feed-forward layer
};

// For a network of `foretell list workloads`, by any name that it is known under; null for others.
// Each is read once in a run.
const PublishedLayer* published_layer(const std::string& network);

}  // namespace foretell

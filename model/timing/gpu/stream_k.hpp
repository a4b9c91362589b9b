// Stream-K: one wave of thread blocks shares the stages of all tiles of a matrix product evenly, so
// that none idles in a last wave (Osama et al., PPoPP 2023).
//
// Stages are counted through all tiles, one tile after the other; thread block b takes the b-th
// piece of them. Who holds the first stage of a tile finishes it: the others hand over their sums.
#pragma once

#include <cstdint>

namespace foretell {

// The piece of one thread block, in its order.
struct StreamKShare {
  std::int64_t head = 0;   // stages of a tile that another one began
  std::int64_t whole = 0;  // tiles from the first to the last stage
  std::int64_t tail = 0;   // stages of a tile that others finish
  std::int64_t added = 0;  // pieces of that tile that it takes over from them
};

// The share of `block` out of `blocks`, for `tiles` of `stages` each. All are positive, and there
// are no more thread blocks than stages.
StreamKShare stream_k_share(std::int64_t tiles, std::int64_t stages, std::int64_t blocks,
                            std::int64_t block);

}  // namespace foretell

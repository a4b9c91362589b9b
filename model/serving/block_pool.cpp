#include "model/serving/block_pool.hpp"

#include "model/base/errors.hpp"

namespace foretell {

BlockPool::BlockPool(std::int64_t blocks) : total_(blocks), free_(blocks) {
  FORETELL_CHECK(blocks >= 0, "a pool has no negative size");
}

bool BlockPool::take(std::int64_t blocks) {
  if (blocks > free_) return false;
  free_ -= blocks;
  return true;
}

void BlockPool::give_back(std::int64_t blocks) {
  free_ += blocks;
  FORETELL_CHECK(blocks >= 0 && free_ <= total_, "more KV blocks came back than were taken");
}

}  // namespace foretell

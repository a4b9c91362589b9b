// Paged KV cache: blocks of equal size, counted. Which block is which does not matter for time.
#pragma once

#include <cstdint>

namespace foretell {

class BlockPool {
 public:
  explicit BlockPool(std::int64_t blocks);

  std::int64_t total() const { return total_; }
  std::int64_t free() const { return free_; }
  std::int64_t used() const { return total_ - free_; }

  // False, and nothing taken, when fewer are free.
  bool take(std::int64_t blocks);
  // InternalError for more than were taken.
  void give_back(std::int64_t blocks);

 private:
  std::int64_t total_;
  std::int64_t free_;
};

// Blocks that hold this many tokens.
constexpr std::int64_t blocks_for(std::int64_t tokens, std::int64_t block) {
  return (tokens + block - 1) / block;
}

}  // namespace foretell

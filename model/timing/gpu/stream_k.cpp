#include "model/timing/gpu/stream_k.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {

StreamKShare stream_k_share(std::int64_t tiles, std::int64_t stages, std::int64_t blocks,
                            std::int64_t block) {
  FORETELL_CHECK(block >= 0 && block < blocks && blocks <= tiles * stages,
                 "a thread block of stream-K needs a stage");
  const std::int64_t each = tiles * stages / blocks;
  const std::int64_t longer = tiles * stages % blocks;  // the first ones take one more
  const auto begin = [&](std::int64_t b) { return b * each + std::min(b, longer); };
  const auto holder = [&](std::int64_t stage) {
    const std::int64_t in_longer = longer * (each + 1);
    return stage < in_longer ? stage / (each + 1) : longer + (stage - in_longer) / each;
  };
  StreamKShare share;
  std::int64_t at = begin(block);
  const std::int64_t end = begin(block + 1);
  if (const std::int64_t into = at % stages; into > 0) {
    share.head = std::min(stages - into, end - at);
    at += share.head;
  }
  share.whole = (end - at) / stages;
  at += share.whole * stages;
  share.tail = end - at;
  if (share.tail > 0) share.added = holder((at / stages + 1) * stages - 1) - block;
  return share;
}

}  // namespace foretell

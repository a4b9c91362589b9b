#include "model/timing/gpu/stream_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

TEST(StreamK, APieceWorkedOutByHand) {
  // 3 tiles of 10 stages for 4 thread blocks: 8, 8, 7 and 7 stages.
  const StreamKShare first = stream_k_share(3, 10, 4, 0);
  EXPECT_EQ(first.head, 0);
  EXPECT_EQ(first.whole, 0);
  EXPECT_EQ(first.tail, 8);
  EXPECT_EQ(first.added, 1);
  const StreamKShare second = stream_k_share(3, 10, 4, 1);  // stages 8 to 15
  EXPECT_EQ(second.head, 2);
  EXPECT_EQ(second.tail, 6);
  EXPECT_EQ(second.added, 1);
  const StreamKShare last = stream_k_share(3, 10, 4, 3);  // stages 23 to 29
  EXPECT_EQ(last.head, 7);
  EXPECT_EQ(last.whole + last.tail + last.added, 0);
}

TEST(StreamK, ATileOfManyThreadBlocksIsFinishedByTheFirst) {
  EXPECT_EQ(stream_k_share(1, 100, 7, 0).added, 6);
  for (std::int64_t block = 1; block < 7; ++block) {
    EXPECT_EQ(stream_k_share(1, 100, 7, block).added, 0);
    EXPECT_EQ(stream_k_share(1, 100, 7, block).tail, 0);
  }
}

TEST(StreamK, EveryStageIsWalkedOnceAndSharesDifferByOneStage) {
  for (const std::int64_t tiles : {1, 3, 8, 100, 133}) {
    for (const std::int64_t stages : {1, 7, 64}) {
      for (const std::int64_t blocks : {1, 2, 5, 8, 132}) {
        if (blocks > tiles * stages) continue;
        std::int64_t walked = 0;
        std::int64_t handed_over = 0;
        std::int64_t taken_over = 0;
        std::int64_t least = tiles * stages;
        std::int64_t most = 0;
        for (std::int64_t block = 0; block < blocks; ++block) {
          const StreamKShare share = stream_k_share(tiles, stages, blocks, block);
          const std::int64_t mine = share.head + share.whole * stages + share.tail;
          walked += mine;
          handed_over += share.head > 0 ? 1 : 0;
          taken_over += share.added;
          least = std::min(least, mine);
          most = std::max(most, mine);
        }
        EXPECT_EQ(walked, tiles * stages);
        EXPECT_EQ(handed_over, taken_over) << tiles << ' ' << stages << ' ' << blocks;
        EXPECT_LE(most - least, 1);
      }
    }
  }
}

TEST(StreamK, TilesThatDivideEvenlyStayWhole) {
  for (std::int64_t block = 0; block < 8; ++block) {
    const StreamKShare share = stream_k_share(24, 10, 8, block);
    EXPECT_EQ(share.whole, 3);
    EXPECT_EQ(share.head + share.tail + share.added, 0);
  }
}

TEST(StreamK, AThreadBlockWithoutAStageIsRefused) {
  EXPECT_THROW(stream_k_share(1, 4, 5, 0), InternalError);
}

}  // namespace
}  // namespace foretell

#include "model/app/tables/kinds/neuron_collective_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

using testing::HasSubstr;

const CsvRow kHeader = {"system", "op", "n_ranks", "bytes", "dtype"};

TEST(NeuronCollectiveRows, AreSimulatedOnTheTopologyOfTheSystem) {
  NeuronCollectiveRows rows(kHeader, {});
  const CsvRow small = {"inf2.48xlarge", "all_reduce", "24", "1048576", "bf16"};
  const CsvRow large = {"inf2.48xlarge", "all_reduce", "24", "4194304", "bf16"};
  ASSERT_TRUE(rows.serves(small));
  EXPECT_FALSE(rows.serves({"p5.48xlarge", "all_reduce", "8", "1048576", "bf16"}));
  const RowTime first = rows.answer(small);
  EXPECT_EQ(first.error, "");
  EXPECT_LT(first.low, first.time);
  EXPECT_GT(first.high, first.time);
  EXPECT_GT(rows.answer(large).time, first.time * 2);
  EXPECT_EQ(rows.answer(small).time, first.time);

  NeuronCollectiveRows faster(kHeader, {"link.bandwidth=192 GiB/s"});
  EXPECT_LE(faster.answer(small).time, first.time);
}

TEST(NeuronCollectiveRows, SayWhatIsWrongWithARow) {
  NeuronCollectiveRows rows(kHeader, {});
  const auto error = [&rows](const char* op, const char* ranks, const char* bytes) {
    return rows.answer({"inf2.48xlarge", op, ranks, bytes, "bf16"}).error;
  };
  EXPECT_THAT(error("all_reduse", "24", "1024"), HasSubstr("nearest is 'all_reduce'"));
  EXPECT_THAT(error("all_reduce", "5", "1024"), HasSubstr("possible are"));
  EXPECT_THAT(error("all_reduce", "24", "-1"), HasSubstr("bytes"));
}

}  // namespace
}  // namespace foretell

#include "model/app/tables/kinds/served_rate.hpp"

#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

const CsvRow kPointHeader = {"gpu", "gpus", "concurrency", "osl", "ttft_ms", "tpot_ms"};

TEST(ServedRate, IsAnswersOfAllClientsInTheTimeOfOne) {
  const auto rate = ServedRate::of_table(kPointHeader);
  ASSERT_TRUE(rate);
  // An answer takes 100 + 99 x 10 = 1,090 ms; 8 clients get 800 tokens in it, 4 GPUs make 200 each.
  EXPECT_DOUBLE_EQ(*rate->measured({"h100", "4", "8", "100", "100", "10"}), 200 / 1.09);
}

TEST(ServedRate, FollowsTheTimesThatAreGiven) {
  const auto rate = ServedRate::of_table(kPointHeader);
  const CsvRow row = {"h100", "2", "8", "100", "100", "10"};
  EXPECT_DOUBLE_EQ(*rate->of_times(row, 100, 10), *rate->measured(row));
  EXPECT_DOUBLE_EQ(*rate->of_times(row, 50, 5), 2 * *rate->measured(row));
}

TEST(ServedRate, NeedsAllOfItsColumnsAndCells) {
  EXPECT_FALSE(ServedRate::of_table({"gpu", "concurrency", "osl", "ttft_ms", "tpot_ms"}));
  const auto rate = ServedRate::of_table(kPointHeader);
  EXPECT_FALSE(rate->measured({"h100", "4", "8", "100", "", "10"}));
  EXPECT_FALSE(rate->measured({"h100", "", "8", "100", "100", "10"}));
  EXPECT_THROW(rate->measured({"h100", "0", "8", "100", "100", "10"}), UserError);
}

}  // namespace
}  // namespace foretell

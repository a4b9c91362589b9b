#include "calib/validate/left_out_rows.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(LeftOutRows, AreNamedByReasonWithTheirLines) {
  LeftOutRows rows;
  rows.add("too small", 4);
  rows.add("no number", 5);
  rows.add("too small", 7);
  rows.add("too small", 9);
  EXPECT_EQ(rows.count(), 4U);
  EXPECT_THAT(rows.texts(), ElementsAre("lines 4, 7 and 9: too small", "line 5: no number"));
}

TEST(LeftOutRows, ManyAreCounted) {
  LeftOutRows rows;
  for (std::size_t line = 2; line < 102; ++line) rows.add("zero", line);
  EXPECT_THAT(rows.texts(), ElementsAre("lines 2, 3, 4, 5, 6, 7, 8, 9 and 92 more: zero"));
  for (std::size_t line = 102; line < 152; ++line) rows.add(std::to_string(line), line);
  ASSERT_EQ(rows.texts().size(), 21U);
  EXPECT_EQ(rows.texts().back(), "and 31 rows more");
}

TEST(ReadMeasurement, TakesNumbersAboveZeroAndSaysWhatElseIsWrong) {
  EXPECT_EQ(read_measurement("call_ms", " 0.5 "), 0.5);
  EXPECT_EQ(read_measurement("call_ms", " "), std::nullopt);
  for (const char* cell : {"0", "-4", "nan", "abc", "0.96 ms", "1e999", "inf", "0x10"}) {
    EXPECT_THAT([&] { read_measurement("call_ms", cell); },
                ThrowsMessage<UserError>(HasSubstr(
                    std::string("call_ms: '") + cell +
                    "' is no measurement; expected a number above 0 in ms, without the unit")));
  }
  EXPECT_THAT([&] { read_measurement("throughput", "0"); },
              ThrowsMessage<UserError>(testing::EndsWith("expected a number above 0")));
  EXPECT_TRUE(is_below_clock("latency_us", "0.0"));
  EXPECT_FALSE(is_below_clock("latency_us", "-1"));
  EXPECT_FALSE(is_below_clock("latency_us", ""));
  EXPECT_FALSE(is_below_clock("call_ms", "0"));
}

}  // namespace
}  // namespace foretell

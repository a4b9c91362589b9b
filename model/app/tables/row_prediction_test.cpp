#include "model/app/tables/row_prediction.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(RowPrediction, ALineIsReadBackToTheLastBit) {
  RowPrediction sent;
  sent.values = {{"pred_ms", 1.0 / 3}, {"pred_w", 1e300}};
  sent.intervals = {{"ms", {0.1, 2e-17}}};
  sent.parts = "memory 60 %, tensor 40 %";
  sent.note = "as measured";
  sent.least_call_ms = 0.7;
  const RowPrediction read = prediction_of_line(prediction_line(sent));
  EXPECT_EQ(read.values, sent.values);
  ASSERT_EQ(read.intervals.count("ms"), 1U);
  EXPECT_EQ(read.intervals.at("ms").low, 0.1);
  EXPECT_EQ(read.intervals.at("ms").high, 2e-17);
  EXPECT_EQ(read.parts, sent.parts);
  EXPECT_EQ(read.note, sent.note);
  EXPECT_EQ(read.least_call_ms, 0.7);
  EXPECT_EQ(read.error, "");
}

TEST(RowPrediction, AnErrorIsOneLine) {
  const std::string line = prediction_line({{{"pred_ms", 1}}, "no room\nfor it"});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const RowPrediction read = prediction_of_line(line);
  EXPECT_EQ(read.error, "no room for it");
  EXPECT_TRUE(read.values.empty());
  EXPECT_NE(prediction_of_line("").error, "");
}

}  // namespace
}  // namespace foretell

#include "model/app/tables/uncounted/impossible_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const CsvRow kOperatorHeader = {"gpu", "op", "dtype", "m", "k", "latency_us"};

const TableLayout& operator_layout() { return recognise_table(kOperatorHeader, "t.csv"); }

TEST(ImpossibleTimes, RowsBelowALaunchAreRefusedAndOthersAreNot) {
  const ImpossibleTimes times = ImpossibleTimes::load(operator_layout(), kOperatorHeader);
  EXPECT_THAT(times.reason({"g", "compute_scale", "fp8", "1", "32", "0.002"}).value_or(""),
              HasSubstr("less than 0.5 us"));
  EXPECT_FALSE(times.reason({"g", "compute_scale", "fp8", "1", "32", "0.5"}));
  EXPECT_FALSE(times.reason({"g", "scale_matrix", "fp8", "1", "32", "0.002"}));
}

TEST(ImpossibleTimes, RulesOfOtherTablesDoNotCount) {
  const std::string rule = "rules:\n  - {table: gemm, where: dtype=fp8, below_us: 9, why: no}\n";
  const ImpossibleTimes times =
      ImpossibleTimes::parse(rule, "r.yaml", operator_layout(), kOperatorHeader);
  EXPECT_FALSE(times.reason({"g", "compute_scale", "fp8", "1", "32", "1"}));
}

TEST(ImpossibleTimes, RowsThatDoNotSayWhatWasMeasuredDoNotCountWhateverTheirTime) {
  const std::string rule =
      "rules:\n  - {table: operator, where: dtype=fp8, unstated: which kernel, why: two names}\n";
  const ImpossibleTimes times =
      ImpossibleTimes::parse(rule, "r.yaml", operator_layout(), kOperatorHeader);
  EXPECT_THAT(times.reason({"g", "scale_matrix", "fp8", "1", "32", "900"}).value_or(""),
              HasSubstr("not stated is which kernel"));
  EXPECT_FALSE(times.reason({"g", "scale_matrix", "bf16", "1", "32", "900"}));
}

TEST(ImpossibleTimes, WrongRulesAreNamed) {
  const auto parse = [](const std::string& rule) {
    return ImpossibleTimes::parse("rules:\n  - " + rule + "\n", "r.yaml", operator_layout(),
                                  kOperatorHeader);
  };
  EXPECT_THAT([&] { parse("{table: operator, where: op=a, below_us: -1, why: no}"); },
              ThrowsMessage<UserError>(HasSubstr("r.yaml:2")));
  EXPECT_THAT([&] { parse("{table: operators, where: op=a, below_us: 1, why: no}"); },
              ThrowsMessage<UserError>(HasSubstr("nearest is 'operator'")));
  EXPECT_THAT([&] { parse("{table: operator, where: op=a, why: no}"); },
              ThrowsMessage<UserError>(HasSubstr("below_us")));
}

}  // namespace
}  // namespace foretell

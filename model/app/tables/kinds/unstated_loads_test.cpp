#include "model/app/tables/kinds/unstated_loads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const CsvRow kServedHeader = {"model", "gpu", "framework",   "precision", "mode",   "isl",
                              "osl",   "tp",  "concurrency", "ttft_ms",   "tpot_ms"};

const TableLayout& served_layout() { return recognise_table(kServedHeader, "t.csv"); }

CsvRow row_of(const std::string& model, const std::string& ttft_ms) {
  return {model, "h100_sxm", "vllm", "fp4", "agg", "1024", "1025", "4", "512", ttft_ms, "5"};
}

TEST(UnstatedLoads, RowsThatWaitLongerThanAnAnswerTakesAreLeftOut) {
  const UnstatedLoads loads = UnstatedLoads::load(served_layout(), kServedHeader);
  EXPECT_THAT(loads.reason(row_of("gpt-oss-120b", "5121")).value_or(""),
              HasSubstr("a place for every client"));
  EXPECT_FALSE(loads.reason(row_of("gpt-oss-120b", "5120")));  // 1,024 tokens of 5 ms
  EXPECT_FALSE(loads.reason(row_of("Llama-3.1-70B", "50000")));
  EXPECT_FALSE(loads.reason(row_of("gpt-oss-120b", "")));
}

TEST(UnstatedLoads, RulesOfOtherTablesDoNotCount) {
  const CsvRow header = {"gpu", "op", "dtype", "m", "k", "latency_us"};
  const UnstatedLoads loads = UnstatedLoads::load(recognise_table(header, "t.csv"), header);
  EXPECT_FALSE(loads.reason({"g", "compute_scale", "fp8", "1", "32", "1"}));
}

TEST(UnstatedLoads, WrongRulesAreNamed) {
  const auto parse = [](const std::string& rule) {
    return UnstatedLoads::parse("rules:\n  - " + rule + "\n", "r.yaml", served_layout(),
                                kServedHeader);
  };
  EXPECT_THAT([&] { parse("{where: mode=agg, waits_above: -1, source: A, why: no}"); },
              ThrowsMessage<UserError>(HasSubstr("r.yaml:2")));
  EXPECT_THAT([&] { parse("{where: mode=agg, waits_above: 1, why: no}"); },
              ThrowsMessage<UserError>(HasSubstr("source")));
  EXPECT_THAT([&] { parse("{where: mode=agg, waits: 1, source: A, why: no}"); },
              ThrowsMessage<UserError>(HasSubstr("waits_above")));
}

}  // namespace
}  // namespace foretell

#include "model/app/serving/request/measured_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTwo =
    R"({"queued_ts": 100, "scheduled_ts": 100.1, "first_token_ts": 101, "last_token_ts": 103})"
    "\n"
    R"({"queued_ts": 101, "scheduled_ts": 101.1, "first_token_ts": 104, "last_token_ts": 108})"
    "\n";

ServedRecord served(double arrival, double start, double ttft, double e2e, std::int64_t tokens) {
  ServedRecord one;
  one.arrival_s = arrival;
  one.start_s = start;
  one.ttft_s = ttft;
  one.e2e_s = e2e;
  one.output_len = tokens;
  one.answered = true;
  return one;
}

TEST(MeasuredTrace, ComparesMeansFinishAndOrder) {
  const TemporaryFolder folder;
  const std::string trace = folder.write("t.jsonl", kTwo);
  const MeasuredComparison one =
      compare_with_trace(trace, {served(0, 0.1, 1, 3, 3), served(1, 0.1, 2, 7, 5)});
  EXPECT_EQ(one.requests, 2);
  EXPECT_DOUBLE_EQ(one.measured_ttft_s, 2);  // (1 + 3) / 2
  EXPECT_DOUBLE_EQ(one.measured_tpot_s, 1);  // (2 / 2 + 4 / 4) / 2
  EXPECT_DOUBLE_EQ(one.measured_finish_s, 8);
  EXPECT_DOUBLE_EQ(one.ttft_ratio, 3.0 / 4);
  EXPECT_DOUBLE_EQ(one.tpot_ratio, (1 + 1.25) / 2);
  EXPECT_DOUBLE_EQ(one.finish_ratio, 1);
  EXPECT_DOUBLE_EQ(one.same_start_share, 1);
  const MeasuredComparison turned =
      compare_with_trace(trace, {served(0, 5, 6, 8, 3), served(1, 0.1, 2, 7, 5)});
  EXPECT_DOUBLE_EQ(turned.same_start_share, 0);
  EXPECT_THAT(to_text(one), HasSubstr("mean TTFT 2 s, here -25.0 %"));
}

TEST(MeasuredTrace, SaysWhatIsWrongAndWhere) {
  const TemporaryFolder folder;
  const auto problem = [&](const std::string& text, std::size_t requests) {
    try {
      compare_with_trace(folder.write("t.jsonl", text),
                         std::vector<ServedRecord>(requests, served(0, 0, 1, 2, 2)));
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(problem("{\"queued_ts\": 1}\n", 1), HasSubstr("t.jsonl:1: --measured"));
  EXPECT_THAT(problem("arrival_s\n1\n", 1), HasSubstr("must be a JSON object"));
  EXPECT_THAT(problem(kTwo, 1), HasSubstr("leave --requests and --every out"));
  EXPECT_THAT(
      problem(R"({"queued_ts": 2, "scheduled_ts": 1, "first_token_ts": 3, "last_token_ts": 4})", 1),
      HasSubstr("times run backwards"));
  ServedRecord open = served(0, 0, 1, 2, 2);
  open.answered = false;
  EXPECT_THROW(compare_with_trace(folder.write("t.jsonl", kTwo), {open, open}), UserError);
}

}  // namespace
}  // namespace foretell

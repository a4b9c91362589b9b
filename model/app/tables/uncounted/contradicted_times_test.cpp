#include "model/app/tables/uncounted/contradicted_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

const CsvRow kRateHeader = {"id",      "system",     "workload",        "batch",
                            "call_ms", "throughput", "throughput_unit", "notes"};
constexpr const char* kRateRule =
    "rules:\n  - {table: models, differ: [notes], times: 2, why: a rate is of a long run}\n";

// Lines of the rows that do not count; the first row is on line 2.
std::vector<std::size_t> contradicted_lines(const std::vector<std::string>& rows,
                                            const std::string& rules = kRateRule) {
  std::string text = to_csv(kRateHeader);
  for (const std::string& row : rows) text += row + "\n";
  const TemporaryFolder folder;
  const std::string path = folder.write("t.csv", text);
  const UncountedLines times = parse_contradicted_times(
      rules, "r.yaml", path, recognise_table(kRateHeader, path), kRateHeader);
  std::vector<std::size_t> lines;
  for (std::size_t line = 2; line < rows.size() + 2; ++line) {
    if (times.reason(line)) lines.push_back(line);
  }
  return lines;
}

TEST(ContradictedTimes, ATimeCountsThatLeavesABatchAtTheRate) {
  EXPECT_THAT(contradicted_lines({"a,t4,gpt2,8,20,,,time", "b,t4,gpt2,8,,400,samples/s,rate"}),
              IsEmpty());
  EXPECT_THAT(contradicted_lines({"a,t4,gpt2,8,39,,,time", "b,t4,gpt2,8,,400,samples/s,rate"}),
              IsEmpty());
}

TEST(ContradictedTimes, ATimeTwiceTooLongOrTooShortDoesNot) {
  EXPECT_THAT(contradicted_lines({"a,t4,gpt2,8,41,,,time", "b,t4,gpt2,8,,400,samples/s,rate"}),
              ElementsAre(2));
  EXPECT_THAT(contradicted_lines({"b,t4,gpt2,8,,400,samples/s,rate", "a,t4,gpt2,8,9.9,,,time"}),
              ElementsAre(3));
}

// Each GPU may have a copy, or all have one together.
TEST(ContradictedTimes, EveryGpuMayAnswerABatch) {
  const std::string rate = ",gpt2,8,,1600,samples/s,rate";
  EXPECT_THAT(contradicted_lines({"a,t4-x4,gpt2,8,20,,,time", "b,t4-x4" + rate}), IsEmpty());
  EXPECT_THAT(contradicted_lines({"a,t4,gpt2,8,20,,,time", "b,t4" + rate}), ElementsAre(2));
}

TEST(ContradictedTimes, OtherRunsAndOtherUnitsContradictNothing) {
  EXPECT_THAT(contradicted_lines({"a,t4,gpt2,8,41,,,time", "b,t4,gpt2,4,,400,samples/s,rate",
                                  "c,t4,gpt2,8,,400,tokens/s,rate"}),
              IsEmpty());
  // One rate of several that agrees is enough.
  EXPECT_THAT(contradicted_lines({"a,t4,gpt2,8,41,,,time", "b,t4,gpt2,8,,400,samples/s,rate",
                                  "c,t4,gpt2,8,,200,samples/s,other"}),
              IsEmpty());
}

TEST(ContradictedTimes, ARuleThatIsWrongIsNamed) {
  EXPECT_THAT(
      [] { contradicted_lines({}, "rules:\n  - {table: model, differ: [], times: 2, why: x}\n"); },
      ThrowsMessage<UserError>(HasSubstr("models")));
  EXPECT_THAT(
      [] { contradicted_lines({}, "rules:\n  - {table: models, differ: [], times: 0, why: x}\n"); },
      ThrowsMessage<UserError>(HasSubstr("times")));
}

}  // namespace
}  // namespace foretell

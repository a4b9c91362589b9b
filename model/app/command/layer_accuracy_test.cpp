// Layers of attention as the sum of their parts, and kernels of today's language models, on shape
// families that judge, against thresholds. Skipped without the published tables.
#include <gtest/gtest.h>

#include <ostream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/command/testing/published_table.hpp"

namespace foretell {
namespace {

struct Limit {
  const char* table;
  std::vector<std::string> conditions;
  double mape;              // per cent
  const char* every = "1";  // n-th row
};

void PrintTo(const Limit& limit, std::ostream* stream) {
  *stream << limit.table;
  for (const std::string& one : limit.conditions) *stream << ' ' << one;
}

class LayerAccuracy : public ::testing::TestWithParam<Limit> {};

TEST_P(LayerAccuracy, FamiliesThatJudgeAreWithinTheLimit) {
  const std::string table = published_table(GetParam().table);
  if (table.empty()) GTEST_SKIP() << "skipped, no data";
  std::vector<std::string> line = {"validate",
                                   table,
                                   "--held-out",
                                   "--worst",
                                   "0",
                                   "--max-mape",
                                   std::to_string(GetParam().mape)};
  for (const std::string& one : GetParam().conditions) {
    line.emplace_back("--where");
    line.push_back(one);
  }
  const CommandResult result = run_command(line);
  EXPECT_EQ(result.code, kSuccess) << result.result << result.messages;
}

}  // namespace
}  // namespace foretell

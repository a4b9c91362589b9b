// How often the 80 % intervals of GPU kernels hold on families that took part in neither factors
// nor intervals. Skipped without the published tables.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "model/cli/testing/command_runner.hpp"
#include "model/cli/testing/published_table.hpp"

namespace foretell {
namespace {

struct JudgedTable {
  const char* file;
  std::vector<std::string> where;
};

void PrintTo(const JudgedTable& table, std::ostream* stream) { *stream << table.file; }

class IntervalAccuracy : public ::testing::TestWithParam<JudgedTable> {};

TEST_P(IntervalAccuracy, HoldsOnFourFifthsOfTheRowsJudged) {
  const std::string path = published_table(GetParam().file);
  if (path.empty()) GTEST_SKIP() << "skipped, no data";
  std::vector<std::string> line = {"validate", path,       "--held-out", "--worst",
                                   "0",        "--format", "json"};
  for (const std::string& condition : GetParam().where) {
    line.insert(line.end(), {"--where", condition});
  }
  const CommandResult result = run_command(line);
  ASSERT_EQ(result.code, kSuccess) << result.messages;
  const auto overall = nlohmann::json::parse(result.result).at("overall").at(0);
  EXPECT_GE(overall.at("coverage80").get<double>(), 0.75);
  EXPECT_LE(overall.at("coverage80").get<double>(), 0.88);
}

INSTANTIATE_TEST_SUITE_P(
    Tables, IntervalAccuracy,
    ::testing::Values(JudgedTable{"gpu_gemm.csv.gz", {"dtype=bf16"}},
                      JudgedTable{"gpu_attention.csv.gz", {"gpu=h100_sxm", "framework=vllm"}},
                      JudgedTable{"gpu_operators_fp32.csv.gz", {"gpu=v100_pcie_32gb"}},
                      JudgedTable{"gpu_quantise.csv.gz", {}}));

// What a fit or an interval has seen says nothing of how often the interval holds.
TEST(IntervalAccuracyOfSeenRows, IsNotCounted) {
  const std::string path = published_table("gpu_operators_fp32.csv.gz");
  if (path.empty()) GTEST_SKIP() << "skipped, no data";
  const auto coverage_of = [&path](std::vector<std::string> more) {
    std::vector<std::string> line = {"validate", path,         "--where", "gpu=v100_pcie_32gb",
                                     "--where",  "op=softmax", "--worst", "0",
                                     "--format", "json"};
    line.insert(line.end(), more.begin(), more.end());
    const auto report = nlohmann::json::parse(run_command(line).result);
    return report.at("overall").at(0).value("coverage80", -1.0);
  };
  EXPECT_EQ(coverage_of({}), coverage_of({"--held-out"}));
}

}  // namespace
}  // namespace foretell

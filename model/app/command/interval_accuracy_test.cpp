// How often the 80 % intervals of GPU kernels hold on families that took part in neither factors
// nor intervals. Skipped without the published tables.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "calib/fitted/shared/common_factors.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/app/command/testing/published_table.hpp"
#include "model/app/request/resolve/gpu_request.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/testing/temporary_folder.hpp"
#include "model/timing/shared/chain_interval.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

struct JudgedTable {
  const char* file;
  std::vector<std::string> where;
  double least = 0.75;  // share of the rows
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
  EXPECT_GE(overall.at("coverage80").get<double>(), GetParam().least);
  EXPECT_LE(overall.at("coverage80").get<double>(), 0.88);
}

INSTANTIATE_TEST_SUITE_P(Tables, IntervalAccuracy,
                         ::testing::Values(JudgedTable{"gpu_gemm.csv.gz", {"dtype=bf16"}},
                                           JudgedTable{"gpu_attention.csv.gz", {"gpu=h100_sxm"}},
                                           JudgedTable{"gpu_operators_fp32.csv.gz",
                                                       {"gpu=v100_pcie_32gb"}},
                                           // The chips that have factors of their own.
                                           JudgedTable{"gpu_quantise.csv.gz",
                                                       {"gpu=h100_sxm,h200_sxm,b200_sxm,l40s,"
                                                        "rtx_pro_6000_server"},
                                                       0.74},
                                           JudgedTable{"gpu_layers_fp16.csv.gz", {"gpu=a100"}},
                                           JudgedTable{"gpu_collectives.csv.gz", {}, 0.72}));

// The kernels of a layer of a network, measured one by one, against their sum. What whole networks
// on GPUs are said to be uncertain by rests on this.
TEST(IntervalAccuracyOfChains, HoldsOnSumsOverTheKernelsOfALayer) {
  const std::string path = published_table("gpu_layers_fp16.csv.gz");
  if (path.empty()) GTEST_SKIP() << "skipped, no data";
  const TemporaryFolder folder;
  const std::string some = folder.file("some.csv");
  {
    CsvReader table(path);
    const std::size_t gpu = find_column(table.header(), "gpu");
    const std::size_t tokens = find_column(table.header(), "m");
    std::ofstream file(some);
    file << to_csv(table.header());
    for (CsvRow row; table.next(row);) {
      const int count = std::stoi(row[tokens]);
      const bool is_power = (count & (count - 1)) == 0;
      if (row[gpu] == "a100" && is_power) file << to_csv(row);
    }
  }
  const std::string predicted = folder.file("predicted.csv");
  ASSERT_EQ(run_command({"predict", some, "-o", predicted}).code, kSuccess);
  struct Chain {
    std::vector<ChainPart> parts;
    double predicted = 0;
    double measured = 0;
  };
  std::map<std::string, Chain> chains;
  CsvReader table(predicted);
  const auto place = [&table](const char* name) { return find_column(table.header(), name); };
  for (CsvRow row; table.next(row);) {
    const auto number = [&](const char* name) { return std::stod(row[place(name)]); };
    if (!(number("latency_us") > 0)) continue;
    const double us = number("pred_us");
    Chain& chain = chains[row[place("model")] + ' ' + row[place("tp")] + ' ' + row[place("m")]];
    chain.predicted += us;
    chain.measured += number("latency_us");
    chain.parts.push_back({row[place("op")],
                           Seconds(us * 1e-6),
                           {number("pred_lo_us") / us, number("pred_hi_us") / us}});
  }
  double inside = 0;
  for (const auto& [name, chain] : chains) {
    const auto [low, high] = chain_interval80(chain.parts, common_factors().kernel_correlation);
    const double ratio = chain.measured / chain.predicted;
    inside += low <= ratio && ratio <= high ? 1 : 0;
  }
  ASSERT_GE(chains.size(), 100U);
  EXPECT_GE(inside / static_cast<double>(chains.size()), 0.75);
  EXPECT_LE(inside / static_cast<double>(chains.size()), 0.88);
}

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

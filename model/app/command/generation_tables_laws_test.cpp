// Tables about token generation, from their columns to what comes out, on the real model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "model/app/command/application.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr const char* kHeader =
    "system,workload,phase,batch,tp,dp,input_len,output_len,compute_dtype,sequence_parallel,"
    "throughput,throughput_unit\n";

class GenerationTables : public testing::Test {
 protected:
  // The rows of the output of a command over a table.
  std::vector<std::map<std::string, std::string>> rows(const std::string& command,
                                                       const std::string& table, int code) {
    const std::string output = folder_.file("out.csv");
    std::vector<std::string> line = {command, folder_.write("t.csv", kHeader + table), "-o",
                                     output};
    if (command == "validate") line.insert(line.end(), {"--format", "csv"});
    Session session;
    session.predict = predict;
    session.messages = &messages_;
    EXPECT_EQ(run_application(line, session), code) << messages_.str();
    CsvReader reader(output);
    std::vector<std::map<std::string, std::string>> result;
    CsvRow cells;
    while (reader.next(cells)) {
      result.emplace_back();
      for (std::size_t i = 0; i < cells.size(); ++i) result.back()[reader.header()[i]] = cells[i];
    }
    return result;
  }

  const TemporaryFolder folder_;
  std::ostringstream messages_;
};

TEST_F(GenerationTables, TokensThatCountThePromptAreReadInBothWays) {
  const std::string row = "inf2.xlarge,gpt2,decode,1,1,1,96,32,bf16,,100,";
  const auto one = rows("validate", row + "output tokens/s\n", kSuccess);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].at("measured"), "throughput");
  const auto both = rows("validate", row + "tokens/s (counts input+output tokens)\n", kSuccess);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].at("measured"), "throughput");
  EXPECT_EQ(both[1].at("measured"), "throughput (input+output)");
  EXPECT_EQ(both[0].at("bias"), one[0].at("bias"));
  // 128 tokens instead of 32: four times the rate.
  EXPECT_NEAR((1 + std::stod(both[1].at("bias"))) / (1 + std::stod(both[0].at("bias"))), 4, 1e-9);
}

TEST_F(GenerationTables, SpreadTokensAreAColumn) {
  const std::string row = "inf2.48xlarge,llama-2-7b,decode,1,8,1,2048,2,bf16,";
  const auto result =
      rows("predict", row + "no,,\n" + row + "yes,,\n" + row + "maybe,,\n", kOutsideTolerance);
  ASSERT_EQ(result.size(), 3U);
  EXPECT_LT(std::stod(result[1].at("pred_ttft_ms")), std::stod(result[0].at("pred_ttft_ms")));
  EXPECT_EQ(result[1].at("pred_tpot_ms"), result[0].at("pred_tpot_ms"));
  EXPECT_THAT(
      result[2].at("message"),
      testing::HasSubstr("sequence_parallel: 'maybe' is not allowed; it must be yes or no"));
}

}  // namespace
}  // namespace foretell

// `validate --all`: one table of all classes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

// FORETELL_DATA of its own; the one before it is back afterwards.
class MadeUpData : public ::testing::Test {
 protected:
  MadeUpData() {
    if (const char* before = std::getenv(kVariable)) before_ = before;
    setenv(kVariable, folder_.file("").c_str(), 1);
  }
  ~MadeUpData() override {
    before_.empty() ? unsetenv(kVariable) : setenv(kVariable, before_.c_str(), 1);
  }

  static constexpr const char* kVariable = "FORETELL_DATA";
  const TemporaryFolder folder_;

 private:
  std::string before_;
};

// Predicted are 8 ms for a batch of 8: bert-large-cased is of the fit, DistilBERT of the judge
// part.
std::string networks(const std::vector<std::string>& rows) {
  std::string text = "system,workload,family,phase,batch,compute_dtype,use,sdk,call_ms\n";
  for (const std::string& row : rows) text += row + "\n";
  return text;
}
std::string network(const std::string& name, const std::string& call_ms) {
  return "inf2.xlarge," + name + ",encoder,forward,8,bf16,yes,2.18," + call_ms;
}

TEST_F(MadeUpData, PartsStandInOneLineWithTheVaultFirst) {
  folder_.write("neuron_models_measured.csv",
                networks({network("bert-large-cased", "10"), network("bert-large-cased", "10.5"),
                          network("distilbert-base-uncased", "16"), network("roberta-base", "8")}));
  const CommandResult result =
      run_command({"validate", "--all", "--class", "encoders on Neuron", "--worst", "0"});
  ASSERT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, ::testing::ContainsRegex("MAPE vault +MAPE judge +MAPE fit"));
  // RoBERTa-base is in the vault. Of the fit part 20 and 23.8 %, 2.4 % from their median.
  EXPECT_THAT(result.result, ::testing::ContainsRegex(
                                 "encoders on Neuron: call_ms +3 +2 +closed +50.0 % +21.9 %"));
  EXPECT_THAT(result.result, HasSubstr("2.4 %"));
}

TEST_F(MadeUpData, OneRowInAFewOfEveryGroupCountsAndTheNoiseIsOfAll) {
  std::vector<std::string> rows;
  for (int i = 0; i < 6; ++i) rows.push_back(network("bert-large-cased", i % 2 ? "10" : "10.5"));
  rows.push_back(network("gpt2", "9"));
  folder_.write("neuron_models_measured.csv", networks(rows));
  const auto of_every = [](const std::string& every) {
    return run_command({"validate", "--all", "--class", "encoders on Neuron", "--worst", "0",
                        "--every", every})
        .result;
  };
  EXPECT_THAT(of_every("3"),
              ::testing::ContainsRegex("encoders on Neuron, 1 row in 3: call_ms +3 +2 "));
  EXPECT_THAT(of_every("1000"), ::testing::ContainsRegex("call_ms +2 +2 .* 2.4 %"));
  EXPECT_THAT(of_every("1"), ::testing::ContainsRegex("encoders on Neuron: call_ms +7 +2 "));
}

TEST_F(MadeUpData, ATableSamplesToo) {
  const std::string table = folder_.write(
      "t.csv", networks({network("bert-large-cased", "10"), network("bert-large-cased", "11"),
                         network("bert-large-cased", "12"), network("gpt2", "9")}));
  const CommandResult result = run_command({"validate", table, "--every", "2"});
  EXPECT_THAT(result.result, HasSubstr("3 of 4 rows count: use=yes; one row in 2 of a group"));
}

TEST_F(MadeUpData, WhatIsMissingIsSaid) {
  const CommandResult none = run_command({"validate", "--all", "--class", "GPU products"});
  EXPECT_EQ(none.code, kUserMistake);
  EXPECT_THAT(none.messages, HasSubstr("GPU products: left out; FORETELL_DATA names no folder"));
  EXPECT_THAT(run_command({"validate", "--all", "--class", "GPU product"}).messages,
              HasSubstr("nearest is 'GPU products'"));
  EXPECT_THAT(run_command({"validate", "t.csv", "--class", "GPU products"}).messages,
              HasSubstr("--class: is of --all"));
  EXPECT_THAT(run_command({"validate", "--all", "--every", "0"}).messages, HasSubstr("--every"));
}

}  // namespace
}  // namespace foretell

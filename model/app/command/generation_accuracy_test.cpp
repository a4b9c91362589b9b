// Predicted generation against what the vendor measured, on networks that no factor was fitted to.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "model/app/command/testing/validate_run.hpp"

namespace foretell {
namespace {

constexpr const char* kHeldOut = "workload=Llama-3-70B,Llama-3-8B";  // as calib/fit splits them

// Rows of token generation that are trusted and of the latest release.
class GenerationAccuracy : public PublishedNeuronRows {
 protected:
  ValidatedErrors rows(const std::string& quantity,
                       const std::vector<std::string>& conditions) const {
    std::vector<std::string> arguments = {"--latest", "--where", "phase=decode"};
    for (const std::string& condition : conditions) {
      arguments.emplace_back("--where");
      arguments.push_back(condition);
    }
    return errors(quantity, std::move(arguments));
  }
};

TEST_F(GenerationAccuracy, TokensOfHeldOutNetworksInBf16) {
  const ValidatedErrors tpot = rows("tpot_ms", {kHeldOut, "weight_dtype=bf16"});
  EXPECT_GE(tpot.rows, 12);
  EXPECT_LE(tpot.mape, 0.07);
  EXPECT_LE(tpot.p90, 0.15);
}

TEST_F(GenerationAccuracy, TokensWithWeightsInInt8) {
  const ValidatedErrors tpot = rows("tpot_ms", {kHeldOut, "weight_dtype=int8"});
  EXPECT_GE(tpot.rows, 6);
  EXPECT_LE(tpot.mape, 0.12);
}

TEST_F(GenerationAccuracy, FirstTokensOfHeldOutNetworks) {
  const ValidatedErrors ttft = rows("ttft_ms", {kHeldOut});
  EXPECT_GE(ttft.rows, 18);
  EXPECT_LE(ttft.mape, 0.16);
}

// The thresholds hold because of the factors, not because they are loose.
TEST_F(GenerationAccuracy, FactorsAreWhatMakesTheDifference) {
  const TemporaryFolder folder;
  const std::string file = folder.file("errors.csv");
  Session session;
  session.predict = predict;
  std::ostringstream messages;
  session.messages = &messages;
  EXPECT_EQ(run_application({"validate", table_, "--latest", "--where", "phase=decode", "--where",
                             kHeldOut, "--factors", "none", "--max-mape", "7", "-o", file},
                            session),
            kOutsideTolerance);
}

}  // namespace
}  // namespace foretell

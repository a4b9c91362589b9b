// Predicted calls of convolutional networks against what the vendor measured. One factor saw older
// releases of the residual ones; for the rest those of encoders hold.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/app/command/testing/validate_run.hpp"

namespace foretell {
namespace {

class VisionAccuracy : public PublishedNeuronRows {
 protected:
  static std::vector<std::string> rows_of(const std::string& workloads) {
    return {"--where", "workload=" + workloads, "--where", "compute_dtype=bf16-matmul", "--latest"};
  }
};

TEST_F(VisionAccuracy, NetworksOfTheLatestReleaseThatNoFactorWasFittedTo) {
  const ValidatedErrors call = errors("call_ms", rows_of("resnet18,resnet50,vgg16,resnet152"));
  EXPECT_GE(call.rows, 8);
  EXPECT_LE(call.mape, 0.12);
}

// Every release of the architecture that no factor was fitted to. What a call of images took in
// older releases is a constant, of which ResNets at batch 1, who are short, show most.
TEST_F(VisionAccuracy, OlderReleasesOfANetworkThatNoFactorWasFittedTo) {
  const ValidatedErrors call =
      errors("call_ms", {"--where", "workload=vgg16", "--where", "system=inf2.xlarge"});
  EXPECT_GE(call.rows, 17);
  EXPECT_LE(call.mape, 0.12);
  const std::vector<std::string> old = {"--where", "workload=resnet18,resnet50,resnet152",
                                        "--where", "batch=1,sdk=2.16.0,2.17.0"};
  std::vector<std::string> without = old;
  without.insert(without.end(), {"--set", "factors.sdk_image_call_time.2.17=1"});
  EXPECT_LE(errors("call_ms", old).mape, 0.06);
  EXPECT_GT(errors("call_ms", without).mape, 0.14);
}

// Vision transformers, CLIP and Perceiver, of every release.
TEST_F(VisionAccuracy, TransformersThatNoFactorWasFittedTo) {
  const ValidatedErrors call =
      errors("call_ms", {"--where", "family=vision-transformer", "--where", "system=inf2.xlarge"});
  EXPECT_GE(call.rows, 20);
  EXPECT_LE(call.mape, 0.15);
}

TEST_F(VisionAccuracy, TheIntervalHoldsFourOfFive) {
  const ValidatedErrors call = errors(
      "call_ms", {"--where", "family=cnn,vision-transformer", "--where", "system=inf2.xlarge"});
  EXPECT_GE(call.coverage, 0.75);
  EXPECT_LE(call.coverage, 0.88);
}

}  // namespace
}  // namespace foretell

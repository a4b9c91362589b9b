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

// Every release of the architecture that no factor was fitted to, which facts and the age of the
// compiler on encoders miss.
TEST_F(VisionAccuracy, OlderReleasesOfANetworkThatNoFactorWasFittedTo) {
  const std::vector<std::string> vgg = {"--where", "workload=vgg16", "--where",
                                        "system=inf2.xlarge"};
  const ValidatedErrors call = errors("call_ms", vgg);
  EXPECT_GE(call.rows, 17);
  EXPECT_LE(call.mape, 0.09);
  std::vector<std::string> without = vgg;
  without.insert(without.end(), {"--set", "factors.sdk_convolution_time.2.17=1"});
  EXPECT_GT(errors("call_ms", without).mape, 0.12);
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

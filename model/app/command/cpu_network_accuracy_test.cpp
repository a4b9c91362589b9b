// Published networks on a CPU that nothing was fitted to.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/app/command/testing/validate_run.hpp"

namespace foretell {
namespace {

class CpuNetworkAccuracy : public PublishedNeuronRows {
 protected:
  void SetUp() override {
    table_ = published_table("networks_measured.csv.gz");
    if (table_.empty()) GTEST_SKIP() << "skipped, no data";
  }

  static std::vector<std::string> rows_of(const std::string& workloads) {
    return {"--where", "system=i9-10940x", "--where", "workload=" + workloads};
  }
};

// ResNet-34, VGG-16 and two vision transformers are of the judge part.
TEST_F(CpuNetworkAccuracy, NetworksOnAnUnmeasuredCpu) {
  const ValidatedErrors call =
      errors("call_ms", rows_of("resnet34,vgg16,vit_base_patch16_224,vit_large_patch16_224"));
  EXPECT_GE(call.rows, 12);
  EXPECT_LE(call.mape, 0.25);
  EXPECT_GE(call.coverage, 0.7);
}

// Most of their weights are of a convolution of 411 MB, whose copies are new memory in every call;
// fit part.
TEST_F(CpuNetworkAccuracy, CopiesOfWeightsThatNoAllocatorKeeps) {
  std::vector<std::string> rows = rows_of("vgg11,vgg19");
  EXPECT_LE(errors("call_ms", rows).mape, 0.2);
  rows.insert(rows.end(), {"--set", "system.fresh_buffers=0 B"});
  EXPECT_GT(errors("call_ms", rows).mape, 0.3);
}

// What its software does in every call is most of the error without it.
TEST_F(CpuNetworkAccuracy, WeightsLaidOutInEveryCallAreWhatIsMissingOtherwise) {
  std::vector<std::string> rows = rows_of("resnet18,resnet50,resnet152");
  EXPECT_LE(errors("call_ms", rows).mape, 0.12);
  rows.insert(rows.end(), {"--set", "system.weight_layouts=0", "--set", "system.window_layouts=0"});
  EXPECT_GT(errors("call_ms", rows).mape, 0.38);
}

}  // namespace
}  // namespace foretell

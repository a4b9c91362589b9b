#include "hw/spec/shared/checks.hpp"

#include <gmock/gmock.h>

#include "model/testing/hw_test_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

using ChecksTest = HwTestFolder;

TEST_F(ChecksTest, TopologyAndDevicesBelongTogether) {
  EXPECT_EQ(set_message("system.devices=2"),
            "inf2.xlarge: system.topology: 'none' links 1 devices, system.devices is 2; change one "
            "of them");
  LoadOptions options;
  options.set = {"system.devices=2", "system.topology=ring"};
  EXPECT_EQ(load_message("inf2.xlarge", options), "accepted");
  options.set = {"system.topology=ring"};
  EXPECT_THAT(load_message("inf2.xlarge", options), HasSubstr("'ring' links 2 or more devices"));
  options.set = {"system.devices=15"};
  EXPECT_THAT(load_message("trn1.32xlarge", options), HasSubstr("'torus-4x4' links 16 devices"));
}

TEST_F(ChecksTest, ATopologyNeedsItsLinks) {
  LoadOptions options;
  options.set = {"link.count=3"};
  EXPECT_THAT(load_message("trn1.32xlarge", options),
              HasSubstr("link.count: topology 'torus-4x4' needs 4 links per device, there are 3"));
  options.set = {"link.count=4"};
  EXPECT_EQ(load_message("trn1.32xlarge", options), "accepted");
}

TEST_F(ChecksTest, TheMemoriesFitTheArray) {
  EXPECT_THAT(set_message("core.tensor.rows=64"),
              HasSubstr("core.sbuf.partitions: 128 differs from core.tensor.rows, which is 64"));
  EXPECT_THAT(set_message("core.psum.partitions=64"),
              HasSubstr("core.psum.partitions: 64 differs from core.tensor.columns"));
}

TEST_F(ChecksTest, APsumBankHoldsOneMultiply) {
  EXPECT_EQ(set_message("core.tensor.max_moving=512"), "accepted");  // 2 KiB, exactly a bank
  EXPECT_THAT(set_message("core.tensor.max_moving=511"), HasSubstr("set 512 or more"));
  EXPECT_THAT(set_message("core.tensor.max_moving=513"),
              HasSubstr("513 FP32 results need 2052 B of a PSUM bank per partition, a bank has 2 "
                        "KiB"));
}

}  // namespace
}  // namespace foretell

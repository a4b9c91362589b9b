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

TEST_F(ChecksTest, ArraysAndMemoriesOfOtherSizesAreFine) {
  for (const char* set :
       {"core.tensor.rows=64", "core.tensor.columns=256", "core.sbuf.partitions=64",
        "core.psum.partitions=256", "core.tensor.max_moving=100", "core.tensor.max_moving=2048",
        "core.psum.banks=4"})
    EXPECT_EQ(set_message(set), "accepted") << set;
}

TEST_F(ChecksTest, APsumBankHoldsATransposedTile) {
  EXPECT_THAT(set_message("core.tensor.rows=4096"),
              HasSubstr("core.psum.capacity: 2 MiB in 8 banks: a bank does not hold a tile of 4096 "
                        "x 4096 FP32 sums"));
  EXPECT_THAT(set_message("core.tensor.columns=512"), HasSubstr("set 8 MiB or more"));
  EXPECT_THAT(set_message("core.psum.banks=64"), HasSubstr("or fewer core.psum.banks"));
}

}  // namespace
}  // namespace foretell

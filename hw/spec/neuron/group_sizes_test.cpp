#include "hw/spec/neuron/group_sizes.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"
#include "model/testing/hw_test_folder.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string parse_message(const std::string& text) {
  try {
    parse_group_sizes(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(GroupSizes, ListsAreReadAndNothingElse) {
  EXPECT_THAT(parse_group_sizes("2, 4,8 , 12"), ElementsAre(2, 4, 8, 12));
  EXPECT_THAT(parse_group_sizes("2"), ElementsAre(2));
  for (const char* bad : {"", "2,", "two", "1, 2", "4, 2", "2, 2", "2 4", "2, 4x", "2.5", "-2"}) {
    EXPECT_THAT(parse_message(bad), HasSubstr("such as '2, 4, 8'")) << bad;
  }
}

TEST(GroupSizes, AsTheVendorAllowsAndTheInstanceHolds) {
  const Catalog catalog;
  EXPECT_THAT(allowed_group_sizes(catalog.load("inf2.xlarge").spec), ElementsAre(1, 2));
  EXPECT_THAT(allowed_group_sizes(catalog.load("inf2.24xlarge").spec), ElementsAre(1, 2, 4, 8, 12));
  EXPECT_THAT(allowed_group_sizes(catalog.load("inf2.48xlarge").spec),
              ElementsAre(1, 2, 4, 8, 12, 24));
  EXPECT_THAT(allowed_group_sizes(catalog.load("trn1.32xlarge").spec), ElementsAre(1, 2, 8, 32));
  EXPECT_THAT(allowed_group_sizes(catalog.load("trn1.32xlarge-x3").spec),
              ElementsAre(1, 2, 8, 32, 64, 96));
  EXPECT_THAT(allowed_group_sizes(load_calibrated("trn2-ultraserver").spec),
              ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 192, 256));
}

TEST(GroupSizes, ADegreeThatIsNotAllowedNamesThoseThatAre) {
  const NeuronSystemSpec system = Catalog().load("inf2.48xlarge").spec;
  EXPECT_NO_THROW(require_group_size(system, 1));
  EXPECT_NO_THROW(require_group_size(system, 24));
  for (const int bad : {-1, 0, 3, 5, 32}) {
    try {
      require_group_size(system, bad);
      FAIL() << bad << " was accepted";
    } catch (const UserError& error) {
      EXPECT_EQ(error.what(), "tensor parallel degree " + std::to_string(bad) +
                                  " is not possible on inf2.48xlarge; possible are 1, 2, 4, 8, "
                                  "12, 24");
    }
  }
}

TEST(GroupSizes, ADegreeOfSeveralInstancesNamesThem) {
  EXPECT_THAT(
      [] { require_group_size(Catalog().load("trn1.32xlarge").spec, 64); },
      ::testing::ThrowsMessage<UserError>(HasSubstr("; trn1.32xlarge-x2 has as many cores")));
  EXPECT_THAT(
      [] { require_group_size(Catalog().load("inf2.48xlarge-x2").spec, 96); },
      ::testing::ThrowsMessage<UserError>(HasSubstr("; inf2.48xlarge-x4 has as many cores")));
  EXPECT_NO_THROW(require_group_size(Catalog().load("inf2.48xlarge-x2").spec, 48));
}

class GroupSizesTest : public HwTestFolder {};

TEST_F(GroupSizesTest, AListThatCannotBeReadIsAnErrorOfTheSystem) {
  EXPECT_EQ(set_message("device.collective.group_sizes=2, 6"), "accepted");
  EXPECT_THAT(set_message("device.collective.group_sizes=many"),
              HasSubstr("inf2.xlarge: device.collective.group_sizes: 'many' is no list"));
}

std::string refusal(const std::vector<std::string>& set, int ranks) {
  try {
    require_group_size(Catalog().load("inf2.24xlarge", set).spec, ranks);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(GroupSizes, OnlyAGroupAsksWhetherDevicesFit) {
  EXPECT_EQ(refusal({"device.cores=3"}, 1), "");
  EXPECT_EQ(refusal({"device.cores=3"}, 2), "");
  EXPECT_EQ(refusal({"device.cores=3"}, 12), "");
  EXPECT_THAT(refusal({"device.cores=3"}, 4),
              HasSubstr("4 ranks do not fill devices of 3 cores; possible are 1, 2, 12"));
  EXPECT_THAT(refusal({"device.cores=3"}, 6), HasSubstr("--set device.collective.group_sizes='6'"));
  EXPECT_EQ(refusal({"device.cores=3", "device.collective.group_sizes=6"}, 6), "");
}

TEST(GroupSizes, EveryRingOfAGroupNeedsACcCorePerCore) {
  EXPECT_EQ(refusal({"device.cc_cores=1"}, 1), "");
  EXPECT_EQ(refusal({"device.cc_cores=2"}, 2), "");
  EXPECT_EQ(refusal({"device.cc_cores=1"}, 2),
            "inf2.24xlarge: device.cc_cores: 1 ring of 2 cores need 2, there are 1; --set "
            "device.cc_cores=2");
}

}  // namespace
}  // namespace foretell

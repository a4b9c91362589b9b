#include "reports/render/energy_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RunRecord drawing() {
  RunRecord record;
  record.context.system = "some-system";
  record.summary.watts = 300;
  record.summary.joules_per_token = 2;
  EnergyRecord energy;
  energy.parts = {{"dram", 1, true}, {"active idle", 3, false}};
  energy.joules_by_operator = {{"MatMul", 0.75}, {"Softmax", 0.25}};
  record.summary.energy = energy;
  return record;
}

TEST(EnergyText, PartsAreSharesOfAllJoulesLargestFirst) {
  const std::string text = energy_text(drawing());
  EXPECT_THAT(text, HasSubstr("4.00 J in all"));
  EXPECT_THAT(text, HasSubstr("75.0 %"));
  EXPECT_LT(text.find("active idle"), text.find("dram"));
  EXPECT_THAT(text, HasSubstr("25.0 %  measured on the device"));
  EXPECT_THAT(text, HasSubstr("18.8 %"));  // of products, of all joules
}

TEST(EnergyText, ARowForEachPrediction) {
  RunRecord unknown;
  unknown.context.system = "other";
  const std::string text = energies_text({drawing(), unknown}, 0);
  EXPECT_THAT(text, HasSubstr("active idle 75.0 %"));
  EXPECT_THAT(text, HasSubstr("other"));
}

TEST(EnergyText, SaysWhereNoneIsKnown) {
  EXPECT_THAT(energy_text(RunRecord()), HasSubstr("none of this device"));
  EXPECT_THAT(energy_text(drawing()), Not(HasSubstr("none of this device")));
}

}  // namespace
}  // namespace foretell

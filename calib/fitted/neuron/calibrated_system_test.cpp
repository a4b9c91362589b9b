#include "calib/fitted/neuron/calibrated_system.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/testing/hw_test_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

using CalibratedSystemTest = HwTestFolder;

const Parameter& listed(const CalibratedSystem& system, const std::string& path) {
  for (const Parameter& candidate : system.parameters) {
    if (candidate.path == path) return candidate;
  }
  throw InternalError(__FILE__, __LINE__, path + " is not listed");
}

TEST_F(CalibratedSystemTest, FactorsNoneIsNeutral) {
  LoadOptions options;
  options.factors = "none";
  const CalibratedSystem system = load("inf2.xlarge", options);
  EXPECT_EQ(system.factors_id, "none");
  EXPECT_EQ(system.factors_status, "none");
  EXPECT_EQ(system.factors.dma_rate_fraction, 1);
  EXPECT_EQ(system.factors.call_overhead, Seconds(0));
  EXPECT_TRUE(system.factors.sdk_engine_time.empty());
  EXPECT_EQ(listed(system, "factors.dma_rate_fraction").kind, ValueKind::kNeutral);
}

TEST_F(CalibratedSystemTest, FactorsComeFromTheFileThatIsNamed) {
  LoadOptions options;
  options.factors = (root_ / "factors/inferentia2.yaml").string();
  EXPECT_EQ(load("inf2.xlarge", options).factors_id, load("inf2.xlarge").factors_id);
  options.factors = (root_ / "factors/trainium1.yaml").string();
  EXPECT_THAT(load_message("inf2.xlarge", options),
              HasSubstr("fitted on 'trainium1', but the system has 'inferentia2'"));
  options.factors = "nowhere.yaml";
  EXPECT_EQ(load_message("inf2.xlarge", options), "nowhere.yaml: no such file");
}

TEST_F(CalibratedSystemTest, ADeviceWithoutFactorsRunsOnFacts) {
  std::filesystem::remove(root_ / "factors/inferentia2.yaml");
  EXPECT_EQ(load("inf2.xlarge").factors_id, "none");
}

TEST_F(CalibratedSystemTest, EveryFileBelongsToADevice) {
  const std::vector<std::string> devices = catalog().devices();
  EXPECT_THAT(ids_in(factors_folder()), ::testing::ElementsAre("inferentia2", "trainium1"));
  for (const std::string& device : ids_in(factors_folder())) {
    EXPECT_THAT(devices, ::testing::Contains(device));
  }
}

TEST_F(CalibratedSystemTest, TheEnvironmentNamesOtherFactors) {
  ASSERT_EQ(setenv("FORETELL_FACTORS", (root_ / "factors").c_str(), 1), 0);
  EXPECT_EQ(factors_folder(), root_ / "factors");
  ASSERT_EQ(setenv("FORETELL_FACTORS", (root_ / "nowhere").c_str(), 1), 0);
  EXPECT_THROW(factors_folder(), UserError);
  ASSERT_EQ(unsetenv("FORETELL_FACTORS"), 0);
  EXPECT_EQ(factors_folder().filename(), "factors");
}

TEST_F(CalibratedSystemTest, AFolderCountsWhereItHasTheDevice) {
  std::filesystem::create_directories(root_ / "mine");
  std::filesystem::copy(root_ / "factors/inferentia2.yaml", root_ / "mine/inferentia2.yaml");
  edit("mine/inferentia2.yaml", "219.9 us", "226 us");
  const LoadOptions mine{{}, (root_ / "mine").string()};
  EXPECT_DOUBLE_EQ(load("inf2.xlarge", mine).factors.call_overhead.value(), 226e-6);
  EXPECT_EQ(load("trn1.2xlarge", mine).factors_id, load("trn1.2xlarge").factors_id);
}

TEST_F(CalibratedSystemTest, FactsAreTheSameWithoutFactors) {
  const LoadedSystem facts = catalog().load("inf2.xlarge");
  const CalibratedSystem calibrated = load("inf2.xlarge");
  EXPECT_EQ(facts.spec_id, calibrated.spec_id);
  EXPECT_EQ(facts.assumed_values, calibrated.assumed_values);
  EXPECT_LT(facts.parameters.size(), calibrated.parameters.size());
  EXPECT_THROW(catalog().load("inf2.xlarge", {"factors.clock_derate=1"}), UserError);
}

}  // namespace
}  // namespace foretell

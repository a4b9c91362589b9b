#include "hw/spec/shared/catalog.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "model/base/text.hpp"
#include "model/testing/hw_test_folder.hpp"

namespace foretell {
namespace {

using namespace literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using CatalogTest = HwTestFolder;

const Parameter& parameter(const CalibratedSystem& system, const std::string& path) {
  for (const Parameter& candidate : system.parameters) {
    if (candidate.path == path) return candidate;
  }
  throw InternalError(__FILE__, __LINE__, path + " is not listed");
}

TEST_F(CatalogTest, FillsTheSpecFromThreeFiles) {
  const CalibratedSystem system = load("inf2.48xlarge");
  EXPECT_EQ(system.spec.id, "inf2.48xlarge");
  EXPECT_EQ(system.spec.devices, 12);
  EXPECT_EQ(system.spec.topology, "ring");
  EXPECT_EQ(system.spec.device.id, "inferentia2");
  EXPECT_EQ(system.spec.device.name, "AWS Inferentia2");
  EXPECT_EQ(system.spec.device.hbm.bandwidth, 820.0_GBps);
  EXPECT_EQ(system.spec.device.core.id, "neuroncore-v2");
  EXPECT_EQ(system.spec.device.core.dma.engines, 16);
  EXPECT_DOUBLE_EQ(system.spec.price_usd_per_hour.at("on_demand"), 12.98);
  EXPECT_GT(system.factors.clock_derate, 1);
}

TEST_F(CatalogTest, SystemIdsAreCaseInsensitive) {
  EXPECT_EQ(load("INF2.XLarge").spec.id, "inf2.xlarge");
}

TEST_F(CatalogTest, AnUnknownSystemNamesTheNearestAndTheList) {
  EXPECT_THAT(
      load_message("inf2.xlage"),
      AllOf(StartsWith("unknown system 'inf2.xlage'; nearest is 'inf2.xlarge'; there are: "),
            HasSubstr("trn1.32xlarge")));
}

TEST_F(CatalogTest, SeveralInstancesHaveTheDevicesHostsAndPricesOfAll) {
  const NeuronSystemSpec one = load("trn1.32xlarge").spec;
  for (const char* name : {"trn1.32xlarge-x2", "TRN1.32xlarge x2", "2xtrn1.32xlarge"}) {
    const CalibratedSystem two = load(name);
    EXPECT_EQ(two.spec.id, "trn1.32xlarge-x2") << name;
    EXPECT_EQ(two.spec.instance_name(), "trn1.32xlarge");
    EXPECT_EQ(two.spec.devices, 32);
    EXPECT_EQ(two.spec.devices_of_instance(), 16);
    EXPECT_EQ(two.spec.vcpus, 2 * one.vcpus);
    EXPECT_EQ(two.spec.host_memory, one.host_memory * 2);
    EXPECT_EQ(two.spec.network, one.network);
    EXPECT_DOUBLE_EQ(two.spec.price_usd_per_hour.at("on_demand"),
                     2 * one.price_usd_per_hour.at("on_demand"));
    EXPECT_EQ(parameter(two, "system.price.on_demand").value, "43 USD/h");
    EXPECT_EQ(parameter(two, "system.devices").value, "32");
  }
  EXPECT_EQ(load("trn1.32xlarge-x1").spec.id, "trn1.32xlarge");
}

TEST_F(CatalogTest, InstancesThatAreNotSeveralSayWhy) {
  const struct {
    const char* name;
    const char* message;
  } wrong[] = {
      {"inf2.24xlarge-x2", "the file of inf2.24xlarge states no system.network_hop"},
      {"trn1.32xlarge-x65", "name 1 to 64 instances of trn1.32xlarge"},
      {"trn1.32xlarge-x0", "name 1 to 64 instances of trn1.32xlarge"},
      {"trn2-ultraserver-x2", "is 4 instances already, and the largest there is"},
      {"trn9.32xlarge-x2", "unknown system 'trn9.32xlarge-x2'; nearest is"},
  };
  for (const auto& one : wrong)
    EXPECT_THAT(load_message(one.name), HasSubstr(one.message)) << one.name;
  EXPECT_THAT(load_message("inf2.48xlarge", {{"system.instances=5"}, ""}),
              HasSubstr("12 devices do not divide into 5 instances"));
}

TEST_F(CatalogTest, ListsWhatIsThere) {
  EXPECT_THAT(catalog().systems(),
              ::testing::ElementsAre("inf2.24xlarge", "inf2.48xlarge", "inf2.8xlarge",
                                     "inf2.xlarge", "trainium3", "trainium3-x4", "trn1.2xlarge",
                                     "trn1.32xlarge", "trn2-ultraserver", "trn2.48xlarge"));
  EXPECT_THAT(catalog().devices(),
              ::testing::ElementsAre("inferentia2", "trainium1", "trainium2", "trainium3"));
  EXPECT_THAT(catalog().cores(),
              ::testing::ElementsAre("neuroncore-v2", "neuroncore-v3", "neuroncore-v4"));
}

TEST_F(CatalogTest, ParametersNameValueSourceAndKind) {
  const CalibratedSystem system = load("inf2.xlarge");
  const Parameter& bandwidth = parameter(system, "device.hbm.bandwidth");
  EXPECT_EQ(bandwidth.value, "820 GB/s");
  EXPECT_EQ(bandwidth.source, "A2:21");
  EXPECT_EQ(bandwidth.kind, ValueKind::kDocumented);
  EXPECT_EQ(bandwidth.use, "architecture-guide");
  ASSERT_EQ(bandwidth.alternatives.size(), 2U);
  EXPECT_EQ(bandwidth.alternatives[1].value.value, "820 GiB/s");
  EXPECT_FALSE(bandwidth.overridden);
  EXPECT_EQ(parameter(system, "factors.clock_derate").kind, ValueKind::kFitted);
  EXPECT_EQ(parameter(system, "factors.clock_derate").source, system.factors_id);
}

TEST_F(CatalogTest, AnOverrideChangesValueAndProvenance) {
  LoadOptions options;
  options.set = {"device.hbm.bandwidth=1.6TB/s",
                 "core.vector.clock = 2 GHz",
                 "device.cores=4",
                 "link.count=3",
                 "system.vcpus=8",
                 "factors.call_overhead=28 us"};
  const CalibratedSystem system = load("inf2.xlarge", options);
  EXPECT_EQ(system.spec.device.hbm.bandwidth.value(), 1.6e12);
  EXPECT_EQ(system.spec.device.core.vector.clock, 2.0_GHz);
  EXPECT_EQ(system.spec.device.core.scalar.clock, 1.4_GHz);
  EXPECT_EQ(system.spec.device.cores, 4);
  EXPECT_EQ(system.spec.device.link.count, 3);
  EXPECT_EQ(system.spec.vcpus, 8);
  EXPECT_DOUBLE_EQ(system.factors.call_overhead.value(), 28e-6);
  const Parameter& bandwidth = parameter(system, "device.hbm.bandwidth");
  EXPECT_TRUE(bandwidth.overridden);
  EXPECT_EQ(bandwidth.value, "1.6 TB/s");
  EXPECT_EQ(bandwidth.source, "--set");
  EXPECT_EQ(bandwidth.kind, ValueKind::kOverride);
}

TEST_F(CatalogTest, UseChoosesThePublishedAlternative) {
  LoadOptions options;
  options.set = {"device.hbm.bandwidth.use=device-page"};
  const CalibratedSystem system = load("inf2.xlarge", options);
  EXPECT_EQ(system.spec.device.hbm.bandwidth.value(), 820.0 * 1073741824);
  const Parameter& bandwidth = parameter(system, "device.hbm.bandwidth");
  EXPECT_EQ(bandwidth.value, "820 GiB/s");
  EXPECT_EQ(bandwidth.use, "device-page");
  EXPECT_FALSE(bandwidth.overridden);  // still a published value with a source
}

TEST_F(CatalogTest, OverridingAnAssumedValueTakesItOffTheCount) {
  const int before = load("inf2.xlarge").assumed_values;
  LoadOptions options;
  options.set = {"device.hbm.latency=100 ns"};
  EXPECT_EQ(load("inf2.xlarge", options).assumed_values, before - 1);
  options.set = {"device.hbm.bandwidth=1 TB/s"};
  EXPECT_EQ(load("inf2.xlarge", options).assumed_values, before);
}

TEST_F(CatalogTest, OverridesThatCannotBe) {
  EXPECT_EQ(set_message("device.hbm.bandwith=1 TB/s"),
            "--set device.hbm.bandwith=1 TB/s: device.hbm.bandwith: no such parameter; nearest is "
            "'device.hbm.bandwidth'");
  EXPECT_THAT(set_message("hbm.bandwidth=1 TB/s"), HasSubstr("nearest is 'device.hbm.bandwidth'"));
  EXPECT_THAT(set_message("device.core.dma.engines=8"), HasSubstr("nearest is 'core.dma.engines'"));
  EXPECT_THAT(set_message("device.hbm=1"), HasSubstr("a group, not a parameter"));
  EXPECT_THAT(set_message("device.hbm.bandwidth=820"), HasSubstr("'820' has no unit"));
  EXPECT_THAT(set_message("device.hbm.bandwidth=820 GB"), HasSubstr("is a data size"));
  EXPECT_THAT(set_message("device.hbm.bandwidth="), HasSubstr("the value is empty"));
  EXPECT_THAT(set_message("device.hbm.bandwidth"), HasSubstr("expected PATH=VALUE"));
  EXPECT_THAT(set_message("device.cores=0"), HasSubstr("'0' is outside whole number 1 .. 1024"));
  EXPECT_THAT(set_message("link[3].bandwidth=1 TB/s"),
              HasSubstr("'link.bandwidth' sets every one of them"));
  EXPECT_THAT(set_message("device[3].hbm.bandwidth=1 TB/s"),
              HasSubstr("--set device[3]: inf2.xlarge has 1 device, counted from 0"));
  EXPECT_THAT(set_message("device[x].hbm.bandwidth=1 TB/s"), HasSubstr("'x' is no index"));
  EXPECT_THAT(set_message("device[0].cores=4"), HasSubstr("is the same for all devices"));
  EXPECT_THAT(set_message("device[0].hbm.bandwith=1 TB/s"),
              HasSubstr("nearest is 'device.hbm.bandwidth'"));
  EXPECT_THAT(set_message("device.hbm.bandwidth.use=devic-page"),
              HasSubstr("unknown alternative 'devic-page'; nearest is 'device-page'"));
  EXPECT_THAT(set_message("core.tensor.clock.use=guide"), HasSubstr("nothing to choose"));
  EXPECT_THAT(set_message("factors.sdk_engine_time.new=1"), HasSubstr("'new' is no SDK version"));
}

TEST_F(CatalogTest, AllOverridesAreCheckedAtOnce) {
  LoadOptions options;
  options.set = {"core.tensor.clock=1 GHz", "core.tensor.clock=2 GHz", "foo=1", "device.cores=x"};
  EXPECT_EQ(load_message("inf2.xlarge", options),
            "--set core.tensor.clock=2 GHz: core.tensor.clock is set twice\n"
            "--set foo=1: foo: no such parameter; `foretell show` of the system lists them\n"
            "--set device.cores=x: device.cores: 'x' is not a number");
}

TEST_F(CatalogTest, IdsFollowTheContent) {
  const CalibratedSystem before = load("inf2.xlarge");
  EXPECT_THAT(before.spec_id, StartsWith("inf2.xlarge@"));
  EXPECT_THAT(before.factors_id, StartsWith("inferentia2@"));
  EXPECT_EQ(before.spec_id, load("inf2.xlarge").spec_id);
  edit("hw/cores/neuroncore-v2.yaml", "value: 2.8 GHz", "value: 2.9 GHz");
  edit("factors/inferentia2.yaml", "219.9 us", "226 us");
  EXPECT_NE(before.spec_id, load("inf2.xlarge").spec_id);
  EXPECT_NE(before.factors_id, load("inf2.xlarge").factors_id);
}

TEST_F(CatalogTest, ANewDeviceIsOneFile) {
  std::string device = read_text_file(root_ / "hw/devices/inferentia2.yaml");
  device.replace(device.find("id: inferentia2"), 15, "id: inferentia9");
  write("hw/devices/inferentia9.yaml", device);
  std::string system = read_text_file(root_ / "hw/systems/inf2.xlarge.yaml");
  system.replace(system.find("id: inf2.xlarge"), 15, "id: inf9.xlarge");
  system.replace(system.find("device: inferentia2"), 19, "device: inferentia9");
  write("hw/systems/inf9.xlarge.yaml", system);
  const CalibratedSystem loaded = load("inf9.xlarge");
  EXPECT_EQ(loaded.spec.device.id, "inferentia2");  // every value is that of it
  EXPECT_EQ(loaded.note, "inferentia9: every value is that of inferentia2, whose factors count");
}

TEST_F(CatalogTest, FilesNameEachOther) {
  edit("hw/systems/inf2.xlarge.yaml", "device: inferentia2", "device: inferentia3");
  EXPECT_EQ(load_message("inf2.xlarge"),
            "hw/systems/inf2.xlarge.yaml:2: device: unknown device 'inferentia3'; nearest is "
            "'inferentia2'; there are: inferentia2, trainium1, trainium2, trainium3; `foretell "
            "list devices` shows all");
  edit("hw/systems/inf2.8xlarge.yaml", "id: inf2.8xlarge", "id: inf2.9xlarge");
  EXPECT_EQ(load_message("inf2.8xlarge"),
            "hw/systems/inf2.8xlarge.yaml:1: id: 'inf2.9xlarge' has to be the name of the file, "
            "'inf2.8xlarge'");
  edit("hw/devices/trainium1.yaml", "core: neuroncore-v2", "core: neuroncore-v9");
  EXPECT_THAT(load_message("trn1.2xlarge"), HasSubstr("unknown core 'neuroncore-v9'; nearest is"));
}

TEST_F(CatalogTest, ErrorsOfAllFilesComeTogether) {
  edit("hw/systems/inf2.xlarge.yaml", "devices:", "device_count:");
  edit("hw/devices/inferentia2.yaml", "cc_cores: {value: 6,", "cc_cores: {value: 6 GB,");
  edit("hw/cores/neuroncore-v2.yaml", "value: 1300 ns", "value: 1300");
  const std::string message = load_message("inf2.xlarge");
  EXPECT_THAT(message,
              HasSubstr("inf2.xlarge.yaml:4: device_count: no such parameter; here are: devices"));
  EXPECT_THAT(message, HasSubstr("devices: missing"));
  EXPECT_THAT(message, HasSubstr("cc_cores: '6 GB' ends in 'GB'; expected a plain number"));
  EXPECT_THAT(message, HasSubstr("dma.start_latency: '1300' has no unit"));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 3) << message;
}

TEST_F(CatalogTest, WithoutDataItSaysHowToNameThem) {
  try {
    const Catalog nowhere(root_ / "nowhere");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no such folder; FORETELL_HW"));
  }
}

TEST_F(CatalogTest, TheEnvironmentNamesOtherData) {
  ASSERT_EQ(setenv("FORETELL_HW", (root_ / "hw").c_str(), 1), 0);
  EXPECT_EQ(hw_folder(), root_ / "hw");
  ASSERT_EQ(unsetenv("FORETELL_HW"), 0);
  EXPECT_NE(hw_folder(), root_ / "hw");
}

}  // namespace
}  // namespace foretell

// Machines that are no part of the data: a system is named by its file, and what that names by its
// file stands beside it.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

class SystemFileTest : public testing::Test {
 protected:
  // A file of the data as one of the user's, with other values.
  std::string write(const std::string& from, const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& changes) {
    std::string text = read_text_file(hw_folder() / from);
    for (const auto& [what, by] : changes) text = replaced(text, what, by);
    return folder_.write(name, text);
  }

  const TemporaryFolder folder_;
};

TEST_F(SystemFileTest, ANeuronSystemWithItsDeviceAndCore) {
  write("cores/neuroncore-v2.yaml", "wide.yaml", {{"id: neuroncore-v2", "id: wide"}});
  write("devices/inferentia2.yaml", "chip.yaml",
        {{"id: inferentia2", "id: chip"},
         {"core: neuroncore-v2", "core: wide.yaml"},
         {"capacity: {value: 32 GiB", "capacity: {value: 64 GiB"}});
  const std::string path = write("systems/inf2.xlarge.yaml", "mine.yaml",
                                 {{"id: inf2.xlarge", "id: mine"},
                                  {"device: inferentia2", "device: ./chip.yaml"},
                                  {"vcpus: {value: 4", "vcpus: {value: 5"}});
  EXPECT_TRUE(is_system_file(path, SystemFileKind::kNeuron));
  EXPECT_FALSE(GpuCatalog().has_system(path) || CpuCatalog().has_system(path));
  const CalibratedSystem system = load_calibrated(path, {{"device.cores=4"}, ""});
  EXPECT_EQ(system.spec.id, path);
  EXPECT_EQ(system.spec.device.id, "inferentia2");  // that it is taken for
  EXPECT_EQ(system.spec.device.core.id, "neuroncore-v2");
  EXPECT_EQ(system.spec.device.hbm.capacity, Bytes(64.0 * (1 << 30)));
  EXPECT_EQ(system.spec.device.cores, 4);
  EXPECT_EQ(system.spec.device.like.differs, std::vector<std::string>{"device.hbm.capacity"});
  EXPECT_THAT(system.factors_id, testing::StartsWith("inferentia2@"));
  EXPECT_THAT(system.note,
              testing::HasSubstr("chip was not measured: it is taken for inferentia2"));

  // What any of the three says counts.
  const std::string before = bytes_of_system_files(path);
  write("cores/neuroncore-v2.yaml", "wide.yaml",
        {{"id: neuroncore-v2", "id: wide"}, {"2.8 GHz", "2.9 GHz"}});
  EXPECT_NE(bytes_of_system_files(path), before);
}

// What no formula needs may be left out of one's own file.
TEST_F(SystemFileTest, WhatNothingReadsNeedNotBeStated) {
  const auto without = [this](const std::string& from, const std::string& name,
                              const std::vector<std::string>& keys) {
    std::istringstream text(read_text_file(hw_folder() / from));
    std::ofstream out(folder_.file(name));
    for (std::string line; std::getline(text, line);) {
      const bool is_left_out = std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
        return line.find(key + ": {") != std::string::npos;
      });
      if (!is_left_out) out << (line.rfind("id: ", 0) == 0 ? "id: mine" : line) << "\n";
    }
    return folder_.file(name);
  };
  const std::string neuron =
      without("systems/inf2.xlarge.yaml", "mine.yaml", {"vcpus", "host_memory", "network", "ebs"});
  EXPECT_EQ(load_calibrated(neuron, {{}, ""}).spec.vcpus, 0);
  const std::string gpu = without("devices/gpu/l4.yaml", "mine.yaml", {"base"});
  for (const Parameter& parameter : GpuCatalog().load(gpu).parameters) {
    EXPECT_NE(parameter.path, "device.clock.base");
  }
}

TEST_F(SystemFileTest, AGpuAloneAndANodeOfIt) {
  const std::string gpu =
      write("devices/gpu/l4.yaml", "mine.yaml",
            {{"id: l4", "id: mine"}, {"bandwidth: {value: 300 GB/s", "bandwidth: {value: 2 TB/s"}});
  const std::string node =
      write("systems/gpu/g6.xlarge.yaml", "node.yaml",
            {{"id: g6.xlarge", "id: node"}, {"device: l4", "device: mine.yaml"}});
  const GpuCatalog catalog;
  EXPECT_TRUE(catalog.has_system(gpu) && catalog.has_system(node));
  EXPECT_EQ(catalog.load(gpu).spec.device.hbm.bandwidth, BytesPerSecond(2e12));
  EXPECT_EQ(catalog.load(node).spec.device.id, "mine");
  EXPECT_EQ(catalog.load(node).spec.device.like.device, "l4");
  EXPECT_FALSE(catalog.load(node).spec.price_usd_per_hour.empty());
}

TEST_F(SystemFileTest, AMachineWithCpus) {
  const std::string path =
      write("systems/cpu/c7i.8xlarge.yaml", "mine.yaml",
            {{"id: c7i.8xlarge", "id: mine"}, {"cores: {value: 16", "cores: {value: 12"}});
  EXPECT_TRUE(CpuCatalog().has_system(path));
  EXPECT_EQ(CpuCatalog().load(path).spec.cores, 12);
  EXPECT_EQ(CpuCatalog().load(path).spec.device.id, "xeon-8488c");
}

TEST_F(SystemFileTest, AMisspeltKeyThatTellsTheFamilyIsNamed) {
  const std::string path = write("devices/gpu/l4.yaml", "mine.yaml", {{"\nsms:", "\nsmss:"}});
  EXPECT_THAT(misspelt_kind_key(path),
              testing::ContainsRegex("mine.yaml:[0-9]+: smss: .*nearest is 'sms'"));
  EXPECT_EQ(misspelt_kind_key(write("cores/neuroncore-v2.yaml", "core.yaml", {})), "");
}

TEST_F(SystemFileTest, MistakesNameTheFile) {
  const auto message = [](const std::string& path) -> std::string {
    try {
      Catalog().load(path);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  const auto mine = [this](const std::string& what, const std::string& by) {
    return write("systems/inf2.xlarge.yaml", "mine.yaml",
                 {{"id: inf2.xlarge", "id: mine"}, {what, by}});
  };
  EXPECT_THAT(message(mine("id: mine", "id: yours")), testing::HasSubstr("name of the file"));
  EXPECT_THAT(message(mine("inferentia2", "chop.yaml")), testing::HasSubstr("chop.yaml: no such"));
  EXPECT_THAT(message(mine("inferentia2", "inferentia")), testing::HasSubstr("'inferentia2'"));
  EXPECT_THAT(message(mine("16 GiB", "16")), testing::HasSubstr("mine.yaml:"));
  EXPECT_THROW(is_system_file(folder_.file("none.yaml"), SystemFileKind::kGpu), UserError);
}

}  // namespace
}  // namespace foretell

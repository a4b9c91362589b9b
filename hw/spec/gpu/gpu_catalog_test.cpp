#include "hw/spec/gpu/gpu_catalog.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "hw/spec/gpu/gpu_fields.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/unit_text.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(GpuCatalog, EveryGpuLoadsAndEveryValueHasASource) {
  const GpuCatalog catalog;
  ASSERT_THAT(catalog.devices(), Contains("h100-sxm"));
  for (const std::string& id : catalog.systems()) {
    const LoadedGpuSystem system = catalog.load(id);
    for (const Parameter& parameter : system.parameters) {
      SCOPED_TRACE(id + " " + parameter.path);
      EXPECT_FALSE(parameter.value.empty());
      EXPECT_FALSE(parameter.meaning.empty());
      if (parameter.kind == ValueKind::kNeutral) continue;
      EXPECT_EQ(catalog.bibliography().problem_with(parameter.source), "");
    }
  }
}

TEST(GpuCatalog, NamesOfTablesAreAccepted) {
  const GpuCatalog catalog;
  EXPECT_EQ(catalog.find_device("h100_sxm"), "h100-sxm");
  EXPECT_EQ(catalog.find_device("A100_PCIE_40GB"), "a100-pcie-40gb");
  EXPECT_EQ(catalog.find_device("a100"), "a100-sxm");
  EXPECT_FALSE(catalog.has_system("v100"));  // whose SXM boards are two
  EXPECT_EQ(catalog.load("H200_SXM").spec.id, "h200-sxm");
}

TEST(GpuCatalog, NamesThatDriversPrintAreAccepted) {
  const GpuCatalog catalog;
  for (const auto& [name, id] :
       std::vector<std::pair<const char*, const char*>>{{"NVIDIA H100 80GB HBM3", "h100-sxm"},
                                                        {"NVIDIA H100 PCIe", "h100-pcie"},
                                                        {"NVIDIA A100-SXM4-80GB", "a100-sxm"},
                                                        {"A100-SXM4-40GB", "a100-sxm-40gb"},
                                                        {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
                                                        {"nvidia  l4", "l4"},
                                                        {"NVIDIA L40S", "l40s"},
                                                        {"NVIDIA A10G", "a10g"},
                                                        {"Tesla T4", "t4"},
                                                        {"NVIDIA GeForce RTX 4090", "rtx-4090"},
                                                        {"NVIDIA H200", "h200-sxm"},
                                                        {"NVIDIA H100 NVL", "h100-nvl"},
                                                        {"NVIDIA B200", "b200-sxm"}}) {
    ASSERT_TRUE(catalog.has_system(name)) << name;
    EXPECT_EQ(catalog.find_device(name), id);
    EXPECT_EQ(catalog.load(name).spec.device.id, id);
  }
  EXPECT_EQ(catalog.find_system("8 x NVIDIA H100 80GB HBM3"), "h100-sxm-x8");
  // Other boards, which are not known.
  for (const char* name : {"NVIDIA H200 NVL", "NVIDIA GH200 144G HBM3e", "Tesla"})
    EXPECT_FALSE(catalog.has_system(name)) << name;
}

// No two devices have a name in common, and each has one.
TEST(GpuCatalog, EveryNameOfADriverIsOfOneDevice) {
  const GpuCatalog catalog;
  for (const std::string& id : catalog.devices()) {
    const Node file = load_document(hw_folder() / "devices" / "gpu" / (id + ".yaml"));
    const Node& names = file.required("driver_names", "");
    EXPECT_FALSE(names.items.empty()) << id;
    for (const Node& name : names.items) EXPECT_EQ(catalog.find_device(name.text), id);
  }
}

TEST(GpuCatalog, ANumberOfGpusStandsBeforeOrAfterTheirName) {
  const GpuCatalog catalog;
  for (const char* name : {"h200-sxm-x4", "h200x4", "4xh200", "4 x H200", "H200_SXM_x4"}) {
    ASSERT_TRUE(catalog.has_system(name)) << name;
    EXPECT_EQ(catalog.find_system(name), "h200-sxm-x4");
    EXPECT_EQ(catalog.load(name).spec.devices, 4);
  }
  EXPECT_EQ(catalog.find_system("rtx4090"), "rtx-4090");
  EXPECT_EQ(catalog.find_system("mi300x-x8"), "mi300x-x8");
  EXPECT_THAT([&] { catalog.find_system("h200x0"); },
              ::testing::ThrowsMessage<UserError>(HasSubstr("join up to 8 GPUs")));
  for (const char* name : {"x8", "8x", "4xa", "h200x", "99999xh200", "-3xh200", "h200x-3"}) {
    EXPECT_FALSE(catalog.has_system(name)) << name;
  }
}

TEST(GpuCatalog, MoreGpusThanANodeHasAreSeveralNodes) {
  const GpuCatalog catalog;
  const GpuSystemSpec two = catalog.load("h100-sxm-x16").spec;
  EXPECT_EQ(two.devices, 16);
  EXPECT_EQ(two.nodes, 2);
  EXPECT_EQ(gpus_of_node(two), 8);
  EXPECT_EQ(two.node, "h100-sxm-x8");
  const GpuSystemSpec three = catalog.load("p5.48xlarge-x3").spec;
  EXPECT_EQ(three.devices, 24);
  EXPECT_EQ(three.nodes, 3);
  const GpuSystemSpec one = catalog.load("p5.48xlarge").spec;
  EXPECT_DOUBLE_EQ(three.price_usd_per_hour.at("on_demand"),
                   3 * one.price_usd_per_hour.at("on_demand"));
  for (const char* racks : {"gb200-nvl72-x2", "gb200-x144"}) {
    const GpuSystemSpec two_racks = catalog.load(racks).spec;
    EXPECT_EQ(two_racks.devices, 144) << racks;
    EXPECT_EQ(two_racks.nodes, 2) << racks;
    EXPECT_EQ(two_racks.node, "gb200-nvl72") << racks;
  }
  // One GPU needs no links to others of its node.
  EXPECT_EQ(catalog.load("p5.4xlarge-x2").spec.devices, 2);
  EXPECT_EQ(catalog.find_system("u-p6e-gb200x72"), "u-p6e-gb200x72");
  EXPECT_EQ(catalog.load("u-p6e-gb200x72-x2").spec.devices, 144);
  const struct {
    const char* name;
    const char* message;
  } wrong[] = {{"h100-sxm-x12", "a multiple of 8"},
               {"gb200-x100", "or a multiple of 72 up to 9936 for several nodes"},
               {"gb200-nvl72-x139", "at most 138 of gb200-nvl72 may be named, 9936 GPUs"},
               {"t4-x16", "states no system.network.bandwidth"},
               {"p6e-gb200.36xlarge-x2", "so there are no several of it"},
               {"p5.48xlarge-x0", "unknown system"}};
  for (const auto& one_wrong : wrong) {
    EXPECT_THAT([&] { catalog.find_system(one_wrong.name); },
                ::testing::ThrowsMessage<UserError>(HasSubstr(one_wrong.message)))
        << one_wrong.name;
  }
}

TEST(GpuCatalog, AMisspeltGpuNamesTheNearest) {
  try {
    GpuCatalog().find_device("h100-sx");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nearest is 'h100-sxm'"));
  }
}

TEST(GpuCatalog, OneGpuOfANodeCannotDiffer) {
  try {
    GpuCatalog().load("h100-sxm-x8", {"device[3].hbm.bandwidth=1 TB/s"});
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("only devices with NeuronCores can differ"));
    EXPECT_THAT(error.what(), HasSubstr("'device.hbm.bandwidth' sets every one"));
  }
}

TEST(GpuCatalog, ADeviceIsASystemOfOneAndANodeHasSeveral) {
  const GpuCatalog catalog;
  EXPECT_EQ(catalog.load("h100-sxm").spec.devices, 1);
  const GpuSystemSpec node = catalog.load("h100-sxm-x8").spec;
  EXPECT_EQ(node.devices, 8);
  EXPECT_EQ(node.interconnect, "nvlink");
  EXPECT_EQ(node.device.id, "h100-sxm");
}

// More GPUs than a node has here, as many as one server has held.
TEST(GpuCatalog, AServerHoldsAsManyAsItHasSlots) {
  const GpuCatalog catalog;
  EXPECT_EQ(catalog.load("a100-pcie-80gb-x20").spec.devices, 20);
  EXPECT_THROW(catalog.load("a100-pcie-80gb-x25"), UserError);
  EXPECT_THROW(catalog.load("h100-sxm-x9"), UserError);
}

TEST(GpuCatalog, OverridesReachTheSpecAndAreShown) {
  const LoadedGpuSystem system =
      GpuCatalog().load("h100-sxm", {"device.hbm.bandwidth=4.8 TB/s", "device.sms=144"});
  EXPECT_EQ(system.spec.device.hbm.bandwidth, BytesPerSecond(4.8e12));
  EXPECT_EQ(system.spec.device.sms, 144);
  EXPECT_THROW(GpuCatalog().load("h100-sxm", {"device.hbm.bandwith=1 TB/s"}), UserError);
}

// The dense rates of the matrix pipes follow from SMs, clock and a power of two per SM and cycle,
// where the vendor states the clock.
TEST(GpuCatalog, RatesAgreeWithClocksAndSms) {
  const GpuCatalog catalog;
  const auto per_cycle = [&](const char* id, const char* dtype) {
    const GpuDeviceSpec device = catalog.load(id).spec.device;
    return device.matrix_rate.at(dtype) / device.sms / device.clock.boost.value();
  };
  EXPECT_NEAR(per_cycle("a100-sxm", "bf16"), 2048, 20);
  EXPECT_NEAR(per_cycle("h100-sxm", "bf16"), 4096, 40);
  EXPECT_NEAR(per_cycle("h100-sxm", "fp8"), 8192, 80);
  EXPECT_NEAR(per_cycle("v100-sxm-32gb", "fp16"), 1024, 10);
  EXPECT_NEAR(per_cycle("t4", "fp16"), 1024, 10);
}

TEST(GpuCatalog, ATypeWithoutAPipeNamesTheOnesThereAre) {
  const GpuDeviceSpec t4 = GpuCatalog().load("t4").spec.device;
  EXPECT_EQ(dense_rate(t4, "fp16"), FlopsPerSecond(65e12));
  EXPECT_EQ(dense_rate(t4, "fp32"), FlopsPerSecond(8.1e12));
  try {
    dense_rate(t4, "bf16");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("NVIDIA T4 has no pipe for bf16; it has: fp16"));
  }
}

TEST(GpuCatalog, InstancesCarryTheirGpusAndAPrice) {
  const GpuCatalog catalog;
  const GpuSystemSpec p5 = catalog.load("p5.48xlarge").spec;
  EXPECT_EQ(p5.devices, 8);
  EXPECT_EQ(p5.device.id, "h100-sxm");
  EXPECT_EQ(p5.interconnect, "nvlink");
  EXPECT_NEAR(p5.price_usd_per_hour.at("on_demand"), 55.04, 1e-9);
  int priced = 0;
  for (const std::string& id : catalog.systems()) {
    const Prices prices = catalog.load(id).spec.price_usd_per_hour;
    const auto price = prices.find("on_demand");
    if (price == prices.end()) continue;  // not published yet, or no instance
    EXPECT_GT(price->second, 0.5) << id;
    ++priced;
  }
  EXPECT_GE(priced, 18);
}

// What is said of the facts about kernels when `from` becomes `to` in one of their files.
std::string problem_of_kernels(const char* file, const std::string& from, const std::string& to) {
  const TemporaryFolder folder;
  const fs::path changed = folder.file("hw");
  fs::create_directories(changed);
  fs::copy_file(hw_folder() / "sources.yaml", changed / "sources.yaml");
  fs::copy(hw_folder() / "kernels", changed / "kernels", fs::copy_options::recursive);
  std::string text = read_text_file(changed / "kernels" / file);
  EXPECT_NE(text.find(from), std::string::npos) << from;
  text.replace(text.find(from), from.size(), to);
  std::ofstream(changed / "kernels" / file) << text;
  return message_of<UserError>([&] { KernelLibraries::load((changed / "kernels").string()); });
}

TEST(KernelLibraries, ArchitecturesOfOrdersAreChecked) {
  EXPECT_THAT(problem_of_kernels("choice.yaml", "ampere: [", "ampre: ["),
              AllOf(HasSubstr("attention_of_tokens"), HasSubstr("ampre"), HasSubstr("ampere")));
}

// A name that no device has would never match.
TEST(KernelLibraries, ArchitecturesAndReleasesOfOneHeadAreChecked) {
  const auto problem_with = [](const std::string& from, const std::string& to) {
    return problem_of_kernels("trtllm.yaml", from, to);
  };
  EXPECT_EQ(problem_with("below: 8", "below: 8"), "(no error)");
  EXPECT_THAT(problem_with("architecture: hopper, below", "architecture: hoper, below"),
              AllOf(HasSubstr("one_head.small_groups"), HasSubstr("hoper"), HasSubstr("hopper")));
  EXPECT_THAT(problem_with("except: blackwell", "except: blackwel"),
              AllOf(HasSubstr("one_head.chunks"), HasSubstr("blackwel"), HasSubstr("blackwell")));
  EXPECT_THAT(problem_with("until: \"1.1\", except", "until: \"0.21\", except"),
              HasSubstr("one_head.chunks: names two releases, the earlier first"));
  EXPECT_THAT(problem_with("chunks: {since: \"0.21\", ", "chunks: {"),
              HasSubstr("one_head.chunks: names two releases"));
}

TEST(GpuCatalog, FactorsComeFromTheChipWithTheClocksThatAreNearestAmongEquals) {
  const GpuDeviceSpec gb300 = GpuCatalog().load("gb300").spec.device;
  EXPECT_EQ(nearest_devices(gb300, {"b200-sxm", "gb200", "h200-sxm"}).front(), "gb200");
}

}  // namespace
}  // namespace foretell

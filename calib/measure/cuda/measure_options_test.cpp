#include "calib/measure/cuda/measure_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(MeasureOptions, AllOfThem) {
  const MeasureOptions options = parse_measure_options(
      {"-o", "x.jsonl", "--quick", "--ops", "gemm,softmax", "--dtypes", "bf16", "--gpu", "3",
       "--repeats", "7", "--device-name", "My Chip", "--check", "--list"});
  EXPECT_EQ(options.output, "x.jsonl");
  EXPECT_TRUE(options.plan.quick);
  EXPECT_THAT(options.plan.ops, ElementsAre("gemm", "softmax"));
  EXPECT_THAT(options.plan.dtypes, ElementsAre("bf16"));
  EXPECT_EQ(options.gpu, 3);
  EXPECT_EQ(options.repeats, 7);
  EXPECT_EQ(options.device_name, "my-chip");
  EXPECT_TRUE(options.check_only);
  EXPECT_TRUE(options.list);
}

void expect_refused(const std::vector<std::string>& arguments, const std::string& message) {
  EXPECT_THAT([&] { parse_measure_options(arguments); },
              ThrowsMessage<UserError>(HasSubstr(message)));
}

TEST(MeasureOptions, MistakesAreNamed) {
  expect_refused({"--quik"}, "unknown option '--quik'; nearest is '--quick'");
  expect_refused({"--output"}, "--output wants a value");
  expect_refused({"--gpu", "-1"}, "--gpu: '-1' is no whole number from 0 to 64");
  expect_refused({"--repeats", "2"}, "--repeats: '2' is no whole number from 3 to 1000");
  expect_refused({"--repeats", "5e3"}, "--repeats: '5e3' is no whole number");
  expect_refused({"--device-name", "!"}, "--device-name: the name is empty");
}

TEST(MeasureOptions, ChipsByTheirNames) {
  EXPECT_EQ(device_id_of("NVIDIA H100 80GB HBM3", 85e9), "h100-sxm");
  EXPECT_EQ(device_id_of("NVIDIA H100 PCIe", 85e9), "h100-pcie");
  EXPECT_EQ(device_id_of("NVIDIA H100 NVL", 100e9), "h100-nvl");
  EXPECT_EQ(device_id_of("NVIDIA H200 NVL", 150e9), "nvidia-h200-nvl");
  EXPECT_EQ(device_id_of("NVIDIA H200", 150e9), "h200-sxm");
  EXPECT_EQ(device_id_of("NVIDIA B200", 190e9), "b200-sxm");
  EXPECT_EQ(device_id_of("NVIDIA GB200", 190e9), "gb200");
  EXPECT_EQ(device_id_of("NVIDIA A100-SXM4-40GB", 42e9), "a100-sxm-40gb");
  EXPECT_EQ(device_id_of("NVIDIA A100 80GB PCIe", 85e9), "a100-pcie-80gb");
  EXPECT_EQ(device_id_of("Tesla V100-SXM2-16GB", 17e9), "v100-sxm-16gb");
  EXPECT_EQ(device_id_of("Tesla T4", 16e9), "t4");
  EXPECT_EQ(device_id_of("NVIDIA L4", 24e9), "l4");
  EXPECT_EQ(device_id_of("NVIDIA L40S", 48e9), "l40s");
  EXPECT_EQ(device_id_of("NVIDIA L40", 48e9), "l40");
  EXPECT_EQ(device_id_of("Tesla V100-PCIE-32GB", 34e9), "v100-pcie-32gb");
  EXPECT_EQ(device_id_of("Tesla V100-PCIE-16GB", 17e9), "tesla-v100-pcie-16gb");
  EXPECT_EQ(device_id_of("Tesla P100-PCIE-16GB", 17e9), "p100-pcie-16gb");
  EXPECT_EQ(device_id_of("NVIDIA GeForce RTX 4090 (D)", 24e9), "nvidia-geforce-rtx-4090-d");
}

TEST(MeasureOptions, EveryChipThatADriverNamesIsADevice) {
  const std::string root = FORETELL_SOURCE_DIR;
  const Node names = load_document(root + "/calib/measure/cuda/driver_names.yaml");
  EXPECT_GT(names.items.size(), 10U);
  for (const Node& entry : names.items) {
    const Node* device = entry.find("device");
    if (device == nullptr) continue;
    EXPECT_TRUE(std::filesystem::exists(root + "/hw/devices/gpu/" + device->text + ".yaml"))
        << device->text;
  }
}

}  // namespace
}  // namespace foretell

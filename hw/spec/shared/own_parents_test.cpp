// Files of the user's that are like one another.
#include "hw/spec/shared/own_parents.hpp"

#include <gmock/gmock.h>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class OwnParents : public testing::Test {
 protected:
  std::string refused(const std::string& path) {
    return message_of<UserError>([&path] { GpuCatalog().load(path); });
  }

  TemporaryFolder folder_;
  const std::string mine_ = folder_.write(
      "mine.yaml",
      "id: mine\nlike: h100-sxm\nsms: 100\nhbm: {bandwidth: 6 TB/s, capacity: 120 GiB}\n");
};

TEST_F(OwnParents, AFileTakesWhatItLeavesOutFromTheOneBesideIt) {
  const std::string path =
      folder_.write("faster.yaml", "id: faster\nlike: ./mine.yaml\nhbm: {bandwidth: 8 TB/s}\n");
  EXPECT_TRUE(is_system_file(path, SystemFileKind::kGpu));
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(path).spec.device;
  EXPECT_EQ(device.id, "faster");
  EXPECT_EQ(device.name, "faster");
  EXPECT_EQ(device.hbm.bandwidth, BytesPerSecond(8e12));
  EXPECT_EQ(device.hbm.capacity, Bytes(120.0 * (1 << 30)));
  EXPECT_EQ(device.sms, 100);
  EXPECT_EQ(device.like.device, "h100-sxm");
  EXPECT_EQ(device.l2.capacity, catalog.load("h100-sxm").spec.device.l2.capacity);
  // What the other file says counts.
  const std::string before = bytes_of_system_files(path);
  const std::string id_before = catalog.load(path).spec_id;
  folder_.write("mine.yaml", "id: mine\nlike: h100-sxm\nsms: 101\n");
  EXPECT_NE(bytes_of_system_files(path), before);
  EXPECT_NE(catalog.load(path).spec_id, id_before);
  EXPECT_EQ(catalog.load(path).spec.device.sms, 101);
}

// One that is like no device of the project states every value.
TEST_F(OwnParents, AFileMayBeLikeOneThatStatesEveryValue) {
  std::string text = read_text_file(hw_folder() / "devices" / "gpu" / "l4.yaml");
  folder_.write("whole.yaml", text.replace(text.find("id: l4"), 6, "id: whole"));
  const std::string path =
      folder_.write("plain.yaml", "id: plain\nlike: ./whole.yaml\nhbm: {bandwidth: 2 TB/s}\n");
  const GpuDeviceSpec device = GpuCatalog().load(path).spec.device;
  EXPECT_EQ(device.hbm.bandwidth, BytesPerSecond(2e12));
  EXPECT_EQ(device.like.device, "l4");
  EXPECT_FALSE(device.like.is_stated);
}

TEST_F(OwnParents, NothingLeavesAnEntryOut) {
  const GpuCatalog catalog;
  ASSERT_EQ(catalog.load("h100-sxm").spec.device.matrix_rate.count("fp8"), 1U);
  const std::string narrow = folder_.write(
      "narrow.yaml", "id: narrow\nlike: h100-sxm\nmatrix_rate: {fp8: ~, int8: null}\n");
  const std::string child =
      folder_.write("child.yaml", "id: child\nlike: ./narrow.yaml\nsms: 99\n");
  const std::string other = folder_.write(
      "other.yaml", "id: other\nlike: ./child.yaml\nmatrix_rate: {fp8: 2 PFLOP/s, tf32: ~}\n");
  for (const std::string& path : {narrow, child}) {
    const GpuDeviceSpec device = catalog.load(path).spec.device;
    EXPECT_EQ(device.matrix_rate.count("fp8") + device.matrix_rate.count("int8"), 0U);
    EXPECT_EQ(device.matrix_rate.count("bf16"), 1U);
  }
  EXPECT_EQ(catalog.load(other).spec.device.matrix_rate.count("fp8"), 1U);
  EXPECT_EQ(catalog.load(other).spec.device.matrix_rate.count("tf32"), 0U);
  const std::string wrong = folder_.write(
      "wrong.yaml", "id: wrong\nlike: ./narrow.yaml\nmatrix_rate: {bf16: 1 PFLOP/s, fp9: ~}\n");
  EXPECT_THAT(refused(wrong), AllOf(HasSubstr("wrong.yaml:3: matrix_rate.fp9: there is nothing to "
                                              "leave out"),
                                    HasSubstr("there is bf16, fp16, tf32")));
  const std::string needed =
      folder_.write("needed.yaml", "id: needed\nlike: h100-sxm\nhbm: {bandwidth: ~}\n");
  EXPECT_THAT(refused(needed), HasSubstr("hbm.bandwidth"));
}

TEST_F(OwnParents, FilesInACircleAndFilesThatAreNotThereAreRefused) {
  const std::string a = folder_.write("a.yaml", "id: a\nlike: ./b.yaml\n");
  folder_.write("b.yaml", "id: b\nlike: ./a.yaml\n");
  EXPECT_THAT(refused(a), AllOf(HasSubstr("b.yaml:2: like: these files are like one another in a "
                                          "circle"),
                                HasSubstr("one of them has to be like a device")));
  EXPECT_THROW(bytes_of_system_files(a), UserError);
  const std::string self = folder_.write("self.yaml", "id: self\nlike: self.yaml\n");
  EXPECT_THAT(refused(self), HasSubstr("circle"));
  const std::string lost = folder_.write("lost.yaml", "id: lost\nlike: ./gone.yaml\n");
  EXPECT_THAT(refused(lost),
              AllOf(HasSubstr("lost.yaml:2: like: there is no file"), HasSubstr("gone.yaml")));
}

TEST_F(OwnParents, CpusAndDevicesOfNeuronCoresAreLikeFilesToo) {
  folder_.write("cpu.yaml", "id: cpu\nlike: xeon-8488c\ncores: 40\n");
  folder_.write("more.yaml", "id: more\nlike: ./cpu.yaml\ndram: {channels: 4}\n");
  const auto system = [this](const std::string& from, const std::string& name,
                             const std::string& old, const std::string& device) {
    std::string text = read_text_file(hw_folder() / "systems" / from);
    const std::string id = std::filesystem::path(from).stem().string();
    text.replace(text.find("id: " + id), id.size() + 4, "id: " + name);
    text.replace(text.find("device: " + old), old.size() + 8, "device: ./" + device);
    return folder_.write(name + ".yaml", text);
  };
  const CpuDeviceSpec cpu =
      CpuCatalog().load(system("cpu/c7i.8xlarge.yaml", "s", "xeon-8488c", "more.yaml")).spec.device;
  EXPECT_EQ(cpu.cores, 40);
  EXPECT_EQ(cpu.like.device, "xeon-8488c");

  std::filesystem::create_directories(folder_.file("below"));
  folder_.write("below/wide.yaml", "id: wide\nlike: neuroncore-v2\ntensor: {clock: 3 GHz}\n");
  folder_.write("below/chip.yaml", "id: chip\nlike: inferentia2\ncore: ./wide.yaml\n");
  folder_.write("chip2.yaml", "id: chip2\nlike: below/chip.yaml\nhbm: {capacity: 64 GiB}\n");
  const NeuronDeviceSpec neuron =
      Catalog().load(system("inf2.xlarge.yaml", "n", "inferentia2", "chip2.yaml")).spec.device;
  EXPECT_EQ(neuron.hbm.capacity, Bytes(64.0 * (1 << 30)));
  EXPECT_EQ(neuron.core.tensor.clock, Hertz(3e9));
}

}  // namespace
}  // namespace foretell

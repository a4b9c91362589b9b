#include "model/timing/gpu/tile_fit.hpp"

#include <gmock/gmock.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;

GpuDeviceSpec gpu(const std::string& id, const std::vector<std::string>& set = {}) {
  return GpuCatalog().load(id, set).spec.device;
}

GemmLibrary fitting(const GpuDeviceSpec& device, const std::string& type,
                    const std::string& framework = "trtllm") {
  return with_fitting_tiles(device, gemm_type(type),
                            gemm_library(device.architecture, framework, type));
}

std::size_t count(const GemmLibrary& library) {
  std::size_t tiles = library.tiles.size();
  for (const GemmLibrary::Dispatch& entry : library.dispatch) tiles += entry.tiles.size();
  return tiles;
}

std::string refusal(const std::string& id, const std::string& set, const std::string& type) {
  try {
    fitting(gpu(id, {set}), type);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TileFit, OperandsOfTwoStagesAreInSharedMemoryAndSumsInRegisters) {
  const CtaResources hopper = tile_resources(gpu("h100-sxm"), gemm_type("bf16"),
                                             gemm_library("hopper", "trtllm", "bf16"), {256, 128});
  EXPECT_EQ(hopper.shared_memory, Bytes(2 * (256 + 128) * 128.0));
  EXPECT_EQ(hopper.threads, 256);
  EXPECT_GE(hopper.threads * hopper.registers_per_thread, 256 * 128);
  const CtaResources ampere = tile_resources(gpu("a100-sxm"), gemm_type("bf16"),
                                             gemm_library("ampere", "trtllm", "bf16"), {256, 128});
  EXPECT_EQ(ampere.shared_memory, hopper.shared_memory / 2);  // walks half stages
  const CtaResources blackwell = tile_resources(
      gpu("b200-sxm"), gemm_type("bf16"), gemm_library("blackwell", "trtllm", "bf16"), {256, 256});
  EXPECT_EQ(blackwell.shared_memory, Bytes(2 * 256 * 128.0));  // of a pair, each has half
  EXPECT_LT(blackwell.threads * blackwell.registers_per_thread, 256 * 128);  // tensor memory
}

// What was measured ran, so every tile of its library fits.
TEST(TileFit, EveryTileFitsTheChipsThatWereMeasured) {
  for (const char* id : {"a100-sxm", "h100-sxm", "h200-sxm", "b200-sxm"}) {
    const GpuDeviceSpec device = gpu(id);
    for (const GemmType& type : gemm_types()) {
      for (const char* framework : {"trtllm", "sglang", "vllm"}) {
        const GemmLibrary all = gemm_library(device.architecture, framework, type.name);
        EXPECT_EQ(count(with_fitting_tiles(device, type, all)), count(all)) << id << type.name;
      }
    }
  }
}

TEST(TileFit, EveryChipOfTheCatalogHasTilesForItsTypes) {
  for (const std::string& id : GpuCatalog().devices()) {
    const GpuDeviceSpec device = gpu(id);
    for (const GemmType& type : gemm_types())
      EXPECT_GT(count(fitting(device, type.name)), 0U) << id;
  }
}

TEST(TileFit, LessRoomLeavesFewerTilesAndNeverOthers) {
  std::size_t before = 0;
  for (const char* room : {"20 KiB", "32 KiB", "64 KiB", "96 KiB"}) {
    const std::string set = std::string("device.sm.shared_memory_per_cta=") + room;
    const std::size_t now = count(fitting(gpu("h100-sxm", {set}), "bf16"));
    EXPECT_GT(now, before) << room;
    before = now;
  }
}

TEST(TileFit, RowsWhoseTileDoesNotFitGoToTheNextKernel) {
  const GpuDeviceSpec tight = gpu("h100-sxm", {"device.sm.shared_memory_per_cta=40 KiB"});
  const GemmLibrary library = fitting(tight, "fp8", "sglang");
  ASSERT_EQ(library.dispatch.size(), 1U);  // 64x64; 64x128 would need 48 KiB
  EXPECT_EQ(library.dispatch.front().tiles.front().n, 64);
}

TEST(TileFit, WhenNoTileIsLeftTheErrorNamesTheLimitTheNeedAndWhatWorks) {
  EXPECT_THAT(refusal("h100-sxm", "device.sm.shared_memory_per_cta=1 KiB", "bf16"),
              AllOf(HasSubstr("16x64"), HasSubstr("20KiB of shared memory"), HasSubstr("1KiB"),
                    HasSubstr("--set device.sm.shared_memory_per_cta=20KiB")));
  EXPECT_THAT(refusal("h100-sxm", "device.sm.registers=2048", "bf16"),
              AllOf(HasSubstr("6144 registers"), HasSubstr("2048"),
                    HasSubstr("--set device.sm.registers=6144")));
  EXPECT_THAT(refusal("h100-sxm", "device.sm.max_threads=64", "bf16"),
              AllOf(HasSubstr("128 threads"), HasSubstr("--set device.sm.max_threads=128")));
}

TEST(TileFit, TheLeastThatIsNamedWorksAndLessDoesNot) {
  EXPECT_EQ(refusal("h100-sxm", "device.sm.shared_memory_per_cta=20 KiB", "bf16"), "accepted");
  EXPECT_NE(refusal("h100-sxm", "device.sm.shared_memory_per_cta=19 KiB", "bf16"), "accepted");
  EXPECT_EQ(refusal("h100-sxm", "device.sm.registers=6144", "bf16"), "accepted");
  EXPECT_NE(refusal("h100-sxm", "device.sm.registers=6143", "bf16"), "accepted");
}

}  // namespace
}  // namespace foretell

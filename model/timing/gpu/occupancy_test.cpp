#include "model/timing/gpu/occupancy.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;
using namespace literals;

GpuDeviceSpec small_gpu() {
  GpuDeviceSpec device;
  device.name = "Exemplar";
  device.sm.registers = 65536;
  device.sm.max_threads = 2048;
  device.sm.max_ctas = 32;
  device.sm.shared_memory = 164_KiB;
  device.sm.shared_memory_per_cta = 163_KiB;
  return device;
}

std::string refusal(const CtaResources& cta) {
  try {
    ctas_per_sm(small_gpu(), cta, "gemm 256x256");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Occupancy, TheScarcestResourceDecides) {
  EXPECT_EQ(ctas_per_sm(small_gpu(), {128, 32, 1_KiB}, "k"), 16);    // threads, and registers
  EXPECT_EQ(ctas_per_sm(small_gpu(), {128, 128, 1_KiB}, "k"), 4);    // registers
  EXPECT_EQ(ctas_per_sm(small_gpu(), {128, 32, 48_KiB}, "k"), 3);    // shared memory
  EXPECT_EQ(ctas_per_sm(small_gpu(), {32, 16, Bytes(0)}, "k"), 32);  // limit on thread blocks
}

TEST(Occupancy, AKernelThatFitsNoSmIsRefusedByTheLimit) {
  EXPECT_THAT(refusal({256, 255, 164_KiB}), HasSubstr("of shared memory"));
  EXPECT_THAT(refusal({512, 255, 1_KiB}), HasSubstr("registers"));
  EXPECT_THAT(refusal({4096, 16, 1_KiB}), HasSubstr("threads"));
  EXPECT_EQ(refusal({256, 255, 163_KiB}), "accepted");
}

}  // namespace
}  // namespace foretell

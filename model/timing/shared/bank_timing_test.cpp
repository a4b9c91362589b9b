#include "model/timing/shared/bank_timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using namespace literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

HbmSpec hbm_of(const std::string& device) { return GpuCatalog().load(device).spec.device.hbm; }

BankedMemory memory_of(const std::string& device) {
  const HbmSpec spec = hbm_of(device);
  return banked_memory(spec, load_memory_timings(spec.standard, "device.hbm.standard"));
}

double streaming_share(const BankedMemory& memory) {
  const Bytes bytes(1e9);
  return (bytes / memory.bandwidth) / bank_time(memory, bytes, bytes, 0).total();
}

// The share of the peak at which the quantising kernels that only stream were fitted
// (`dram_efficiency` in calib/factors/gpu/operator), where the fit identifies it.
struct Measured {
  const char* device;
  double share;
};

class Streaming : public testing::TestWithParam<Measured> {};

TEST_P(Streaming, ReachesTheMeasuredShareOfThePeakWithoutAFittedNumber) {
  EXPECT_NEAR(streaming_share(memory_of(GetParam().device)) / GetParam().share, 1, 0.04)
      << GetParam().device << " " << streaming_share(memory_of(GetParam().device));
}

INSTANTIATE_TEST_SUITE_P(Chips, Streaming,
                         testing::Values(Measured{"a100-sxm", 0.9272}, Measured{"h100-sxm", 0.8912},
                                         Measured{"h200-sxm", 0.8822}, Measured{"b200-sxm", 0.884}),
                         [](const auto& parameters) {
                           const std::string name = parameters.param.device;
                           return name.substr(0, name.find('-'));
                         });

TEST(BankTiming, ALongStreamLosesNothingButRefresh) {
  const BankedMemory memory = memory_of("h100-sxm");
  const BankTime time = bank_time(memory, Bytes(1e9), Bytes(1e9), 0);
  EXPECT_NEAR(time.transfer / (Bytes(1e9) / memory.bandwidth), 1, 1e-6);
  EXPECT_EQ(time.rows, Seconds(0));
  EXPECT_EQ(time.turnaround, Seconds(0));
  // 8 Gb for each channel: 350 of 3900 ns.
  EXPECT_NEAR(time.refresh / time.transfer, 350.0 / 3550.0, 1e-9);
}

TEST(BankTiming, ShorterRunsAreNeverFasterAndBytesCostInProportion) {
  const BankedMemory memory = memory_of("a100-sxm");
  Seconds before(0);
  for (double run = 1 << 20; run >= 16; run /= 2) {
    const Seconds time = bank_time(memory, Bytes(1e8), Bytes(run), 0).total();
    EXPECT_GE(time, before) << run;
    EXPECT_NEAR(bank_time(memory, Bytes(2e8), Bytes(run), 0).total() / time, 2, 1e-9) << run;
    before = time;
  }
  // Runs of half a burst throw half of it away, and each opens a row.
  const BankTime scattered = bank_time(memory, Bytes(1e8), Bytes(16), 0);
  EXPECT_NEAR(scattered.transfer / (Bytes(1e8) / memory.bandwidth), 2, 1e-9);
  EXPECT_GT(scattered.rows, Seconds(0));
}

TEST(BankTiming, MoreBanksFasterRowsAndFewerTurnsAreNeverSlower) {
  const BankedMemory base = memory_of("a100-sxm");
  const auto time = [](const BankedMemory& memory, double turns) {
    return bank_time(memory, Bytes(1e8), Bytes(64), turns).total();
  };
  BankedMemory banks = base;
  banks.timings.banks = 2;
  EXPECT_GT(time(banks, 0), time(base, 0));
  BankedMemory window = base;
  window.timings.four_activates = window.timings.four_activates * 4;
  EXPECT_GT(time(window, 0), time(base, 0));
  EXPECT_GT(time(base, 10), time(base, 0));
  EXPECT_GT(turns_beside(base, Bytes(1e9)), turns_beside(base, Bytes(1e8)));
  BankedMemory dense = base;
  dense.refresh_time = dense.refresh_time * 2;
  EXPECT_GT(time(dense, 0), time(base, 0));
}

TEST(BankTiming, RefreshTimesBetweenDensitiesLieOnALine) {
  const MemoryTimings timings = load_memory_timings("hbm3", "key");
  EXPECT_NEAR(refresh_time(timings, 8).value(), 350e-9, 1e-15);
  EXPECT_NEAR(refresh_time(timings, 12).value(), 400e-9, 1e-15);
  EXPECT_NEAR(refresh_time(timings, 1).value(), 160e-9, 1e-15);
  EXPECT_NEAR(refresh_time(timings, 64).value(), 450e-9, 1e-15);
}

std::string message_of(const HbmSpec& spec) {
  try {
    banked_memory(spec, load_memory_timings(spec.standard, "device.hbm.standard"));
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BankTiming, MissingTimingsNameTheKey) {
  HbmSpec spec = hbm_of("h100-sxm");
  EXPECT_EQ(message_of(spec), "accepted");
  spec.standard = "";
  EXPECT_THAT(message_of(spec), AllOf(HasSubstr("device.hbm.standard: not stated"),
                                      HasSubstr("hbm2, hbm2e, hbm3, hbm3e")));
  spec.standard = "hbm7";
  EXPECT_THAT(message_of(spec), HasSubstr("device.hbm.standard: 'hbm7' is no standard"));
  spec.standard = "hbm3";
  spec.stacks = 0;
  EXPECT_THAT(message_of(spec), HasSubstr("device.hbm.stacks: not stated"));
}

}  // namespace
}  // namespace foretell

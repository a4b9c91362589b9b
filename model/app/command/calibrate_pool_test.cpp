// calibrate fit --pool, and tables that measured the same more than once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "calib/fitted/gpu/gemm_factors_choice.hpp"
#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/app/terminal/session.hpp"
#include "model/testing/temporary_folder.hpp"
#include "model/timing/gpu/gemm_timing.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

// Products of an H100 that take what the factors of one of its tables say, in two libraries.
class CalibratePool : public testing::Test {
 protected:
  CalibratePool() {
    const GpuDeviceSpec device = GpuCatalog().load("h100-sxm").spec.device;
    const GemmFactors truth =
        choose_gemm(KernelFactorsLibrary(kernel_factors_folder("gemm")), device, "trtllm", "bf16")
            .set.factors;
    const GemmLibrary library = gemm_library(device.architecture, "trtllm", "bf16");
    const GemmTiming timing(device, gemm_type("bf16"), library, truth);
    for (const char* framework : {"trtllm", "vllm"}) {
      for (int family = 0; family < 40; ++family) {
        for (const std::int64_t m : {4, 256, 4096}) {
          const GemmShape shape{m, 512 * (1 + family % 8), 1024 * (1 + family / 3)};
          const double us = timing.fastest(shape, {3, false}).total.value() * 1e6;
          rows +=
              fmt::format("h100_sxm,{},1,bf16,{},{},{},3,{}\n", framework, m, shape.n, shape.k, us);
        }
      }
    }
    // What is fitted already is where it starts: the folder of the program is not written to.
    fs::create_directories(folder.file("factors/gpu/gemm"));
    fs::copy(kernel_factors_folder("gemm") / "h100-sxm.yaml",
             folder.file("factors/gpu/gemm/h100-sxm.yaml"));
  }

  CommandResult fit(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        "calibrate",
        "fit",
        "--device",
        "h100-sxm",
        "--jobs",
        "1",
        "--table",
        folder.write("t.csv", "gpu,framework,version,dtype,m,n,k,copies,latency_us\n" + rows),
        "-o",
        folder.file("factors")};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }

  std::size_t stated(const std::string& table) const {
    const KernelFactorsLibrary library(folder.file("factors/gpu/gemm"));
    const FactorTable* set = library.find("h100-sxm", table);
    return set == nullptr ? 1000 : set->stated.own.size();
  }

  std::string rows;
  TemporaryFolder folder;
};

TEST_F(CalibratePool, TablesThatMeasureTheSameKernelShareItsNumbers) {
  const std::size_t before = stated("vllm bf16");
  const CommandResult result = fit({"--pool", "0.5"});
  ASSERT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, HasSubstr("fitted with the other tables"));
  EXPECT_LE(stated("vllm bf16"), before);
  EXPECT_LE(stated("vllm bf16"), 1U);
  EXPECT_LT(stated("sglang bf16"), 1000U) << "tables without rows stay";
}

TEST_F(CalibratePool, WhatMakesNoSenseIsRefused) {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& message) {
    const CommandResult result = fit(more);
    EXPECT_EQ(result.code, kUserMistake);
    EXPECT_THAT(result.messages, HasSubstr(message));
  };
  refused({"--pool", "-1"}, "--pool: '-1' is no number of percentage points from 0 to 100");
  refused({"--pool", "few"}, "--pool: 'few' is no number");
  refused({"--pool", "1", "--pool-mean", "101"}, "--pool-mean: '101' is no number");
  refused({"--pool-mean", "0.1"}, "--pool POINTS");
  refused({"--pool", "1", "--keep-factors"}, "--pool or --keep-factors");
  const CommandResult second =
      run_command({"calibrate", "fit", "--device", "h100-sxm,inferentia2", "--pool", "1"});
  EXPECT_EQ(second.code, kUserMistake);
  EXPECT_THAT(second.messages, HasSubstr("give GPUs and --table"));
  const CommandResult twice =
      run_command({"calibrate", "fit", "--device", "h100-sxm,h100-sxm", "--pool", "1"});
  EXPECT_EQ(twice.code, kUserMistake);
  EXPECT_THAT(twice.messages, HasSubstr("--device names h100-sxm twice"));
  const CommandResult neuron =
      run_command({"calibrate", "fit", "--device", "inferentia2", "--pool", "1"});
  EXPECT_EQ(neuron.code, kUserMistake);
  EXPECT_THAT(neuron.messages, HasSubstr("give GPUs and --table"));
}

TEST_F(CalibratePool, ATableThatWasNeverFittedIsRefused) {
  rows = "";
  for (int family = 0; family < 20; ++family) {
    rows += fmt::format("h100_sxm,another,1,bf16,64,{},4096,3,20\n", 512 * (1 + family));
  }
  const CommandResult result = fit({"--pool", "1"});
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("has no factors yet; fit it without --pool first"));
}

TEST_F(CalibratePool, WhatWasMeasuredTwiceIsFittedToAndSaid) {
  const std::string first = rows.substr(0, rows.find('\n'));
  rows += first.substr(0, first.rfind(',')) + ",900\n";
  const CommandResult result = fit({"--keep-factors"});
  ASSERT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.messages, HasSubstr("1 rows of "));
  EXPECT_THAT(result.messages, HasSubstr("differ by more than 25 % from a row before"));
  EXPECT_THAT(result.messages, HasSubstr("t.csv:242: latency_us: 900 contradicts line 2"));
  EXPECT_THAT(result.messages, HasSubstr("no prediction is closer to such a pair than"));
}

}  // namespace
}  // namespace foretell

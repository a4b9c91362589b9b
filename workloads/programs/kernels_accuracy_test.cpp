// Hand-written kernels against what the vendor measured on one core of a trn1.2xlarge.
//
// Compared is the time on the device, without the host's call overhead, on published facts alone
// (`--factors none`). Sources: the NKI documentation's tutorials on matrix multiplication
// (MM:338-356) and fused Mamba (MB:514-925).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/program/file/program_file.hpp"
#include "model/system/simulate.hpp"

namespace foretell {
namespace {

using Parameters = std::map<std::string, std::int64_t>;

const std::filesystem::path kFolder = FORETELL_SOURCE_DIR "/workloads/programs";

struct Outcome {
  double milliseconds = 0;
  double vector_busy = 0;  // share of the time
};

Outcome run(const std::string& name, const Parameters& parameters = {}) {
  LoadOptions options;
  options.factors = "none";
  const CalibratedSystem system = load_calibrated("trn1.2xlarge", options);
  ProgramFileOptions file_options;
  file_options.parameters = parameters;
  file_options.limits = limits_of(system.spec.device);
  const Program program = load_program(kFolder / (name + ".yaml"), file_options);
  const Execution execution = simulate(system.spec, system.factors, {}, program);
  const double time = to_seconds(execution.end - execution.call_begin).value();
  const auto vector = static_cast<std::size_t>(Engine::kVector);
  return {time * 1e3, to_seconds(execution.cores[0].busy[vector]).value() / time};
}

struct Measured {
  const char* program;
  Parameters parameters;
  double milliseconds;
  double tolerance;
};

void PrintTo(const Measured& row, std::ostream* out) { *out << row.program; }

class MeasuredKernels : public testing::TestWithParam<Measured> {};

TEST_P(MeasuredKernels, TimeIsWithinTheTolerance) {
  const Measured& row = GetParam();
  const double simulated = run(row.program, row.parameters).milliseconds;
  EXPECT_NEAR(simulated / row.milliseconds, 1, row.tolerance)
      << simulated << " ms simulated, " << row.milliseconds << " ms measured";
}

INSTANTIATE_TEST_SUITE_P(Gemm, MeasuredKernels,
                         testing::Values(Measured{"gemm-tiled", {}, 51.80, 0.15},
                                         Measured{"gemm-hoisted", {}, 42.96, 0.15},
                                         Measured{"gemm-blocked-mn", {}, 22.07, 0.15},
                                         Measured{"gemm-blocked-mnk", {}, 6.97, 0.04}));

INSTANTIATE_TEST_SUITE_P(
    Mamba, MeasuredKernels,
    testing::Values(Measured{"mamba-v1-toy", {}, 0.15093, 0.12},
                    Measured{"mamba-v1", {}, 2.34, 0.05}, Measured{"mamba-v2", {}, 1.61, 0.05},
                    Measured{"mamba-v2-spilling", {}, 53.33, 0.05},
                    Measured{"mamba-v3", {}, 27.8, 0.05},
                    Measured{"mamba-v3", {{"seq", 7168}}, 24.2, 0.05},
                    Measured{"mamba-v3", {{"seq", 6144}, {"buffers", 2}}, 19.6, 0.05},
                    Measured{"mamba-v3", {{"seq", 4096}, {"buffers", 2}}, 13.3, 0.05},
                    Measured{"mamba-v3", {{"seq", 3072}, {"buffers", 2}}, 10.1, 0.05},
                    Measured{"mamba-v3", {{"seq", 2048}, {"buffers", 2}}, 6.6, 0.05},
                    Measured{"mamba-v3", {{"seq", 1024}, {"buffers", 2}}, 3.3, 0.05}));

// The point of the tutorial: every version is faster than the one before it.
TEST(Kernels, EachVersionOfTheGemmIsFasterThanTheOneBefore) {
  double before = INFINITY;
  for (const char* name : {"gemm-tiled", "gemm-hoisted", "gemm-blocked-mn", "gemm-blocked-mnk"}) {
    const double now = run(name).milliseconds;
    EXPECT_LT(now, before) << name;
    before = now;
  }
}

TEST(Kernels, MambaKeepsTheVectorEngineAsBusyAsMeasured) {
  EXPECT_NEAR(run("mamba-v1").vector_busy, 0.9216, 0.03);
  EXPECT_NEAR(run("mamba-v2").vector_busy, 0.9963, 0.03);
  EXPECT_NEAR(run("mamba-v2-spilling").vector_busy, 0.5893, 0.05);
  EXPECT_NEAR(run("mamba-v3").vector_busy, 0.9485, 0.03);
}

TEST(Kernels, EveryFileOfTheFolderLoadsForEverySystem) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    ProgramFileOptions options;
    options.limits = limits_of(Catalog().load("inf2.xlarge").spec.device);
    EXPECT_GT(load_program(entry.path(), options).entry_count(), 0U) << entry.path();
  }
  EXPECT_GE(files, 9U);
}

}  // namespace
}  // namespace foretell

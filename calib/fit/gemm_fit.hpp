// The factors of matrix products from measured rows: which rows, where the search starts, and the
// search, which calls the closed form of model/timing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "calib/fitted/gpu/shared_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/timing/gpu/gemm_library.hpp"
#include "model/timing/gpu/gemm_timing.hpp"

namespace foretell {

// Rows with the same columns and depth (n, k) are one family. A quarter of the families, chosen by
// this hash of n and k, is held out: no factor is fitted to any of their rows, on any device.
bool is_held_out_family(std::int64_t n, std::int64_t k);

struct GemmSample {
  GemmShape shape;
  GemmL2State l2;
  Seconds measured;
};

// Where a search starts and what it may not move (calib/fit/gpu_gemm_plan.yaml).
struct GemmStart {
  GemmFactors factors;
  std::vector<std::string> fixed;  // names of factors
};
// load_kernel_start() of a table, "trtllm bf16".
GemmStart load_gemm_start(const std::string& path, const std::string& architecture,
                          const std::string& table);

struct GemmFitOptions {
  std::size_t rows = 2400;  // drawn from those given
  int evaluations = 1000;   // of each of three searches
  std::uint64_t seed = 1;
  std::function<void(double)> progress;  // share that is done
};

struct GemmFitResult {
  GemmFactors factors;
  std::vector<std::string> free;  // what was fitted
  std::size_t rows = 0;
  double loss = 0;  // mean |predicted / measured - 1| over those rows
};

// Factors that are zero at the start do not apply to the kernels at hand and stay zero. At least
// one sample.
GemmFitResult fit_gemm(const GpuDeviceSpec& device, const GemmType& type,
                       const GemmLibrary& library, const GemmStart& start,
                       const std::vector<GemmSample>& samples, const GemmFitOptions& options);

// The factors of another set but for at most `most` whose own values gain enough (shared_fit.hpp),
// of those that `start` moves; `hints` are values that an earlier fit found. `free` are those.
struct SharedGemmFit {
  GemmFitResult result;
  std::vector<std::string> without;  // factors of the other set that `start` does without
  double shared_loss = 0;            // without own values
};
SharedGemmFit fit_shared_gemm(const GpuDeviceSpec& device, const GemmType& type,
                              const GemmLibrary& library, const GemmStart& start,
                              const GemmFactors& like, const FactorTexts& hints, std::size_t most,
                              const std::vector<GemmSample>& samples,
                              const GemmFitOptions& options);

}  // namespace foretell

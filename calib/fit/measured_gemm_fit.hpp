// The factors of matrix products from a few hundred rows of one machine, and how sure they are.
//
// The fit of fit.hpp with ln(factor) as the coordinate: pseudo-Huber loss of ln(predicted /
// measured), several starts, and a belief around the factors of the nearest chip (or library) that
// has some, so that what the rows do not determine stays where it was. Every family of equal (n, k)
// is one piece of evidence, however many rows it has.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calib/fit/evidence.hpp"
#include "calib/fit/gemm_fit.hpp"

namespace foretell {

struct MeasuredGemmOptions {
  std::size_t rows = 1200;  // drawn from those given
  int starts = 3;
  int resamples = 200;  // of the bootstrap over families
  std::uint64_t seed = 1;
  std::function<void(double)> progress;  // share that is done
};

struct MeasuredGemmFit {
  GemmFactors factors;
  FitEvidence evidence;  // intervals, not_identified and trade_offs
  std::size_t rows = 0;
  std::size_t families = 0;
  int free = 0;
  double mape = 0;  // on those rows
};

// Factors that are zero in `prior` do not apply and stay zero. UserError when there are fewer
// families than factors.
MeasuredGemmFit fit_measured_gemm(const GpuDeviceSpec& device, const GemmType& type,
                                  const GemmLibrary& library, const GemmFactors& prior,
                                  const std::vector<GemmSample>& samples,
                                  const MeasuredGemmOptions& options);

// evidence_around (evidence.hpp) for factors of matrix products that another search found.
FitEvidence evidence_around(const GpuDeviceSpec& device, const GemmType& type,
                            const GemmLibrary& library, const GemmFactors& factors,
                            const std::vector<std::string>& free,
                            const std::vector<GemmSample>& samples,
                            const MeasuredGemmOptions& options);

}  // namespace foretell

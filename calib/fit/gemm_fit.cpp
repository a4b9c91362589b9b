#include "calib/fit/gemm_fit.hpp"

#include <algorithm>
#include <cmath>

#include "calib/fit/kernel_fit.hpp"
#include "calib/fit/shared_fit.hpp"
#include "model/base/errors.hpp"
#include "model/config/fields.hpp"

namespace foretell {
namespace {

constexpr int kSearches = 3;
constexpr std::size_t kSharedRows = 800;  // that tell which factors need values of their own
constexpr int kSharedEvaluations = 80;    // for each of them, on all rows that are drawn

double loss_of(const GpuDeviceSpec& device, const GemmType& type, const GemmLibrary& library,
               const GemmFactors& factors, const std::vector<GemmSample>& samples) {
  const GemmTiming timing(device, type, library, factors);
  double sum = 0;
  for (const GemmSample& sample : samples) {
    const Seconds predicted = timing.fastest(sample.shape, sample.l2).total;
    sum += std::abs(predicted / sample.measured - 1);
  }
  return sum / static_cast<double>(samples.size());
}

// Drawn without repetition, in the order of the draw.
std::vector<GemmSample> drawn(const std::vector<GemmSample>& samples,
                              const GemmFitOptions& options) {
  FORETELL_CHECK(!samples.empty(), "a fit without rows");
  std::vector<GemmSample> some;
  for (const std::size_t place : draw_rows(samples.size(), options.rows, options.seed)) {
    some.push_back(samples[place]);
  }
  return some;
}

}  // namespace

bool is_held_out_family(std::int64_t n, std::int64_t k) {
  auto hash = static_cast<std::uint32_t>(n / 32) * 2654435761U ^
              static_cast<std::uint32_t>(k / 32) * 2246822519U;
  hash ^= hash >> 15U;
  hash *= 2654435761U;
  return (hash >> 28U) % 4 == 0;
}

GemmStart load_gemm_start(const std::string& path, const std::string& architecture,
                          const std::string& table) {
  GemmStart start;
  FieldList list;
  fields(list, start.factors);
  start.fixed = load_kernel_start(path, architecture, table, list);
  return start;
}

GemmFitResult fit_gemm(const GpuDeviceSpec& device, const GemmType& type,
                       const GemmLibrary& library, const GemmStart& start,
                       const std::vector<GemmSample>& samples, const GemmFitOptions& options) {
  const std::vector<GemmSample> chosen = drawn(samples, options);
  GemmFitResult result;
  result.factors = start.factors;
  result.rows = chosen.size();
  FieldList list;
  fields(list, result.factors);
  int done = 0;
  const auto loss = [&] {
    if (options.progress) options.progress(1.0 * ++done / options.evaluations / kSearches);
    return loss_of(device, type, library, result.factors, chosen);
  };
  const KernelFit fit = fit_kernel(list, start.fixed, options.evaluations, kSearches, loss);
  result.free = fit.free;
  result.loss = fit.loss;
  return result;
}

SharedGemmFit fit_shared_gemm(const GpuDeviceSpec& device, const GemmType& type,
                              const GemmLibrary& library, const GemmStart& start,
                              const GemmFactors& like, const FactorTexts& hints, std::size_t most,
                              const std::vector<GemmSample>& samples,
                              const GemmFitOptions& options) {
  const std::vector<GemmSample> chosen = drawn(samples, options);
  SharedGemmFit fit;
  GemmFitResult& result = fit.result;
  result.rows = chosen.size();
  GemmFactors starts = start.factors;
  GemmFactors shared = like;
  FieldList list;
  FieldList list_of_starts;
  FieldList list_of_shared;
  fields(list, result.factors);
  fields(list_of_starts, starts);
  fields(list_of_shared, shared);
  std::vector<std::string> candidates;
  for (const Field& field : list.all()) {
    const Field& of_shared = list_of_shared.at(field.path);
    const bool applies = list_of_starts.at(field.path).number() > 0;
    if (applies) field.assign(of_shared.text());
    if (!applies && of_shared.number() > 0) fit.without.push_back(field.path);
    const bool fixed =
        std::find(start.fixed.begin(), start.fixed.end(), field.path) != start.fixed.end();
    if (applies && !fixed) candidates.push_back(field.path);
  }
  const std::vector<GemmSample> some(
      chosen.begin(),
      chosen.begin() + static_cast<std::ptrdiff_t>(std::min(kSharedRows, chosen.size())));
  SharedFitOptions shared_options;
  shared_options.most = most;
  const SharedFit found = fit_shared(list, candidates, hints, shared_options, [&] {
    return loss_of(device, type, library, result.factors, some);
  });
  fit.shared_loss = found.shared_loss;
  result.free = found.own;
  const auto loss = [&] { return loss_of(device, type, library, result.factors, chosen); };
  result.loss = loss();
  if (found.own.empty()) return fit;
  std::vector<std::string> fixed;
  for (const Field& field : list.all()) {
    if (std::count(found.own.begin(), found.own.end(), field.path) == 0) {
      fixed.push_back(field.path);
    }
  }
  const int evaluations = kSharedEvaluations * static_cast<int>(found.own.size());
  result.loss = fit_kernel(list, fixed, evaluations, 1, loss).loss;
  return fit;
}

}  // namespace foretell

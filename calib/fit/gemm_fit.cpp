#include "calib/fit/gemm_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calib/fit/kernel_fit.hpp"
#include "calib/fit/minimise.hpp"
#include "calib/fit/random.hpp"
#include "calib/fit/shared_fit.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/fields.hpp"

namespace foretell {
namespace {

constexpr double kReach = 3;  // how far a factor may go from its start, in powers of e
constexpr double kFirstStep = 0.15;
constexpr double kLongStep = 0.5;
constexpr int kSearches = 3;
constexpr std::size_t kSharedRows = 800;  // that tell which factors need values of their own
constexpr int kSharedEvaluations = 80;    // for each of them, on all rows that are drawn

bool contains(const Node* list, const std::string& name) {
  if (list == nullptr) return true;  // an entry that does not say holds for all
  return std::any_of(list->items.begin(), list->items.end(),
                     [&](const Node& item) { return item.text == name; });
}

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

void draw(std::vector<GemmSample>& samples, std::size_t wanted, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = 0; i < std::min(wanted, samples.size()); ++i) {
    std::swap(samples[i], samples[i + random.index(samples.size() - i)]);
  }
  if (samples.size() > wanted) samples.resize(wanted);
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
                          const std::string& framework, const std::string& type) {
  const Node root = load_document(path);
  root.only_keys({"starts", "sharing"}, "");
  for (const Node& entry : root.required("starts", "").items) {
    entry.only_keys({"architectures", "frameworks", "types", "why", "fixed", "factors"}, "starts");
    if (!contains(entry.find("architectures"), architecture) ||
        !contains(entry.find("frameworks"), framework) || !contains(entry.find("types"), type)) {
      continue;
    }
    GemmStart start;
    FieldList list;
    fields(list, start.factors);
    Problems problems;
    for (const MapEntry& factor : entry.required("factors", "starts").entries) {
      const Field* field = list.find(factor.key);
      if (field == nullptr) {
        const std::string nearest = list.nearest(factor.key);
        problems.add(factor.value, factor.key,
                     "no such factor" + (nearest.empty() ? "" : "; nearest is '" + nearest + "'"));
      } else {
        read_plain_value(*field, factor.value, problems);
      }
    }
    if (const Node* fixed = entry.find("fixed")) {
      for (const Node& name : fixed->items) start.fixed.push_back(list.at(name.text).path);
    }
    problems.throw_if_any();
    return start;
  }
  throw UserError(
      fmt::format("{}: no start for {} {} on {}; add one", path, framework, type, architecture));
}

GemmFitResult fit_gemm(const GpuDeviceSpec& device, const GemmType& type,
                       const GemmLibrary& library, const GemmStart& start,
                       std::vector<GemmSample> samples, const GemmFitOptions& options) {
  FORETELL_CHECK(!samples.empty(), "a fit without rows");
  draw(samples, options.rows, options.seed);
  GemmFitResult result;
  result.factors = start.factors;
  result.rows = samples.size();
  FieldList list;
  fields(list, result.factors);
  std::vector<const Field*> free;
  std::vector<double> at;
  Box box;
  for (const Field& field : list.all()) {
    const bool fixed =
        std::find(start.fixed.begin(), start.fixed.end(), field.path) != start.fixed.end();
    if (fixed || !(field.number() > 0)) continue;
    free.push_back(&field);
    result.free.push_back(field.path);
    at.push_back(std::log(field.number()));
    box.low.push_back(std::max(at.back() - kReach, field.min > 0 ? std::log(field.min) : -1e3));
    box.high.push_back(std::min(at.back() + kReach, std::log(field.max)));
  }
  const auto assign = [&](const std::vector<double>& x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double value = std::clamp(std::exp(x[i]), free[i]->min, free[i]->max);
      free[i]->assign(format_quantity(value, free[i]->dimension));
    }
  };
  int done = 0;
  const auto loss = [&](const std::vector<double>& x) {
    assign(x);
    if (options.progress) options.progress(1.0 * ++done / options.evaluations / kSearches);
    return loss_of(device, type, library, result.factors, samples);
  };
  Minimum best = minimise_rough(loss, box, at, kFirstStep, options.evaluations);
  // Again from there with long steps: the loss has poor local minima.
  for (int step = 1; step < kSearches; ++step) {
    const Minimum again = minimise_rough(loss, box, best.at, step * kLongStep, options.evaluations);
    if (again.value < best.value) best = again;
  }
  assign(best.at);
  result.loss = best.value;
  return result;
}

SharedGemmFit fit_shared_gemm(const GpuDeviceSpec& device, const GemmType& type,
                              const GemmLibrary& library, const GemmStart& start,
                              const GemmFactors& like, const FactorTexts& hints, std::size_t most,
                              std::vector<GemmSample> samples, const GemmFitOptions& options) {
  FORETELL_CHECK(!samples.empty(), "a fit without rows");
  draw(samples, options.rows, options.seed);
  SharedGemmFit fit;
  GemmFitResult& result = fit.result;
  result.rows = samples.size();
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
      samples.begin(),
      samples.begin() + static_cast<std::ptrdiff_t>(std::min(kSharedRows, samples.size())));
  SharedFitOptions shared_options;
  shared_options.most = most;
  const SharedFit found = fit_shared(list, candidates, hints, shared_options, [&] {
    return loss_of(device, type, library, result.factors, some);
  });
  fit.shared_loss = found.shared_loss;
  result.free = found.own;
  const auto loss = [&] { return loss_of(device, type, library, result.factors, samples); };
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

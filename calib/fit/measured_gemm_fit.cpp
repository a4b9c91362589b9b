#include "calib/fit/measured_gemm_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "calib/fit/evidence.hpp"
#include "calib/fit/fit.hpp"
#include "calib/fit/kernel_fit.hpp"
#include "model/base/errors.hpp"
#include "model/config/fields.hpp"

namespace foretell {
namespace {

constexpr double kNoise = 0.05;  // relative error of a row that is no news
constexpr const char* kAll = "all";

std::string family_of(const GemmShape& shape) { return fmt::format("{}x{}", shape.n, shape.k); }

// Factors by name, as a fit over their logarithms sees them.
class Model {
 public:
  Model(const GpuDeviceSpec& device, const GemmType& type, const GemmLibrary& library,
        const GemmFactors& factors)
      : device_(device), type_(type), library_(library), factors_(factors) {
    fields(list_, factors_);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  std::vector<std::string> nonzero() const {
    std::vector<std::string> names;
    for (const Field& field : list_.all()) {
      if (field.number() > 0) names.push_back(field.path);
    }
    return names;
  }

  FieldList& fields_list() { return list_; }

  std::vector<double> predict(const std::vector<GemmSample>& samples) const {
    const GemmTiming timing(device_, type_, library_, factors_);
    std::vector<double> seconds;
    seconds.reserve(samples.size());
    for (const GemmSample& sample : samples) {
      seconds.push_back(timing.fastest(sample.shape, sample.l2).total.value());
    }
    return seconds;
  }

  // Four significant digits, with the unit.
  std::string text(const std::string& name, double logarithm) const {
    const double value = std::stod(fmt::format("{:.4g}", std::exp(logarithm)));
    return format_quantity(value, list_.at(name).dimension);
  }

  const GemmFactors& factors() const { return factors_; }

 private:
  const GpuDeviceSpec& device_;
  const GemmType& type_;
  const GemmLibrary& library_;
  GemmFactors factors_;
  mutable FieldList list_;  // looks names up through an index that it builds
};

std::vector<GemmSample> drawn(const std::vector<GemmSample>& samples,
                              const MeasuredGemmOptions& options) {
  std::vector<GemmSample> chosen;
  for (const std::size_t i : draw_rows(samples.size(), options.rows, options.seed)) {
    chosen.push_back(samples[i]);
  }
  return chosen;
}

std::vector<Observation> observations_of(const std::vector<GemmSample>& samples) {
  std::vector<Observation> observations;
  for (const GemmSample& sample : samples) {
    observations.push_back({kAll, family_of(sample.shape), sample.measured.value()});
  }
  return observations;
}

FitProblem problem_of(Model& model, const std::vector<std::string>& names,
                      const std::vector<GemmSample>& samples) {
  FitProblem problem;
  problem.noise = kNoise;
  for (const std::string& name : names) {
    problem.factors.push_back(factor_around(model.fields_list().at(name)));
  }
  problem.observations = observations_of(samples);
  problem.forecast = [&model, names, &samples](const std::vector<double>& values) {
    assign_logarithms(model.fields_list(), names, values);
    return model.predict(samples);
  };
  return problem;
}

std::size_t count_families(const std::vector<GemmSample>& samples) {
  std::set<std::string> families;
  for (const GemmSample& sample : samples) families.insert(family_of(sample.shape));
  return families.size();
}

}  // namespace

MeasuredGemmFit fit_measured_gemm(const GpuDeviceSpec& device, const GemmType& type,
                                  const GemmLibrary& library, const GemmFactors& prior,
                                  const std::vector<GemmSample>& samples,
                                  const MeasuredGemmOptions& options) {
  Model model(device, type, library, prior);
  const std::vector<GemmSample> chosen = drawn(samples, options);
  const std::vector<std::string> names = model.nonzero();
  MeasuredGemmFit fitted;
  fitted.rows = chosen.size();
  fitted.families = count_families(chosen);
  fitted.free = static_cast<int>(names.size());
  if (fitted.families < names.size()) {
    throw UserError(fmt::format(
        "{}: {} families of equal (n, k) cannot identify {} factors; measure more shapes",
        type.name, fitted.families, names.size()));
  }
  const FitProblem problem = problem_of(model, names, chosen);
  FitOptions fit_options;
  fit_options.starts = options.starts;
  fit_options.resamples = options.resamples;
  fit_options.seed = options.seed;
  fit_options.progress = options.progress;
  const FitResult result = fit(problem, fit_options);
  std::vector<double> values;
  for (const FactorEstimate& estimate : result.factors) {
    const std::string& name = estimate.factor.name;
    values.push_back(estimate.value);
    fitted.evidence.interval80.push_back(
        {name, model.text(name, estimate.low80), model.text(name, estimate.high80)});
    if (!estimate.identified) fitted.evidence.not_identified.push_back(name);
  }
  for (const Correlation& pair : result.correlations) {
    fitted.evidence.trade_offs.push_back(
        fmt::format("{} and {}: {:+.2f}", pair.first, pair.second, pair.value));
  }
  assign_logarithms(model.fields_list(), names, values);
  fitted.factors = model.factors();
  for (const double residual : result.log_residuals) {
    fitted.mape += std::abs(std::exp(residual) - 1) / static_cast<double>(chosen.size());
  }
  return fitted;
}

FitEvidence evidence_around(const GpuDeviceSpec& device, const GemmType& type,
                            const GemmLibrary& library, const GemmFactors& factors,
                            const std::vector<std::string>& free,
                            const std::vector<GemmSample>& samples,
                            const MeasuredGemmOptions& options) {
  Model model(device, type, library, factors);
  const std::vector<GemmSample> chosen = drawn(samples, options);
  return evidence_around(model.fields_list(), free, observations_of(chosen),
                         [&] { return model.predict(chosen); }, {options.resamples, options.seed});
}

}  // namespace foretell

#include "calib/fit/measured_gemm_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "calib/fit/fit.hpp"
#include "calib/fit/kernel_fit.hpp"
#include "calib/fit/uncertainty.hpp"
#include "model/base/errors.hpp"
#include "model/config/fields.hpp"

namespace foretell {
namespace {

constexpr double kWidth = 0.5;   // belief: within a factor of 1.65, two times out of three
constexpr double kReach = 1.5;   // farthest, in powers of e
constexpr double kNoise = 0.05;  // relative error of a row that is no news
constexpr double kSlopeStep = 0.15;
constexpr double kLowTail = 0.1;  // an 80 % interval leaves 10 % on each side
constexpr double kHighTail = 0.9;
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

  FreeFactor free_factor(const std::string& name) const {
    const Field& field = list_.at(name);
    FreeFactor factor;
    factor.name = name;
    factor.prior = std::log(field.number());
    factor.width = kWidth;
    factor.low = std::max(factor.prior - kReach, field.min > 0 ? std::log(field.min) : -1e3);
    factor.high = std::min(factor.prior + kReach, std::log(field.max));
    return factor;
  }

  // Values are logarithms, in the order of `names`.
  void assign(const std::vector<std::string>& names, const std::vector<double>& values) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Field& field = list_.at(names[i]);
      const double value = std::clamp(std::exp(values[i]), field.min, field.max);
      field.assign(format_quantity(value, field.dimension));
    }
  }

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

FitProblem problem_of(Model& model, const std::vector<std::string>& names,
                      const std::vector<GemmSample>& samples) {
  FitProblem problem;
  problem.noise = kNoise;
  for (const std::string& name : names) problem.factors.push_back(model.free_factor(name));
  for (const GemmSample& sample : samples) {
    problem.observations.push_back({kAll, family_of(sample.shape), sample.measured.value()});
  }
  problem.forecast = [&model, names, &samples](const std::vector<double>& values) {
    model.assign(names, values);
    return model.predict(samples);
  };
  return problem;
}

std::size_t count_families(const std::vector<GemmSample>& samples) {
  std::set<std::string> families;
  for (const GemmSample& sample : samples) families.insert(family_of(sample.shape));
  return families.size();
}

std::string trade_off(const std::string& first, const std::string& second, double correlation) {
  return fmt::format("{} and {}: {:+.2f}", first, second, correlation);
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
    fitted.evidence.trade_offs.push_back(trade_off(pair.first, pair.second, pair.value));
  }
  model.assign(names, values);
  fitted.factors = model.factors();
  for (const double residual : result.log_residuals) {
    fitted.mape += std::abs(std::exp(residual) - 1) / static_cast<double>(chosen.size());
  }
  return fitted;
}

GemmEvidence evidence_around(const GpuDeviceSpec& device, const GemmType& type,
                             const GemmLibrary& library, const GemmFactors& factors,
                             const std::vector<std::string>& free,
                             const std::vector<GemmSample>& samples,
                             const MeasuredGemmOptions& options) {
  Model model(device, type, library, factors);
  const std::vector<GemmSample> chosen = drawn(samples, options);
  const FitProblem problem = problem_of(model, free, chosen);
  const Point here(free.size(), 0.0);
  const Linearisation line = linearise(problem, here, kSlopeStep, Differences::kCentral);
  const std::vector<Point> draws = bootstrap(problem, line, options.resamples, options.seed);
  GemmEvidence evidence;
  for (std::size_t j = 0; j < free.size(); ++j) {
    // The search minimised another loss: the draws are moved so that they lie around its result.
    const double middle = sample_quantile(draws, j, 0.5);
    const auto bound = [&](double tail) {
      const FreeFactor& factor = problem.factors[j];
      const double logarithm =
          factor.prior + factor.width * (sample_quantile(draws, j, tail) - middle);
      return model.text(free[j], std::clamp(logarithm, factor.low, factor.high));
    };
    evidence.interval80.push_back({free[j], bound(kLowTail), bound(kHighTail)});
    if (sample_deviation(draws, j) > kIdentified) evidence.not_identified.push_back(free[j]);
    for (std::size_t other = 0; other < j; ++other) {
      const double correlation = sample_correlation(draws, other, j);
      if (std::abs(correlation) <= kStrongCorrelation) continue;
      evidence.trade_offs.push_back(trade_off(free[other], free[j], correlation));
    }
  }
  return evidence;
}

}  // namespace foretell

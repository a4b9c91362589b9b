#include "calib/fit/evidence.hpp"

#include <algorithm>
#include <cmath>

#include "calib/fit/uncertainty.hpp"
#include "model/base/number_text.hpp"

namespace foretell {
namespace {

// Four significant digits, with the unit.
std::string text_of(const Field& field, double logarithm) {
  const double value = rounded_to(std::exp(logarithm), 4);
  return format_quantity(value, field.dimension);
}

FreeFactor factor_around(const Field& field, const Belief& belief) {
  FreeFactor factor;
  factor.name = field.path;
  factor.prior = std::log(field.number());
  factor.width = belief.width;
  factor.low = std::max(factor.prior - belief.reach, field.min > 0 ? std::log(field.min) : -1e3);
  factor.high = std::min(factor.prior + belief.reach, std::log(field.max));
  factor.meaning = field.meaning;
  return factor;
}

}  // namespace

std::vector<std::string> trade_offs_of(const FitResult& result) {
  std::vector<std::string> texts;
  for (const Correlation& pair : result.correlations) {
    texts.push_back(trade_off_text(pair.first, pair.second, pair.value));
  }
  return texts;
}

std::vector<std::string> positive_fields(const FieldList& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields.all()) {
    if (field.has_value() && field.number() > 0) names.push_back(field.path);
  }
  return names;
}

void assign_logarithms(FieldList& fields, const std::vector<std::string>& names,
                       const std::vector<double>& values) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Field& field = fields.at(names[i]);
    const double value = std::clamp(std::exp(values[i]), field.min, field.max);
    field.assign(format_quantity(value, field.dimension));
  }
}

FitProblem problem_around(FieldList& fields, const std::vector<std::string>& free,
                          const std::vector<Observation>& observations,
                          const FieldForecast& forecast, const Belief& belief) {
  FitProblem problem;
  problem.noise = belief.noise;
  problem.loss = belief.loss;
  problem.observations = observations;
  for (const std::string& name : free) {
    problem.factors.push_back(factor_around(fields.at(name), belief));
  }
  problem.forecast = [&](const std::vector<double>& values) {
    assign_logarithms(fields, free, values);
    return forecast();
  };
  return problem;
}

double fit_around(FieldList& fields, const std::vector<std::string>& free,
                  const std::vector<Observation>& observations, const FieldForecast& forecast,
                  const FitOptions& options, const Belief& belief) {
  const FitResult result =
      fit(problem_around(fields, free, observations, forecast, belief), options);
  std::vector<double> values;
  for (const FactorEstimate& estimate : result.factors) values.push_back(estimate.value);
  assign_logarithms(fields, free, values);
  return result.loss;
}

FitEvidence evidence_around(FieldList& fields, const std::vector<std::string>& free,
                            const std::vector<Observation>& observations,
                            const FieldForecast& forecast, const EvidenceOptions& options) {
  const FitProblem problem = problem_around(fields, free, observations, forecast);
  std::vector<double> here;
  for (const FreeFactor& factor : problem.factors) here.push_back(factor.prior);
  const Point middle(free.size(), 0.0);
  const Linearisation line = linearise(problem, middle, kSlopeStep, Differences::kCentral);
  const std::vector<Point> draws = bootstrap(problem, line, options.resamples, options.seed);
  FitEvidence evidence;
  for (std::size_t j = 0; j < free.size(); ++j) {
    // The search minimised another loss: the draws are moved so that they lie around its result.
    const double median = sample_quantile(draws, j, 0.5);
    const auto bound = [&](double tail) {
      const FreeFactor& factor = problem.factors[j];
      const double logarithm =
          factor.prior + factor.width * (sample_quantile(draws, j, tail) - median);
      return text_of(fields.at(free[j]), std::clamp(logarithm, factor.low, factor.high));
    };
    evidence.interval80.push_back(
        {free[j], bound(kLowTail), bound(kHighTail), sample_deviation(draws, j) <= kIdentified});
    for (std::size_t other = 0; other < j; ++other) {
      const double correlation = sample_correlation(draws, other, j);
      if (std::abs(correlation) <= kStrongCorrelation) continue;
      evidence.trade_offs.push_back(trade_off_text(free[other], free[j], correlation));
    }
  }
  assign_logarithms(fields, free, here);
  return evidence;
}

}  // namespace foretell

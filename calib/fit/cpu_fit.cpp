#include "calib/fit/cpu_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "model/base/errors.hpp"
#include "model/config/fields.hpp"

namespace foretell {
namespace {

constexpr double kNoise = 0.03;          // of a median on a quiet machine, and of the model
constexpr double kContradiction = 1.25;  // ratio of two medians of one point
constexpr double kMostForeign = 0.1;     // share of the processors that others may have taken
constexpr double kMostSpread = 0.3;      // of a point that is believed
constexpr double kReach = 8;             // how far a factor may go from its belief, as a ratio

std::int64_t size_of(const CpuOperator& op, const char* name) {
  const auto found = op.sizes.find(name);
  return found == op.sizes.end() ? 0 : found->second;
}

// A quarter of all families, by a mixture of the bits of their two sizes (Steele et al., 2014). The
// salt is the first with a fifth to a third of every operator of the plan.
bool is_held_out_pair(std::int64_t first, std::int64_t second) {
  constexpr std::uint64_t kSalt = 18;
  auto bits = static_cast<std::uint64_t>(first) * 0x9e3779b97f4a7c15U +
              static_cast<std::uint64_t>(second) + kSalt;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return ((bits ^ (bits >> 31U)) & 3U) == 0;
}

// Shapes with the same columns and depth are one family.
bool is_held_out(const CpuOperator& op) {
  if (operator_class(op) == "block") return true;
  if (op.op == "conv") return is_held_out_pair(size_of(op, "filters"), size_of(op, "channels"));
  if (op.sizes.count("rows") > 0) return is_held_out_pair(size_of(op, "rows"), size_of(op, "cols"));
  if (op.sizes.count("k") > 0) return is_held_out_pair(size_of(op, "n"), size_of(op, "k"));
  return false;
}

CpuRow row_of(const Measurement& measurement) {
  CpuRow row;
  row.op.op = measurement.op;
  row.op.dtype = measurement.dtype;
  for (const auto& [name, size] : measurement.shape) row.op.sizes[name] = size;
  const auto state = [&measurement](const char* name) {
    const auto found = measurement.states.find(name);
    return found == measurement.states.end() ? std::string() : found->second;
  };
  row.op.cold = state("cache") == "cold";
  if (const std::string threads = state("threads"); !threads.empty()) {
    row.threads = std::max(1, std::atoi(threads.c_str()));
  } else if (const auto found = measurement.readings.find("threads");
             found != measurement.readings.end() && found->second) {
    row.threads = static_cast<int>(*found->second);
  }
  row.measured_us = measurement.latency_us;
  row.held_out = is_held_out(row.op);
  row.text = measurement_key(measurement);
  return row;
}

// The field of a free factor and its value there.
const Field& field_of(FieldList& list, const std::string& name) { return list.at(name); }

void assign(const std::vector<FreeFactor>& free, const std::vector<double>& logs,
            CpuFactors& factors) {
  FieldList list;
  fields(list, factors);
  for (std::size_t i = 0; i < free.size(); ++i) {
    const Field& field = field_of(list, free[i].name);
    const double value = std::clamp(std::exp(logs[i]), field.min, field.max);
    field.assign(format_quantity(value, field.dimension));
  }
}

// The order of magnitude of every factor before anything is measured.
CpuFactors belief() {
  CpuFactors factors;
  for (const char* type : {"fp32", "bf16", "int8"}) {
    factors.product_efficiency[type] = 0.95;
    factors.convolution_efficiency[type] = 0.9;
  }
  factors.tile = Cycles(60);
  factors.l2_efficiency = 0.75;
  factors.l3_efficiency = 0.6;
  factors.l3_hold = 0.7;
  factors.dram_efficiency = 0.6;
  factors.core_dram = 5;
  factors.overlap = 3;
  factors.call = Seconds(0.4e-6);
  factors.fork_join = 0.5;
  factors.copy = 2;
  factors.convert = {{"bf16", 3}, {"int8", 4}};
  factors.cold_call = Seconds(20e-6);
  factors.add = 3;
  factors.gelu = 25;
  factors.softmax = 20;
  factors.norm = 8;
  factors.reduce = 3;
  factors.pack = 3;
  factors.narrow = 1;
  factors.row = {{"softmax", 40}, {"norm", 40}, {"reduce", 10}};
  return factors;
}

}  // namespace

CpuRowTable cpu_rows_of(const std::vector<Measurement>& measurements) {
  CpuRowTable table;
  std::map<std::string, double> seen;
  std::set<std::string> machines;
  int loaded = 0;
  for (const Measurement& measurement : measurements) {
    machines.insert(measurement.provenance.machine);
    const std::string key = measurement_key(measurement);
    const auto [known, is_new] = seen.emplace(key, measurement.latency_us);
    if (!is_new) {
      const double ratio = measurement.latency_us / known->second;
      if (ratio > kContradiction || ratio < 1 / kContradiction) {
        throw UserError(
            fmt::format("{}: measured twice, as {:.4g} us and {:.4g} us; leave the wrong line out",
                        key, known->second, measurement.latency_us));
      }
      ++table.left_out["measured before"];
      continue;
    }
    const auto foreign = measurement.readings.find("foreign_load");
    if (foreign != measurement.readings.end() && foreign->second.value_or(0) > kMostForeign) {
      ++loaded;
      continue;
    }
    if (measurement.spread > kMostSpread) {
      ++table.left_out["its repeats spread over more than 30 %"];
      continue;
    }
    table.rows.push_back(row_of(measurement));
  }
  if (machines.size() > 1) {
    throw UserError(fmt::format("measurements of {} machines: '{}' and '{}'; fit one at a time",
                                machines.size(), *machines.begin(), *machines.rbegin()));
  }
  if (loaded > 0 && static_cast<std::size_t>(loaded) >= measurements.size() / 2) {
    throw UserError(fmt::format(
        "{} of {} points were measured while others used the processors; measure again when the "
        "machine is quiet",
        loaded, measurements.size()));
  }
  if (loaded > 0) table.left_out["measured while others used the processors"] = loaded;
  if (table.rows.empty()) throw UserError("no measurement of operators on a CPU");
  return table;
}

std::vector<FreeFactor> cpu_free_factors(const CpuFactors& centre) {
  CpuFactors copy = centre;
  FieldList list;
  fields(list, copy);
  std::vector<FreeFactor> free;
  for (const Field& field : list.all()) {
    if (!field.has_value() || !(field.number() > 0)) continue;
    FreeFactor factor;
    factor.name = field.path;
    factor.prior = std::log(field.number());
    factor.width = 0.7;
    factor.low =
        std::max(factor.prior - std::log(kReach), field.min > 0 ? std::log(field.min) : -1e3);
    factor.high = std::min(factor.prior + std::log(kReach), std::log(field.max));
    factor.meaning = field.meaning;
    free.push_back(std::move(factor));
  }
  return free;
}

double predicted_us(const CpuSystemSpec& system, const CpuFactors& factors, const CpuRow& row) {
  const CpuTiming timing(system, factors, row.threads);
  return operator_time(timing, row.op).value() * 1e6;
}

CpuFit fit_cpu(const CpuSystemSpec& system, const std::vector<CpuRow>& rows,
               const CpuFitOptions& options) {
  FitProblem problem;
  problem.noise = kNoise;
  problem.factors = cpu_free_factors(belief());
  std::vector<const CpuRow*> used;
  for (const CpuRow& row : rows) {
    if (row.held_out) continue;
    used.push_back(&row);
    problem.observations.push_back({operator_class(row.op), row.text, row.measured_us});
  }
  problem.forecast = [&](const std::vector<double>& logs) {
    CpuFactors factors = belief();
    assign(problem.factors, logs, factors);
    std::vector<double> forecast;
    forecast.reserve(used.size());
    std::map<int, CpuTiming> timings;
    for (const CpuRow* row : used) {
      const auto timing = timings.try_emplace(row->threads, system, factors, row->threads).first;
      forecast.push_back(operator_time(timing->second, row->op).value() * 1e6);
    }
    return forecast;
  };
  FitOptions fit_options;
  fit_options.starts = options.starts;
  fit_options.seed = options.seed;
  fit_options.resamples = options.resamples;
  fit_options.progress = options.progress;
  CpuFit done;
  done.factors = belief();
  done.result = fit(problem, fit_options);
  std::vector<double> logs;
  for (const FactorEstimate& estimate : done.result.factors) logs.push_back(estimate.value);
  assign(problem.factors, logs, done.factors);
  return done;
}

std::string interval_class(const CpuRow& row) {
  const std::string name = operator_class(row.op);
  if (name == "block") return "block";
  if (name.rfind("product", 0) == 0 || name.rfind("convolution", 0) == 0) return "product";
  return "row";
}

}  // namespace foretell

#include "calib/fit/cpu_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "calib/fit/evidence.hpp"
#include "calib/fit/plan.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/config/fields.hpp"

namespace foretell {
namespace {

constexpr double kContradiction = 1.25;  // ratio of two medians of one point
constexpr double kMaxForeign = 0.1;      // share of the processors that others may have taken
constexpr double kMaxSpread = 0.3;       // of a point that is believed
constexpr double kImpossible = 3;        // times faster than the peak, clocks being assumed
constexpr int kShownProblems = 20;
constexpr std::uint64_t kParts = 4;  // of the families, each predicted by a fit to the others
// The noise is that of a median on a quiet machine, and of the model; a factor may go eight times
// from what is believed.
const Belief kBelief{0.7, std::log(8), 0.03};
constexpr int kCrossResamples = 20;  // which tell what those fits leave at its prior

std::int64_t size_of(const CpuOperator& op, const char* name) {
  const auto found = op.sizes.find(name);
  return found == op.sizes.end() ? 0 : found->second;
}

// Mixes the bits of two sizes (Steele et al., 2014). The salt is the first with a fifth to a third
// of every operator of the plan held out.
std::uint64_t mixed(std::int64_t first, std::int64_t second) {
  constexpr std::uint64_t kSalt = 18;
  auto bits = static_cast<std::uint64_t>(first) * 0x9e3779b97f4a7c15U +
              static_cast<std::uint64_t>(second) + kSalt;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

// Shapes with the same columns and depth are one family.
std::uint64_t family_of(const CpuOperator& op) {
  const auto pair = [&op](const char* first, const char* second) {
    return mixed(size_of(op, first), size_of(op, second));
  };
  if (op.sizes.count("filters") > 0) return pair("filters", "channels");
  if (op.sizes.count("rows") > 0) return pair("rows", "cols");
  if (op.sizes.count("k") > 0) return pair("n", "k");
  if (op.sizes.count("head_dim") > 0) return pair("seq", "head_dim");
  if (op.sizes.count("seq") > 0) return pair("b", "seq");
  return pair("bytes", "count");
}

// A quarter of all families.
bool is_held_out(const CpuOperator& op, std::uint64_t family) {
  if (operator_class(op) == "block") return true;
  const bool is_shape = op.sizes.count("bytes") == 0 && op.sizes.count("count") == 0;
  return is_shape && (family & 3U) == 0;
}

// The point that several rounds may have measured.
std::string point_of(Measurement measurement) {
  measurement.states.erase("round");
  return measurement_key(measurement);
}

CpuRow row_of(const Measurement& measurement) {
  CpuRow row;
  row.op.op = measurement.op;
  row.op.dtype = measurement.dtype;
  for (const auto& [name, size] : measurement.shape) {
    if (size < 1 && name != "padding") {
      throw UserError(
          fmt::format("{}: {}: a size of {} cannot be", point_of(measurement), name, size));
    }
    row.op.sizes[name] = size;
  }
  const auto state = [&measurement](const char* name) {
    const auto found = measurement.states.find(name);
    return found == measurement.states.end() ? std::string() : found->second;
  };
  row.op.cold = state("cache") == "cold";
  if (const std::string threads = state("threads"); !threads.empty()) {
    row.threads = std::max(1, static_cast<int>(to_count(threads).value_or(1)));
  } else if (const auto found = measurement.readings.find("threads");
             found != measurement.readings.end() && found->second) {
    row.threads = static_cast<int>(*found->second);
  }
  row.measured_us = measurement.latency_us;
  row.family = family_of(row.op);
  row.held_out = is_held_out(row.op, row.family);
  row.text = point_of(measurement);
  row.line = measurement.line;
  return row;
}

// The order of magnitude of every factor before anything is measured.
CpuFactors orders_of_magnitude(const std::string& architecture) {
  CpuFactors factors;
  FieldList list;
  fields(list, factors);
  load_fit_plan((data_root() / "calib" / "fit" / "cpu_plan.yaml").string(), {"", architecture, ""},
                list);
  return factors;
}

// The first of the problems, a line each.
std::string shown_text(const std::vector<std::string>& problems) {
  const auto shown = std::min(problems.size(), static_cast<std::size_t>(kShownProblems));
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? "\n" : "") + problems[i];
  if (problems.size() > shown) text += fmt::format("\nand {} more", problems.size() - shown);
  return text;
}

Hertz median_clock(const std::vector<Measurement>& measurements) {
  std::vector<double> megahertz;
  for (const Measurement& measurement : measurements) {
    const auto found = measurement.readings.find("clock_mhz");
    if (found != measurement.readings.end() && found->second) megahertz.push_back(*found->second);
  }
  if (megahertz.empty()) return Hertz(0);
  const auto middle = megahertz.begin() + static_cast<std::ptrdiff_t>(megahertz.size() / 2);
  std::nth_element(megahertz.begin(), middle, megahertz.end());
  return Hertz(std::round(*middle) * 1e6);
}

}  // namespace

CpuRowTable cpu_rows_of(const std::vector<Measurement>& measurements) {
  CpuRowTable table;
  std::map<std::string, double> seen;
  std::map<std::string, std::size_t> points;  // place of their rows
  std::map<std::size_t, double> longest_us;   // of points with several rounds
  std::set<std::string> machines;
  int loaded = 0;
  std::vector<std::string> contradictions;
  for (const Measurement& measurement : measurements) {
    machines.insert(measurement.provenance.machine);
    const std::string key = measurement_key(measurement);
    const auto [known, is_new] = seen.emplace(key, measurement.latency_us);
    if (!is_new) {
      const double ratio = measurement.latency_us / known->second;
      if (ratio > kContradiction || ratio < 1 / kContradiction) {
        contradictions.push_back(fmt::format(
            "{}{}: measured twice, as {:.4g} us and {:.4g} us; leave the wrong line out",
            measurement.line > 0 ? fmt::format("line {}: ", measurement.line) : "", key,
            known->second, measurement.latency_us));
        continue;
      }
      ++table.left_out["measured before"];
      continue;
    }
    const auto foreign = measurement.readings.find("foreign_load");
    if (foreign != measurement.readings.end() && foreign->second.value_or(0) > kMaxForeign) {
      ++loaded;
      continue;
    }
    if (measurement.spread > kMaxSpread) {
      ++table.left_out["its repeats spread over more than 30 %"];
      continue;
    }
    const auto [place, is_first] = points.emplace(point_of(measurement), table.rows.size());
    if (is_first) {
      longest_us[table.rows.size()] = measurement.latency_us;
      table.rows.push_back(row_of(measurement));
    } else {
      CpuRow& row = table.rows[place->second];
      if (measurement.latency_us < row.measured_us) {
        row.measured_us = measurement.latency_us;
        row.line = measurement.line;
      }
      const double shortest = row.measured_us;
      double& longest = longest_us[place->second];
      longest = std::max({longest, shortest, measurement.latency_us});
    }
  }
  if (!contradictions.empty()) throw UserError(shown_text(contradictions));
  for (const auto& [place, longest] : longest_us) {
    if (longest > kContradiction * table.rows[place].measured_us) ++table.disagreeing;
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
  table.clock = median_clock(measurements);
  if (loaded > 0) table.left_out["measured while others used the processors"] = loaded;
  if (table.rows.empty()) throw UserError("no measurement of operators on a CPU");
  return table;
}

void check_possible(const CpuSystemSpec& system, const std::vector<CpuRow>& rows) {
  CpuFactors ideal = ideal_cpu_factors();
  ideal.fork_join = 0;  // a library may keep a small product on one thread
  std::string problems;
  int count = 0;
  for (const CpuRow& row : rows) {
    const std::string name = operator_class(row.op);
    if (name.rfind("product", 0) != 0 && name.rfind("convolution", 0) != 0) continue;
    const double least = predicted_us(system, ideal, row);
    if (row.measured_us * kImpossible >= least || ++count > kShownProblems) continue;
    problems += fmt::format("{}{}: {:.3g} us cannot be: at its peak the machine takes {:.3g} us",
                            problems.empty() ? "" : "\n", row.text, row.measured_us, least);
  }
  if (count > kShownProblems) {
    problems += fmt::format("\nand {} points more", count - kShownProblems);
  }
  if (count > 0) {
    throw UserError(problems + "\nexpected are microseconds, of the machine that was measured");
  }
}

double predicted_us(const CpuSystemSpec& system, const CpuFactors& factors, const CpuRow& row) {
  const CpuTiming timing(system, factors, row.threads);
  return operator_time(timing, row.op).value() * 1e6;
}

// Groups of operators weigh the same, however many rows they have.
std::string fit_group(const CpuOperator& op) {
  const std::string name = operator_class(op);
  if (name == "stream" || name == "fork and join") return "machine";
  return name.rfind("convolution", 0) == 0 ? "convolution" : name;
}

CpuPrior cpu_prior(const CpuSystemSpec& system, const std::string& device,
                   const std::filesystem::path& folder) {
  const ChosenCpuFactors neighbour = neighbour_cpu_factors(system.device, device, folder);
  if (neighbour.id == "none") {
    return {orders_of_magnitude(system.device.architecture),
            "orders of magnitude; no other CPU was measured"};
  }
  return {neighbour.factors, neighbour.id};
}

CpuFit fit_cpu(const CpuSystemSpec& system, const std::vector<CpuRow>& rows,
               const CpuFitOptions& options, const CpuPrior& prior) {
  CpuFit done;
  done.factors = prior.factors;
  done.prior = prior.from;
  FieldList list;
  fields(list, done.factors);
  std::vector<const CpuRow*> used;
  std::vector<Observation> observations;
  for (const CpuRow& row : rows) {
    if (row.held_out) continue;
    used.push_back(&row);
    observations.push_back({fit_group(row.op), row.text, row.measured_us});
  }
  const FieldForecast forecast = [&] {
    std::vector<double> us;
    us.reserve(used.size());
    std::map<int, CpuTiming> timings;
    for (const CpuRow* row : used) {
      const auto timing =
          timings.try_emplace(row->threads, system, done.factors, row->threads).first;
      us.push_back(operator_time(timing->second, row->op).value() * 1e6);
    }
    return us;
  };
  const std::vector<std::string> free = positive_fields(list);
  FitOptions fit_options;
  fit_options.starts = options.starts;
  fit_options.seed = options.seed;
  fit_options.resamples = options.resamples;
  fit_options.progress = options.progress;
  done.result = fit(problem_around(list, free, observations, forecast, kBelief), fit_options);
  std::vector<double> logarithms;
  for (const FactorEstimate& estimate : done.result.factors) logarithms.push_back(estimate.value);
  assign_logarithms(list, free, logarithms);
  return done;
}

std::vector<double> cross_predicted_us(const CpuSystemSpec& system, const std::vector<CpuRow>& rows,
                                       const CpuFitOptions& options, const CpuPrior& prior) {
  CpuFitOptions once = options;
  once.starts = 1;
  once.resamples = std::min(options.resamples, kCrossResamples);
  std::vector<double> predicted(rows.size(), 0.0);
  for (std::uint64_t part = 0; part < kParts; ++part) {
    const auto is_part = [part](const CpuRow& row) { return (row.family >> 2U) % kParts == part; };
    std::vector<CpuRow> others;
    for (const CpuRow& row : rows) {
      if (!row.held_out && !is_part(row)) others.push_back(row);
    }
    if (options.progress) {
      once.progress = [&options, part](double share) {
        options.progress((static_cast<double>(part) + share) / kParts);
      };
    }
    const CpuFactors factors = fit_cpu(system, others, once, prior).factors;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].held_out && is_part(rows[i])) {
        predicted[i] = predicted_us(system, factors, rows[i]);
      }
    }
  }
  return predicted;
}

}  // namespace foretell

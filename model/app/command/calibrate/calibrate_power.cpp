#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "calib/fit/evidence.hpp"
#include "calib/fit/fit.hpp"
#include "calib/fit/plan.hpp"
#include "calib/fitted/shared/factor_file.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/part.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/tables/kinds/power_conditions.hpp"
#include "model/app/tables/kinds/power_rows.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxEnergy = 1e6;  // pJ, or watts
// Kernels below a millisecond that do nothing but read memory: they say what a byte costs.
constexpr const char* kStreaming = "streaming ";

struct PowerSample {
  PowerRow row;
  double watts = 0;
  bool is_random = false;  // the library runs on random operands
  PowerCondition condition = PowerCondition::kRandom;
};

struct PowerSamples {
  std::vector<PowerSample> fit;
  std::vector<PowerSample> judge;
  // Rows of fit and judge that are neither fitted to nor judged on.
  std::map<PowerCondition, std::vector<PowerSample>> left_out;
};

// A row of the device that is long enough and whose work is counted.
std::optional<PowerSample> read_sample(const NamedCells& cells, const CsvRow& row,
                                       const GpuDeviceSpec& device,
                                       const PowerConditions& conditions) {
  PowerSample sample;
  try {
    sample.row = read_power_row(cells, row);
    sample.watts = read_measurement("power_w", cells.text(row, "power_w")).value_or(0);
  } catch (const UserError&) {
    return std::nullopt;  // work that is not counted
  }
  constexpr double kUs = 1e6;
  const double us = sample.row.latency.value() * kUs;
  if (sample.watts <= 0 || us < conditions.shortest_stream_us()) return std::nullopt;
  const std::string library = cells.text(row, "framework");
  sample.is_random = conditions.is_random(library);
  sample.condition = conditions.of(sample.row, library, cells.text(row, "kernel"));
  if (us < kShortestPowerUs) {
    const BytesPerSecond rate = sample.row.work.dram / sample.row.latency;
    const bool is_plain = starts_with(sample.row.kernel_class, "gemm");
    if (!is_plain || rate < device.hbm.bandwidth * conditions.stream_share()) return std::nullopt;
    sample.row.kernel_class = std::string(kStreaming) + sample.row.kernel_class;
  }
  return sample;
}

// Is the row neither fitted to nor judged on? Where a device has rows of random operands, all
// others are.
bool is_left_out(const PowerSample& sample, bool has_random) {
  if (sample.condition != PowerCondition::kRandom && sample.condition != PowerCondition::kOther)
    return true;
  return has_random && !sample.is_random;
}

PowerSamples read_samples(const FitCommand& command, const GpuDeviceSpec& device) {
  CsvReader table(command.table, CsvReader::Names::kLowerCase);
  const NamedCells cells(table.header());
  const PowerConditions conditions;
  DeviceNames names(device.id);
  std::vector<PowerSample> samples;
  bool has_random = false;
  CsvRow row;
  std::string problem;
  while (table.next(row, problem)) {
    if (!problem.empty()) continue;
    if (!names.is_device(cells.text(row, "gpu"))) continue;
    if (!command.framework.empty() && cells.text(row, "framework") != command.framework) continue;
    std::optional<PowerSample> sample = read_sample(cells, row, device, conditions);
    if (!sample) continue;
    has_random = has_random || sample->is_random;
    samples.push_back(std::move(*sample));
  }
  PowerSamples parts;
  for (PowerSample& sample : samples) {
    const Part part = part_of(sample.row.family);
    if (part == Part::kVault) continue;
    if (is_left_out(sample, has_random)) {
      parts.left_out[sample.condition].push_back(std::move(sample));
    } else {
      (part == Part::kFit ? parts.fit : parts.judge).push_back(std::move(sample));
    }
  }
  if (parts.fit.empty()) {
    throw UserError(command.table + ": no row to fit " + device.id +
                    " to: kernels of 1 ms or more with power_w");
  }
  return parts;
}

std::vector<double> watts_of(const std::vector<PowerSample>& samples, const GpuDeviceSpec& device,
                             const DeviceEnergy& energy) {
  std::vector<double> watts;
  for (const PowerSample& sample : samples)
    watts.push_back(power_of_row(sample.row, device, energy).value());
  return watts;
}

std::map<std::string, std::vector<Comparison>> by_class(const std::vector<PowerSample>& samples,
                                                        const GpuDeviceSpec& device,
                                                        const DeviceEnergy& energy) {
  std::map<std::string, std::vector<Comparison>> classes;
  for (const PowerSample& sample : samples) {
    const double watts = power_of_row(sample.row, device, energy).value();
    classes[sample.row.kernel_class].push_back({sample.watts, watts, std::nullopt});
    if (starts_with(sample.row.kernel_class, kStreaming)) continue;
    classes["all"].push_back({sample.watts, watts, std::nullopt});
  }
  return classes;
}

std::string said(const std::string& name, const std::vector<Comparison>& comparisons) {
  const Accuracy accuracy = accuracy_of(comparisons);
  return fmt::format("{}: {} rows, {}", name, accuracy.n, accuracy_text(accuracy, 2));
}

std::optional<std::pair<double, double>> interval_of(const std::vector<double>& ratios) {
  constexpr std::size_t kLeast = 10;
  constexpr double kLow = 0.1;
  constexpr double kHigh = 0.9;
  if (ratios.size() < kLeast) return std::nullopt;
  return std::make_pair(quantile(ratios, kLow), quantile(ratios, kHigh));
}

// Measured / predicted, 80 % of which lie between: of random work on half of the families that
// judge, and by kind of kernel and condition on these and the families to fit, as seven constants
// leave hundreds of families little nearer than others.
void set_intervals(const PowerSamples& samples, const GpuDeviceSpec& device, DeviceEnergy& energy) {
  std::vector<double> all;
  std::map<std::string, std::vector<double>> kinds;
  const auto add = [&](const std::vector<PowerSample>& of, bool is_judged) {
    for (const PowerSample& sample : of) {
      if (starts_with(sample.row.kernel_class, kStreaming)) continue;
      if (judges_power(sample.row.family) && !makes_power_interval(sample.row.family)) continue;
      const double ratio = sample.watts / power_of_row(sample.row, device, energy).value();
      kinds[power_interval_key(sample.row.kernel_class, sample.condition)].push_back(ratio);
      if (is_judged) all.push_back(ratio);
    }
  };
  add(samples.fit, false);
  add(samples.judge, true);
  for (const auto& [condition, of] : samples.left_out) add(of, false);
  if (const auto interval = interval_of(all))
    std::tie(energy.interval_low, energy.interval_high) = *interval;
  energy.intervals.clear();
  for (const auto& [key, ratios] : kinds) {
    if (const auto interval = interval_of(ratios)) energy.intervals[key] = *interval;
  }
}

const EnergyFactor& energy_factor_of(const std::string& name) {
  const auto& all = energy_factors();
  return *std::find_if(all.begin(), all.end(),
                       [&](const EnergyFactor& factor) { return name == factor.name; });
}

// What a bound holds was not measured.
bool is_at_bound(const FactorEstimate& factor) {
  constexpr double kNear = 1e-3;
  const double width = factor.factor.high - factor.factor.low;
  return factor.value - factor.factor.low < kNear * width ||
         factor.factor.high - factor.value < kNear * width;
}

std::string energy_yaml(const std::string& device, const PowerSamples& samples,
                        const FitResult& result, const DeviceEnergy& energy,
                        const std::vector<std::string>& residuals) {
  std::set<std::string> families;
  for (const PowerSample& sample : samples.fit) families.insert(sample.row.family);
  FactorTable table;
  table.table = "power";
  table.fitted_on = fmt::format("{} rows of {} families, board watts of kernels of 1 ms or more",
                                samples.fit.size(), families.size());
  table.interval_low = energy.interval_low;
  table.interval_high = energy.interval_high;
  table.intervals = energy.intervals;
  const auto text = [](double value) { return fmt::format("{:.4g}", value); };
  for (const FactorEstimate& factor : result.factors) {
    add_factor(table, text(factor.value),
               {factor.factor.name, text(factor.low80), text(factor.high80),
                factor.identified && !is_at_bound(factor)},
               {"", energy_factor_of(factor.factor.name).unit});
  }
  table.evidence.trade_offs = trade_offs_of(result);
  table.evidence.residuals = residuals;
  return factor_file_text(
      {device,
       "families of equal weights or heads by hash: 5 of 10 fit, 3 judge, 2 stay closed",
       {},
       {table}});
}

}  // namespace

int calibrate_power(const FitCommand& command, const Session& session) {
  const GpuDeviceSpec device = device_to_fit(command);
  const std::string plan_file =
      command.plan.empty() ? (data_root() / "calib" / "fit" / "gpu_energy_plan.yaml").string()
                           : command.plan;
  const PowerSamples samples = read_samples(command, device);
  DeviceEnergy energy = load_gpu_energy(device);
  std::map<std::string, double> start;
  FieldList list;
  for (const EnergyFactor& factor : energy_factors()) {
    list.value(factor.name, start[factor.name], {0, kMaxEnergy}, "");
  }
  const FitPlan plan = load_fit_plan(plan_file, {device.id, device.architecture, ""}, list);
  FitProblem problem;
  problem.factors = plan.factors;
  problem.noise = plan.noise;
  for (const PowerSample& sample : samples.fit) {
    problem.observations.push_back({sample.row.kernel_class, sample.row.family, sample.watts});
  }
  const auto apply = [&](const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      energy_factor_of(problem.factors[i].name).set(energy.factors, values[i]);
    }
  };
  problem.forecast = [&](const std::vector<double>& values) {
    apply(values);
    return watts_of(samples.fit, device, energy);
  };
  FitResult result;
  {
    Progress progress(session, "fitting");
    FitOptions options;
    options.starts = 2;
    options.seed = static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed));
    options.progress = [&progress](double share) { progress.update(share); };
    result = fit(problem, options);
  }
  std::vector<double> values;
  for (const FactorEstimate& factor : result.factors) values.push_back(factor.value);
  apply(values);
  set_intervals(samples, device, energy);
  std::vector<std::string> residuals;
  for (const auto& [name, rows] : by_class(samples.fit, device, energy)) {
    residuals.push_back(said("fitted on, " + name, rows));
  }
  for (const auto& [name, rows] : by_class(samples.judge, device, energy)) {
    residuals.push_back(said("judged on, " + name, rows));
  }
  for (const auto& [condition, of] : samples.left_out) {
    for (const auto& [name, rows] : by_class(of, device, energy)) {
      if (name == "all")
        residuals.push_back(said(std::string("left out, ") + to_string(condition), rows));
    }
  }
  const fs::path folder =
      (command.output.empty() ? factors_folder() : fs::path(command.output)) / "energy";
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string file = (folder / (device.id + ".yaml")).string();
  const std::string text = energy_yaml(device.id, samples, result, energy, residuals);
  write_text(file, text);
  command.output_lines->say(text);
  session.say("foretell: energies of " + device.id + " written to " + file);
  return kSuccess;
}

}  // namespace foretell

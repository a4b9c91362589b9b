#include "model/app/command/calibrate/calibrate_power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "calib/fit/fit.hpp"
#include "calib/fit/plan.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/part.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/tables/power_rows.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/node_number.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxEnergy = 1e6;  // pJ, or watts
// Kernels below a millisecond that do nothing but read memory: they say what a byte costs.
constexpr const char* kStreaming = "streaming ";

struct PowerSample {
  PowerRow row;
  double watts = 0;
  bool is_steady = true;
  bool has_zeros = false;      // for weights
  bool has_unwritten = false;  // keys and values that the measuring program never wrote
};

struct PowerSamples {
  std::vector<PowerSample> fit;
  std::vector<PowerSample> judge;
  std::vector<PowerSample> unsteady;   // of fit and judge
  std::vector<PowerSample> zeros;      // the same
  std::vector<PowerSample> unwritten;  // the same
};

struct PowerRows {
  std::vector<std::string> random_operands;
  std::map<std::string, double> zero_weights;  // by kernel: of more experts than that
  double longest_steady = 0;                   // tokens of a prompt
  double shortest_stream_us = 0;
  double stream_share = 0;  // of the bandwidth of the memory
  std::vector<std::string> unsteady_libraries;
  std::vector<std::string> unwritten_libraries;
};

// Which rows count.
PowerRows load_power_rows(const std::string& path) {
  const Node root = load_document(path);
  root.only_keys(
      {"random_operands", "zero_weights", "unwritten_keys", "unsteady_prompts", "streams"}, "");
  PowerRows plan;
  for (const Node& item : root.required("random_operands", "").items) {
    plan.random_operands.push_back(item.as_text("random_operands"));
  }
  for (const Node& item : root.required("zero_weights", "").items) {
    item.only_keys({"kernel", "experts_above"}, "zero_weights");
    plan.zero_weights[item.required("kernel", "zero_weights").as_text("kernel")] =
        required_number(item, "experts_above");
  }
  for (const Node& item : root.required("unwritten_keys", "").items)
    plan.unwritten_libraries.push_back(item.as_text("unwritten_keys"));
  const Node& unsteady = root.required("unsteady_prompts", "");
  unsteady.only_keys({"above", "libraries"}, "unsteady_prompts");
  plan.longest_steady = required_number(unsteady, "above");
  for (const Node& item : unsteady.required("libraries", "unsteady_prompts").items) {
    plan.unsteady_libraries.push_back(item.as_text("libraries"));
  }
  const Node& streams = root.required("streams", "");
  streams.only_keys({"least_us", "memory_share"}, "streams");
  plan.shortest_stream_us = required_number(streams, "least_us");
  plan.stream_share = required_number(streams, "memory_share");
  return plan;
}

// Where a sample goes that is neither fitted to nor judged on; nullptr for the others.
std::vector<PowerSample>* left_out(const PowerSample& sample, PowerSamples& parts) {
  if (sample.has_zeros) return &parts.zeros;
  if (sample.has_unwritten) return &parts.unwritten;
  return sample.is_steady ? nullptr : &parts.unsteady;
}

// Rows of the device that are long enough and whose work is counted.
PowerSamples read_samples(const GemmFitCommand& command, const GpuDeviceSpec& device,
                          const PowerRows& plan) {
  CsvReader table(command.table);
  const NamedCells cells(table.header());
  const GpuCatalog catalog;
  std::map<std::string, bool> is_device;
  std::vector<std::pair<std::string, PowerSample>> samples;  // with the library
  bool has_random = false;
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CsvRow row;
  std::string problem;
  while (table.next(row, problem)) {
    if (!problem.empty()) continue;
    const std::string gpu = cells.text(row, "gpu");
    auto known = is_device.find(gpu);
    if (known == is_device.end()) {
      const bool same = catalog.has_system(gpu) && catalog.find_device(gpu) == device.id;
      known = is_device.emplace(gpu, same).first;
    }
    if (!known->second) continue;
    PowerSample sample;
    try {
      sample.row = read_power_row(cells, row);
      sample.watts = read_measurement("power_w", cells.text(row, "power_w")).value_or(0);
    } catch (const UserError&) {
      continue;  // work that is not counted
    }
    constexpr double kUs = 1e6;
    const double us = sample.row.latency.value() * kUs;
    const std::string library = cells.text(row, "framework");
    sample.has_unwritten = contains(plan.unwritten_libraries, library) &&
                           starts_with(sample.row.kernel_class, "context attention");
    if (sample.watts <= 0 || us < plan.shortest_stream_us) continue;
    if (us < kShortestPowerUs) {
      const BytesPerSecond rate = sample.row.work.dram / sample.row.latency;
      const bool is_plain = !starts_with(sample.row.kernel_class, "experts");  // whichever are hit
      if (!is_plain || rate < device.hbm.bandwidth * plan.stream_share) continue;
      sample.row.kernel_class = std::string(kStreaming) + sample.row.kernel_class;
    }
    if (!command.framework.empty() && library != command.framework) continue;
    const bool is_random = contains(plan.random_operands, library);
    const auto zeros = plan.zero_weights.find(cells.text(row, "kernel"));
    sample.has_zeros = zeros != plan.zero_weights.end() && sample.row.experts > zeros->second;
    sample.is_steady = sample.row.queries <= plan.longest_steady ||
                       sample.row.kernel_class.rfind("encoder", 0) == 0 ||
                       !contains(plan.unsteady_libraries, library);
    has_random = has_random || is_random;
    samples.emplace_back(is_random ? "random" : "other", std::move(sample));
  }
  PowerSamples parts;
  for (auto& [operands, sample] : samples) {
    if (has_random && operands != "random") continue;
    if (std::vector<PowerSample>* apart = left_out(sample, parts)) {
      if (part_of(sample.row.family) != Part::kVault) apart->push_back(std::move(sample));
      continue;
    }
    switch (part_of(sample.row.family)) {
      case Part::kFit:
        parts.fit.push_back(std::move(sample));
        break;
      case Part::kJudge:
        parts.judge.push_back(std::move(sample));
        break;
      case Part::kVault:
        break;
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
  watts.reserve(samples.size());
  for (const PowerSample& sample : samples) {
    watts.push_back(power_of_row(sample.row, device, energy).value());
  }
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
  constexpr double kPercent = 100;
  return fmt::format("{}: {} rows, MAPE {:.2f} %, median {:.2f} %, p90 {:.2f} %, bias {:+.2f} %",
                     name, accuracy.n, accuracy.mape * kPercent, accuracy.median * kPercent,
                     accuracy.p90 * kPercent, accuracy.bias * kPercent);
}

// Measured / predicted on half of the families that judge: 80 % lie between.
void set_interval(const std::vector<PowerSample>& judge, const GpuDeviceSpec& device,
                  DeviceEnergy& energy) {
  std::vector<double> ratios;
  for (const PowerSample& sample : judge) {
    if (!makes_power_interval(sample.row.family)) continue;
    if (starts_with(sample.row.kernel_class, kStreaming)) continue;
    ratios.push_back(sample.watts / power_of_row(sample.row, device, energy).value());
  }
  constexpr std::size_t kLeast = 10;
  constexpr double kLow = 0.1;
  constexpr double kHigh = 0.9;
  if (ratios.size() < kLeast) return;
  energy.interval_low = quantile(ratios, kLow);
  energy.interval_high = quantile(ratios, kHigh);
}

const char* unit_of(const std::string& factor) {
  if (factor == "busy") return "W";
  if (factor == "dram" || factor == "l2") return "pJ/B";
  return factor == "exponential" ? "pJ" : "pJ/FLOP";
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
  std::string text = fmt::format(
      "# Written by `foretell calibrate fit`; do not edit. Apparent energies at the full clock.\n"
      "device: {}\nfitted_on: \"{} rows of {} families, board watts of kernels of 1 ms or more\"\n"
      "split: \"families of equal weights or heads by hash: 5 of 10 fit, 3 judge, 2 stay closed\"\n"
      "interval80: [{:.3f}, {:.3f}]  # measured / predicted on families that judge\nfactors:\n",
      device, samples.fit.size(), families.size(), energy.interval_low, energy.interval_high);
  for (const FactorEstimate& factor : result.factors) {
    text += fmt::format(
        "  {}: {{value: {:.4g}, interval80: [{:.4g}, {:.4g}], unit: {}, identified: {}}}\n",
        factor.factor.name, factor.value, factor.low80, factor.high80, unit_of(factor.factor.name),
        factor.identified && !is_at_bound(factor) ? "yes" : "no");
  }
  if (!result.correlations.empty()) text += "trade_offs:\n";
  for (const Correlation& one : result.correlations) {
    text += fmt::format("  - \"{} and {}: {:+.2f}\"\n", one.first, one.second, one.value);
  }
  text += "residuals:\n";
  for (const std::string& line : residuals) text += "  - \"" + line + "\"\n";
  return text;
}

}  // namespace

int calibrate_power(const GemmFitCommand& command, const Session& session) {
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(catalog.find_device(command.device)).spec.device;
  const std::string plan_file =
      command.plan.empty() ? (data_root() / "calib" / "fit" / "gpu_energy_plan.yaml").string()
                           : command.plan;
  const PowerSamples samples = read_samples(
      command, device,
      load_power_rows((data_root() / "calib" / "fit" / "gpu_energy_rows.yaml").string()));
  DeviceEnergy energy = load_gpu_energy(device);
  EnergyFactors start;
  FieldList list;
  for (const auto& [name, member] : energy_factor_names()) {
    list.value(name, start.*member, {0, kMaxEnergy}, "");
  }
  const FitPlan plan = load_fit_plan(plan_file, {device.id, device.architecture, ""}, list);
  FitProblem problem;
  problem.factors = plan.factors;
  problem.noise = plan.noise;
  for (const PowerSample& sample : samples.fit) {
    problem.observations.push_back({sample.row.kernel_class, sample.row.family, sample.watts});
  }
  const auto apply = [&](const std::vector<double>& values) {
    const auto names = energy_factor_names();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto found = std::find_if(names.begin(), names.end(), [&](const auto& entry) {
        return entry.first == problem.factors[i].name;
      });
      energy.factors.*(found->second) = values[i];
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
  set_interval(samples.judge, device, energy);
  std::vector<std::string> residuals;
  for (const auto& [name, rows] : by_class(samples.fit, device, energy)) {
    residuals.push_back(said("fitted on, " + name, rows));
  }
  for (const auto& [name, rows] : by_class(samples.judge, device, energy)) {
    residuals.push_back(said("judged on, " + name, rows));
  }
  for (const auto& [name, rows] : by_class(samples.unsteady, device, energy)) {
    if (name == "all") residuals.push_back(said("left out, unsteady prompts", rows));
  }
  for (const auto& [name, rows] : by_class(samples.zeros, device, energy)) {
    if (name == "all") residuals.push_back(said("left out, weights of zeros", rows));
  }
  for (const auto& [name, rows] : by_class(samples.unwritten, device, energy)) {
    if (name == "all") residuals.push_back(said("left out, keys that were not written", rows));
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

#include "calib/command/kernel_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <foretell/version.hpp>

#include "calib/fit/kernel_fit.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/forecast/request_fields.hpp"
#include "model/terminal/output.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxMicroseconds = 1e12;
constexpr double kMicrosecond = 1e-6;
constexpr std::size_t kLeastForInterval = 10;  // rows

KernelFactorSet fitted_set(KernelFitTask& task, const GpuDeviceSpec& device,
                           const GemmFitCommand& command, const KernelFitSettings& settings,
                           double& loss) {
  const std::string plan = command.plan.empty()
                               ? (fs::path(kSourceDir) / "calib" / "fit" / settings.plan).string()
                               : command.plan;
  const std::vector<std::string> fixed =
      load_kernel_start(plan, device.architecture, task.name, *task.fields);
  const std::vector<std::size_t> drawn =
      draw_rows(task.fit.size(), settings.rows,
                static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed)));
  const KernelFit fit = fit_kernel(*task.fields, fixed, settings.evaluations, settings.starts, [&] {
    const KernelFitTask::Predict predict = task.predictor();
    double sum = 0;
    for (const std::size_t i : drawn) sum += std::abs(predict(false, i) / task.fit[i] - 1);
    return sum / static_cast<double>(drawn.size());
  });
  loss = fit.loss;
  KernelFactorSet set;
  set.table = task.name;
  set.version = task.version;
  set.factors = factor_texts(*task.fields);
  set.fitted_on = fmt::format("{} of {} rows of {} {}, MAPE {:.2f} %, {} free factors",
                              drawn.size(), task.fit.size(), task.fit_families, task.families,
                              fit.loss * 100, fit.free.size());
  return set;
}

}  // namespace

Seconds measured_time(const NamedCells& cells, const CsvRow& row) {
  return Seconds(parse_positive("latency_us", cells.text(row, "latency_us"), kMaxMicroseconds) *
                 kMicrosecond);
}

bool DeviceNames::is_device(const std::string& name) {
  const auto [known, is_new] = known_.emplace(name, false);
  if (is_new) {
    const GpuCatalog catalog;
    known->second = catalog.has_system(name) && catalog.find_device(name) == device_;
  }
  return known->second;
}

KernelFactorSet fit_kernel_task(KernelFitTask& task, const GpuDeviceSpec& device,
                                const GemmFitCommand& command, const KernelFitSettings& settings,
                                const KernelFactorSet* kept) {
  KernelFactorSet set;
  double loss = 0;
  if (kept != nullptr) {
    set = *kept;
    read_factor_set(*kept, *task.fields);
    if (task.held_out.empty()) return set;
  } else {
    set = fitted_set(task, device, command, settings, loss);
  }
  if (task.held_out.empty()) {
    set.held_out = fmt::format("nothing: all {} of this table were fitted to", task.families);
    set.interval_low = 1 - 2 * loss;
    set.interval_high = 1 + 2 * loss;
    return set;
  }
  const KernelFitTask::Predict predict = task.predictor();
  std::vector<Comparison> comparisons;
  std::vector<Comparison> half;
  for (std::size_t i = 0; i < task.held_out.size(); ++i) {
    comparisons.push_back({task.held_out[i].value(), predict(true, i).value(), std::nullopt});
    if (task.makes_interval[i]) half.push_back(comparisons.back());
  }
  const Accuracy judged = accuracy_of(comparisons);
  const Accuracy known = half.size() < kLeastForInterval ? judged : accuracy_of(half);
  set.held_out =
      fmt::format("{} rows of {} {}, MAPE {:.2f} %, median {:.2f} %, p90 {:.2f} %, bias {:+.2f} %",
                  judged.n, task.held_out_families, task.families, judged.mape * 100,
                  judged.median * 100, judged.p90 * 100, judged.bias * 100);
  set.interval_low = std::min(1.0, known.ratio10);
  set.interval_high = std::max(1.0, known.ratio90);
  return set;
}

FactorsOutput::FactorsOutput(const GemmFitCommand& command, const fs::path& folder,
                             const GpuDeviceSpec& device, const std::string& split) {
  const fs::path place =
      command.output.empty() ? folder : fs::path(command.output) / "gpu" / folder.filename();
  std::error_code error;
  fs::create_directories(place, error);
  path_ = place / (device.id + ".yaml");
  if (fs::exists(path_)) file_ = parse_kernel_factors(read_text_file(path_), path_.string());
  file_.device = device.id;
  file_.split = split;
}

const KernelFactorSet* FactorsOutput::known(const std::string& table) const {
  for (const KernelFactorSet& set : file_.sets) {
    if (set.table == table) return &set;
  }
  return nullptr;
}

void FactorsOutput::put(KernelFactorSet set) {
  write_text("-", fmt::format("{} {} {}: {}; held out: {}\n", file_.device, set.table, set.version,
                              set.fitted_on, set.held_out));
  put_factor_set(file_, std::move(set));
  write_text(path_.string(), kernel_factors_text(file_));
}

}  // namespace foretell

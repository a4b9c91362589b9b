#include "model/cli/calibrate_collective.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <foretell/version.hpp>
#include <map>

#include "calib/fit/kernel_fit.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/gpu_catalog.hpp"
#include "hw/spec/gpu_factors.hpp"
#include "hw/spec/kernel_factors_file.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/cli/kernel_rows.hpp"
#include "model/cli/output.hpp"
#include "model/cli/request_fields.hpp"
#include "model/config/document.hpp"
#include "model/predict/collective_rows.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSplit =
    "operation and number of GPUs; every operation on 4 GPUs is held out on every device";
constexpr int kEvaluations = 6000;

struct Sample {
  CollectiveRow row;
  Seconds measured;
};

struct Table {
  std::string version;
  std::vector<Sample> fit;
  std::vector<Sample> held_out;
};

std::map<std::string, Table> read_tables(const GemmFitCommand& command,
                                         const GpuDeviceSpec& device) {
  CsvReader csv(command.table);
  const NamedCells cells(csv.header());
  const GpuCatalog catalog;
  std::map<std::string, Table> tables;
  CsvRow row;
  while (csv.next(row)) {
    const CollectiveRow call = read_collective_row(cells, row);
    if (!catalog.has_system(call.gpu) || catalog.find_device(call.gpu) != device.id) continue;
    if (!command.framework.empty() && !starts_with(call.library, command.framework)) continue;
    if (call.library != "nccl" && !is_custom(call)) continue;
    Table& table = tables[collective_table(call)];
    const std::string version = cells.text(row, "version");
    if (table.version.empty() || strverscmp(table.version.c_str(), version.c_str()) < 0) {
      table = {version, {}, {}};
    }
    if (version != table.version) continue;
    const double measured = parse_positive("latency_us", cells.text(row, "latency_us"), 1e12);
    const bool held_out = is_held_out_collective(call.shape.ranks);
    (held_out ? table.held_out : table.fit).push_back({call, Seconds(measured * 1e-6)});
  }
  return tables;
}

KernelFactorSet fit_table(const GpuDeviceSpec& device, const std::string& name, const Table& table,
                          const GemmFitCommand& command) {
  const std::string plan =
      command.plan.empty()
          ? (fs::path(kSourceDir) / "calib" / "fit" / "gpu_collective_plan.yaml").string()
          : command.plan;
  LinkFactors factors;
  FieldList list;
  fields(list, factors);
  const std::vector<std::string> fixed = load_kernel_start(plan, device.architecture, name, list);
  const auto predict = [&](const Sample& sample) {
    const GpuCollectiveShape& shape = sample.row.shape;
    return is_custom(sample.row) ? custom_time(device, factors, shape).time
                                 : nccl_time(device, factors, shape).time;
  };
  const KernelFit fit = fit_kernel(list, fixed, kEvaluations, [&] {
    double sum = 0;
    for (const Sample& sample : table.fit) sum += std::abs(predict(sample) / sample.measured - 1);
    return sum / static_cast<double>(table.fit.size());
  });
  std::vector<Comparison> comparisons;
  for (const Sample& sample : table.held_out) {
    comparisons.push_back({sample.measured.value(), predict(sample).value(), std::nullopt});
  }
  const Accuracy judged = accuracy_of(comparisons);
  KernelFactorSet set;
  set.table = name;
  set.version = table.version;
  set.factors = factor_texts(list);
  set.fitted_on = fmt::format("{} rows, MAPE {:.2f} %, {} free factors", table.fit.size(),
                              fit.loss * 100, fit.free.size());
  set.held_out =
      fmt::format("{} rows, MAPE {:.2f} %, median {:.2f} %, p90 {:.2f} %, bias {:+.2f} %", judged.n,
                  judged.mape * 100, judged.median * 100, judged.p90 * 100, judged.bias * 100);
  set.interval_low = std::min(1.0, judged.ratio10);
  set.interval_high = std::max(1.0, judged.ratio90);
  return set;
}

}  // namespace

bool is_held_out_collective(std::int64_t ranks) { return ranks == 4; }

int calibrate_collective(const GemmFitCommand& command, const Session&) {
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(catalog.find_device(command.device)).spec.device;
  const fs::path folder = command.output.empty() ? collective_factors_folder()
                                                 : fs::path(command.output) / "gpu" / "collective";
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path path = folder / (device.id + ".yaml");
  const std::map<std::string, Table> tables = read_tables(command, device);
  if (tables.empty()) throw UserError("no row of the table is for " + device.id);
  KernelFactorsFile file;
  if (fs::exists(path)) file = parse_kernel_factors(read_text_file(path), path.string());
  file.device = device.id;
  file.split = kSplit;
  for (const auto& [name, table] : tables) {
    if (table.fit.empty() || table.held_out.empty()) continue;
    KernelFactorSet set = fit_table(device, name, table, command);
    write_text("-", fmt::format("{} {} {}: {}; held out: {}\n", device.id, name, set.version,
                                set.fitted_on, set.held_out));
    put_factor_set(file, std::move(set));
    write_text(path.string(), kernel_factors_text(file));
  }
  return kSuccess;
}

}  // namespace foretell

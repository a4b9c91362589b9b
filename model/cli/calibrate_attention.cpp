#include "model/cli/calibrate_attention.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <foretell/version.hpp>
#include <map>
#include <set>
#include <tuple>

#include "calib/fit/kernel_fit.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/attention_factors_library.hpp"
#include "hw/spec/gpu_catalog.hpp"
#include "hw/spec/kernel_factors_file.hpp"
#include "model/base/errors.hpp"
#include "model/cli/kernel_rows.hpp"
#include "model/cli/output.hpp"
#include "model/cli/request_fields.hpp"
#include "model/config/document.hpp"
#include "model/predict/attention_rows.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSplit =
    "configurations of heads, kv_heads and head_dim; 3 of 11 residues of heads + 3 kv_heads + "
    "7 head_dim / 64 are held out on every device";
constexpr std::size_t kFitRows = 1500;
constexpr int kEvaluations = 700;
constexpr std::int64_t kMaxSeed = std::int64_t{1} << 53;

struct Sample {
  AttentionShape shape;
  Seconds measured;
};

using Configuration = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

struct Table {
  std::string version;
  AttentionType type;
  std::vector<Sample> fit;
  std::vector<Sample> held_out;
  std::set<Configuration> fit_families;
  std::set<Configuration> held_out_families;
};

std::map<std::string, Table> read_tables(const GemmFitCommand& command,
                                         const GpuDeviceSpec& device) {
  CsvReader csv(command.table);
  const NamedCells cells(csv.header());
  const GpuCatalog catalog;
  std::map<std::string, bool> is_device;  // by the name in the table
  std::map<std::string, Table> tables;
  CsvRow row;
  while (csv.next(row)) {
    const std::string gpu = cells.text(row, "gpu");
    if (const auto [known, is_new] = is_device.emplace(gpu, false); is_new) {
      known->second = catalog.has_system(gpu) && catalog.find_device(gpu) == device.id;
    }
    if (!is_device[gpu]) continue;
    const AttentionRow call = read_attention_row(cells, row);
    if (!command.framework.empty() && call.framework != command.framework) continue;
    if (!command.dtype.empty() && call.dtype != command.dtype) continue;
    Table& table = tables[attention_table(call, device.architecture)];
    table.version = cells.text(row, "version");
    table.type = attention_type(call.dtype, call.cache_dtype);
    const AttentionShape& shape = call.shape;
    const bool held_out = is_held_out_heads(shape.heads, shape.key_heads, shape.head_dim);
    (held_out ? table.held_out_families : table.fit_families)
        .insert({shape.heads, shape.key_heads, shape.head_dim});
    const double measured = parse_positive("latency_us", cells.text(row, "latency_us"), 1e12);
    (held_out ? table.held_out : table.fit).push_back({shape, Seconds(measured * 1e-6)});
  }
  return tables;
}

KernelFactorSet fit_table(const GpuDeviceSpec& device, const std::string& name, const Table& table,
                          const GemmFitCommand& command) {
  const std::string plan =
      command.plan.empty()
          ? (fs::path(kSourceDir) / "calib" / "fit" / "gpu_attention_plan.yaml").string()
          : command.plan;
  const AttentionLibrary library = library_of_table(device.architecture, name);
  AttentionFactors factors;
  FieldList list;
  fields(list, factors);
  const std::vector<std::string> fixed = load_kernel_start(plan, device.architecture, name, list);
  const auto predict = [&](const Sample& sample) {
    return program_time(attention_program(device, library, table.type, factors, sample.shape),
                        device);
  };
  const std::vector<std::size_t> drawn =
      draw_rows(table.fit.size(), kFitRows,
                static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed)));
  const KernelFit fit = fit_kernel(list, fixed, kEvaluations, [&] {
    double sum = 0;
    for (const std::size_t i : drawn) {
      sum += std::abs(predict(table.fit[i]) / table.fit[i].measured - 1);
    }
    return sum / static_cast<double>(drawn.size());
  });
  KernelFactorSet set;
  set.table = name;
  set.version = table.version;
  set.factors = factor_texts(list);
  set.fitted_on = fmt::format("{} of {} rows of {} configurations, MAPE {:.2f} %, {} free factors",
                              drawn.size(), table.fit.size(), table.fit_families.size(),
                              fit.loss * 100, fit.free.size());
  std::vector<Comparison> comparisons;
  for (const Sample& sample : table.held_out) {
    comparisons.push_back({sample.measured.value(), predict(sample).value(), std::nullopt});
  }
  if (comparisons.empty()) {
    set.held_out = "nothing: every configuration of this table was fitted to";
    set.interval_low = 1 - 2 * fit.loss;
    set.interval_high = 1 + 2 * fit.loss;
    return set;
  }
  const Accuracy judged = accuracy_of(comparisons);
  set.held_out = fmt::format(
      "{} rows of {} configurations, MAPE {:.2f} %, median {:.2f} %, p90 {:.2f} %, bias {:+.2f} %",
      judged.n, table.held_out_families.size(), judged.mape * 100, judged.median * 100,
      judged.p90 * 100, judged.bias * 100);
  set.interval_low = std::min(1.0, judged.ratio10);
  set.interval_high = std::max(1.0, judged.ratio90);
  return set;
}

}  // namespace

int calibrate_attention(const GemmFitCommand& command, const Session&) {
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(catalog.find_device(command.device)).spec.device;
  const fs::path folder = command.output.empty() ? attention_factors_folder()
                                                 : fs::path(command.output) / "gpu" / "attention";
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
    if (table.fit.empty()) continue;
    KernelFactorSet set = fit_table(device, name, table, command);
    write_text("-", fmt::format("{} {} {}: {}; held out: {}\n", device.id, name, set.version,
                                set.fitted_on, set.held_out));
    put_factor_set(file, std::move(set));
    write_text(path.string(), kernel_factors_text(file));
  }
  return kSuccess;
}

}  // namespace foretell

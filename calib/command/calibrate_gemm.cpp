#include "calib/command/calibrate_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <foretell/version.hpp>
#include <map>
#include <set>
#include <tuple>

#include "calib/command/fit_output.hpp"
#include "calib/fit/gemm_fit.hpp"
#include "calib/fit/kernel_fit.hpp"
#include "calib/fit/measured_gemm_fit.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/gemm_factors_file.hpp"
#include "hw/spec/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/forecast/request_fields.hpp"
#include "model/tables/kernel_rows.hpp"
#include "model/terminal/output.hpp"
#include "model/terminal/progress.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTableName = "gpu_gemm.csv.gz";
constexpr const char* kSplit =
    "families of equal (n, k); a quarter of them, by hash, is held out on every device";
constexpr std::int64_t kMaxSeed = std::int64_t{1} << 53;

using TableKey = std::tuple<std::string, std::string, std::string>;  // framework, dtype, version

struct Rows {
  std::vector<GemmSample> fit;
  std::vector<GemmSample> held_out;
  std::set<std::pair<std::int64_t, std::int64_t>> fit_families;
  std::set<std::pair<std::int64_t, std::int64_t>> held_out_families;
};

std::string table_path(const std::string& given) {
  if (!given.empty()) return given;
  const char* folder = std::getenv("FORETELL_DATA");
  if (folder == nullptr || *folder == '\0') {
    throw UserError(
        fmt::format("no measurements: give --table FILE, or let FORETELL_DATA name the "
                    "folder that holds {}",
                    kTableName));
  }
  return (fs::path(folder) / kTableName).string();
}

std::map<TableKey, Rows> read_tables(const GemmFitCommand& command, const GpuDeviceSpec& device) {
  CsvReader table(table_path(command.table));
  const NamedCells cells(table.header());
  const auto wanted = [](const std::string& filter, const std::string& value) {
    return filter.empty() || filter == value;
  };
  const GpuCatalog catalog;
  std::map<std::string, bool> is_device;  // by the name in the table
  std::map<TableKey, Rows> tables;
  CsvRow row;
  while (table.next(row)) {
    const std::string gpu = cells.text(row, "gpu");
    if (const auto [known, is_new] = is_device.emplace(gpu, false); is_new) {
      known->second = catalog.has_system(gpu) && catalog.find_device(gpu) == device.id;
    }
    if (!is_device[gpu]) continue;
    const TableKey key(cells.text(row, "framework"), cells.text(row, "dtype"),
                       cells.text(row, "version"));
    if (!wanted(command.framework, std::get<0>(key)) || !wanted(command.dtype, std::get<1>(key))) {
      continue;
    }
    GemmSample sample;
    sample.shape = {cells.count(row, "m", 1, kMaxGemmSide), cells.count(row, "n", 1, kMaxGemmSide),
                    cells.count(row, "k", 1, kMaxGemmSide)};
    const GemmType& type = gemm_type(std::get<1>(key));
    const double weights = static_cast<double>(sample.shape.n) *
                           static_cast<double>(sample.shape.k) * type.weight_bytes;
    sample.l2 = collector_l2_state(std::get<0>(key), std::get<2>(key), type.name,
                                   device.l2.capacity.value(), weights);
    sample.measured =
        Seconds(parse_positive("latency_us", cells.text(row, "latency_us"), 1e12) * 1e-6);
    Rows& rows = tables[key];
    const bool held_out = is_held_out_family(sample.shape.n, sample.shape.k);
    (held_out ? rows.held_out_families : rows.fit_families)
        .insert({sample.shape.n, sample.shape.k});
    (held_out ? rows.held_out : rows.fit).push_back(sample);
  }
  return tables;
}

Accuracy judge(const GpuDeviceSpec& device, const GemmType& type, const GemmLibrary& library,
               const GemmFactors& factors, const std::vector<GemmSample>& samples) {
  const GemmTiming timing(device, type, library, factors);
  std::vector<Comparison> comparisons;
  for (const GemmSample& sample : samples) {
    comparisons.push_back({sample.measured.value(),
                           timing.fastest(sample.shape, sample.l2).total.value(), std::nullopt});
  }
  return accuracy_of(comparisons);
}

// What is said of a set from the families held out; the interval is made from half of them.
void judge_set(const GpuDeviceSpec& device, const Rows& rows, GemmFactorSet& set) {
  const GemmType& type = gemm_type(set.dtype);
  const GemmLibrary library = gemm_library(device.architecture, set.framework, set.dtype);
  const Accuracy judged = judge(device, type, library, set.factors, rows.held_out);
  set.held_out = fmt::format(
      "{} rows of {} families, MAPE {:.2f} %, median {:.2f} %, p90 {:.2f} %, bias {:+.2f} %",
      judged.n, rows.held_out_families.size(), judged.mape * 100, judged.median * 100,
      judged.p90 * 100, judged.bias * 100);
  std::vector<GemmSample> half;
  for (const GemmSample& sample : rows.held_out) {
    if (makes_interval(sample.shape.n, sample.shape.k)) half.push_back(sample);
  }
  const Accuracy known = half.empty() ? judged : judge(device, type, library, set.factors, half);
  set.interval_low = std::min(1.0, known.ratio10);
  set.interval_high = std::max(1.0, known.ratio90);
}

GemmFactorSet fit_table(const GpuDeviceSpec& device, const TableKey& key, const Rows& rows,
                        const GemmFitCommand& command, const Session& session) {
  const auto& [framework, dtype, version] = key;
  const GemmType& type = gemm_type(dtype);
  const GemmLibrary library = gemm_library(device.architecture, framework, dtype);
  const std::string plan =
      command.plan.empty()
          ? (fs::path(kSourceDir) / "calib" / "fit" / "gpu_gemm_plan.yaml").string()
          : command.plan;
  const GemmStart start = load_gemm_start(plan, device.architecture, framework, dtype);
  GemmFitOptions options;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed));
  Progress progress(session, "fitting " + framework + " " + dtype);
  options.progress = [&progress](double share) { progress.update(share); };
  const GemmFitResult result = fit_gemm(device, type, library, start, rows.fit, options);
  GemmFactorSet set;
  set.framework = framework;
  set.version = version;
  set.dtype = dtype;
  set.factors = result.factors;
  set.fitted_on =
      fmt::format("{} of {} rows of {} families, MAPE {:.2f} %, {} free factors", result.rows,
                  rows.fit.size(), rows.fit_families.size(), result.loss * 100, result.free.size());
  MeasuredGemmOptions evidence;
  evidence.seed = options.seed;
  set.evidence =
      evidence_around(device, type, library, result.factors, result.free, rows.fit, evidence);
  judge_set(device, rows, set);
  command.output_lines->say(fmt::format("{} {} {} {}: {}; held out: {}\n", device.id, framework,
                                        version, dtype, set.fitted_on, set.held_out));
  add_gemm_set(device.id, set, *command.output_lines);
  return set;
}

}  // namespace

int calibrate_gemm(const GemmFitCommand& command, const Session& session) {
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(catalog.find_device(command.device)).spec.device;
  const fs::path folder =
      (command.output.empty() ? default_catalog_paths().factors : fs::path(command.output)) /
      "gpu" / "gemm";
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path path = folder / (device.id + ".yaml");
  const std::map<TableKey, Rows> tables = read_tables(command, device);
  if (tables.empty()) throw UserError("no row of the table is for " + device.id);
  GemmFactorsFile file;
  const bool some = !command.framework.empty() || !command.dtype.empty();
  if ((some || command.keep_factors) && fs::exists(path))
    file = parse_gemm_factors(read_text_file(path), path.string());
  file.device = device.id;
  file.split = kSplit;
  for (const auto& [table, rows] : tables) {
    const TableKey& key = table;
    if (rows.fit.empty() || rows.held_out.empty()) {
      throw UserError("a table needs rows of families on both sides of the split");
    }
    if (command.keep_factors) {
      const auto known = std::find_if(file.sets.begin(), file.sets.end(), [&](const auto& set) {
        return TableKey(set.framework, set.dtype, set.version) == key;
      });
      if (known == file.sets.end()) continue;
      judge_set(device, rows, *known);
      command.output_lines->say(
          fmt::format("{} {} {} {}: 80 % interval {:.3f} to {:.3f}; held out: {}\n", device.id,
                      known->framework, known->version, known->dtype, known->interval_low,
                      known->interval_high, known->held_out));
      add_gemm_set(device.id, *known, *command.output_lines);
    } else {
      put_gemm_factors(file, fit_table(device, key, rows, command, session));
    }
    write_text(path.string(), gemm_factors_text(file));
  }
  return kSuccess;
}

}  // namespace foretell

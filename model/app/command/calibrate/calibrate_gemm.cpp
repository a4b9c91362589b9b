#include "model/app/command/calibrate/calibrate_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "calib/fit/gemm_fit.hpp"
#include "calib/fit/kernel_fit.hpp"
#include "calib/fit/measured_gemm_fit.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/gemm_factors_file.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/command/calibrate/gemm_residuals.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/command/calibrate/parallel_fit.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/tables/kernel_rows.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/seed.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTableName = "gpu_gemm.csv.gz";
constexpr const char* kSplit =
    "families of equal (n, k); a quarter of them, by hash, is held out on every device";

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
  const auto wanted = [](const std::string& filter, const std::string& value) {
    return filter.empty() || filter == value;
  };
  DeviceNames names(device.id);
  std::map<TableKey, Rows> tables;
  take_rows(table_path(command.table), [&](const NamedCells& cells, const CsvRow& row) {
    if (!names.is_device(cells.text(row, "gpu"))) return false;
    const TableKey key(cells.text(row, "framework"), cells.text(row, "dtype"),
                       cells.text(row, "version"));
    if (!wanted(command.framework, std::get<0>(key)) || !wanted(command.dtype, std::get<1>(key))) {
      return false;
    }
    GemmSample sample;
    sample.shape = {cells.count(row, "m", 1, kMaxGemmSide), cells.count(row, "n", 1, kMaxGemmSide),
                    cells.count(row, "k", 1, kMaxGemmSide)};
    const GemmType& type = gemm_type(std::get<1>(key));
    const double weights = static_cast<double>(sample.shape.n) *
                           static_cast<double>(sample.shape.k) * type.weight_bytes;
    sample.l2 = collector_l2_state(std::get<0>(key), std::get<2>(key), type.name,
                                   device.l2.capacity.value(), weights);
    sample.measured = measured_time(cells, row);
    Rows& rows = tables[key];
    const bool held_out = is_held_out_family(sample.shape.n, sample.shape.k);
    (held_out ? rows.held_out_families : rows.fit_families)
        .insert({sample.shape.n, sample.shape.k});
    (held_out ? rows.held_out : rows.fit).push_back(sample);
    return true;
  });
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
  set.evidence.interval_from = fmt::format("{} rows of families held out", known.n);
  set.evidence.residuals =
      gemm_residuals(GemmTiming(device, type, library, set.factors), rows.fit, rows.held_out);
}

GemmStart start_of(const GpuDeviceSpec& device, const TableKey& key,
                   const GemmFitCommand& command) {
  const std::string plan = command.plan.empty()
                               ? (data_root() / "calib" / "fit" / "gpu_gemm_plan.yaml").string()
                               : command.plan;
  return load_gemm_start(plan, device.architecture, std::get<0>(key), std::get<1>(key));
}

// Intervals of the factors and what trades off against what, around a set that is known.
FitEvidence evidence_of(const GpuDeviceSpec& device, const TableKey& key, const GemmFactorSet& set,
                        const Rows& rows, const GemmFitCommand& command) {
  const std::vector<std::string> fixed = start_of(device, key, command).fixed;
  GemmFactors factors = set.factors;
  FieldList list;
  fields(list, factors);
  std::vector<std::string> free;
  for (const Field& field : list.all()) {
    const bool is_fixed = std::find(fixed.begin(), fixed.end(), field.path) != fixed.end();
    if (field.number() > 0 && !is_fixed) free.push_back(field.path);
  }
  MeasuredGemmOptions options;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed));
  return evidence_around(device, gemm_type(set.dtype),
                         gemm_library(device.architecture, set.framework, set.dtype), set.factors,
                         free, rows.fit, options);
}

GemmFactorSet fit_table(const GpuDeviceSpec& device, const TableKey& key, const Rows& rows,
                        const GemmFitCommand& command) {
  const auto& [framework, dtype, version] = key;
  const GemmType& type = gemm_type(dtype);
  const GemmLibrary library = gemm_library(device.architecture, framework, dtype);
  GemmFitOptions options;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed));
  const GemmFitResult result =
      fit_gemm(device, type, library, start_of(device, key, command), rows.fit, options);
  GemmFactorSet set;
  set.framework = framework;
  set.version = version;
  set.dtype = dtype;
  set.factors = result.factors;
  set.fitted_on =
      fmt::format("{} of {} rows of {} families, MAPE {:.2f} %, {} free factors", result.rows,
                  rows.fit.size(), rows.fit_families.size(), result.loss * 100, result.free.size());
  set.evidence = evidence_of(device, key, set, rows, command);
  judge_set(device, rows, set);
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
  std::vector<TableKey> keys;
  for (const auto& entry : tables) keys.push_back(entry.first);
  const auto fitted = fit_all(keys.size(), command.jobs, session, [&](std::size_t i) {
    GemmFactorsFile one;
    one.device = file.device;
    one.split = file.split;
    const Rows& rows = tables.at(keys[i]);
    if (rows.fit.empty() || rows.held_out.empty()) {
      throw UserError("a table needs rows of families on both sides of the split");
    }
    if (!command.keep_factors) {
      one.sets = {fit_table(device, keys[i], rows, command)};
    } else {
      const auto known = std::find_if(file.sets.begin(), file.sets.end(), [&](const auto& set) {
        return TableKey(set.framework, set.dtype, set.version) == keys[i];
      });
      if (known == file.sets.end()) return std::string();
      one.sets = {*known};
      one.sets.front().evidence = evidence_of(device, keys[i], *known, rows, command);
      judge_set(device, rows, one.sets.front());
    }
    return gemm_factors_text(one);
  });
  for (const std::string& text : fitted) {
    if (text.empty()) continue;
    GemmFactorSet set = parse_gemm_factors(text, path.string()).sets.front();
    command.output_lines->say(fmt::format(
        "{} {} {} {}: {}; held out: {}; 80 % interval {:.3f} to {:.3f}\n", device.id, set.framework,
        set.version, set.dtype, set.fitted_on, set.held_out, set.interval_low, set.interval_high));
    add_gemm_set(device.id, set, *command.output_lines);
    put_gemm_factors(file, std::move(set));
  }
  write_text(path.string(), gemm_factors_text(file));
  return kSuccess;
}

}  // namespace foretell

#include "model/app/command/calibrate/calibrate_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "calib/fit/gemm_fit.hpp"
#include "calib/fit/kernel_fit.hpp"
#include "calib/fit/measured_gemm_fit.hpp"
#include "calib/fit/shared_fit.hpp"
#include "calib/fitted/gpu/gemm_factors_library.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/command/calibrate/gemm_residuals.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/command/calibrate/parallel_fit.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/tables/kernel_rows.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"
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
  const fs::path folder = measured_data_folder();
  if (folder.empty()) {
    throw UserError(
        fmt::format("no measurements: give --table FILE, or let FORETELL_DATA name the "
                    "folder that holds {}",
                    kTableName));
  }
  return (folder / kTableName).string();
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
    if (gemm_part(cells.count(row, "n", 1, kMaxGemmSide), cells.count(row, "k", 1, kMaxGemmSide)) ==
        Part::kVault) {
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
  const GemmType& type = gemm_type(set.dtype());
  const GemmLibrary library = gemm_library(device.architecture, set.framework(), set.dtype());
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

std::string plan_path(const GemmFitCommand& command) {
  return command.plan.empty() ? (data_root() / "calib" / "fit" / "gpu_gemm_plan.yaml").string()
                              : command.plan;
}

std::string table_name(const TableKey& key) { return std::get<0>(key) + ' ' + std::get<1>(key); }

GemmStart start_of(const GpuDeviceSpec& device, const TableKey& key,
                   const GemmFitCommand& command) {
  return load_gemm_start(plan_path(command), device.architecture, table_name(key));
}

GemmFactorsLibrary known_factors(const fs::path& folder) {
  GemmFactorsLibrary known(folder);
  if (folder != gemm_factors_folder()) known.add_missing(GemmFactorsLibrary(gemm_factors_folder()));
  return known;
}

std::optional<SharingRule> sharing_rule(const std::string& device, const std::string& table,
                                        const GemmFitCommand& command,
                                        const GemmFactorsLibrary& known) {
  return load_sharing_rule(plan_path(command), device, table,
                           [&](const std::string& other, const std::string& other_table) {
                             return known.find_table(other, other_table).has_value();
                           });
}

// Intervals of the factors and what trades off against what, around a set that is known.
FitEvidence evidence_of(const GpuDeviceSpec& device, const TableKey& key, const GemmFactorSet& set,
                        const Rows& rows, const GemmFitCommand& command) {
  const std::vector<std::string> fixed = start_of(device, key, command).fixed;
  GemmFactors factors = set.factors;
  FieldList list;
  fields(list, factors);
  std::vector<std::string> free;
  for (const auto& text : set.stated.own) {
    if (set.stated.like) free.push_back(text.first);
  }
  for (const Field& field : list.all()) {
    const bool is_fixed = std::find(fixed.begin(), fixed.end(), field.path) != fixed.end();
    if (!set.stated.like && field.number() > 0 && !is_fixed) free.push_back(field.path);
  }
  if (free.empty()) return {};
  MeasuredGemmOptions options;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed));
  return evidence_around(device, gemm_type(set.dtype()),
                         gemm_library(device.architecture, set.framework(), set.dtype()),
                         set.factors, free, rows.fit, options);
}

// The factors of another table but for a few values of its own.
GemmFactorSet share_table(const GpuDeviceSpec& device, const TableKey& key, const Rows& rows,
                          const GemmFitCommand& command, const SharingRule& rule,
                          const GemmFactorsLibrary& known, const GemmFitOptions& options) {
  const auto& [framework, dtype, version] = key;
  GemmFactorSet set;
  FactorTexts hints;
  if (const auto earlier = known.find_table(device.id, table_name(key))) {
    set.factors = earlier->factors;
    FieldList list;
    fields(list, set.factors);
    hints = factor_texts(list);
  }
  const SharedGemmFit fit = fit_shared_gemm(
      device, gemm_type(dtype), gemm_library(device.architecture, framework, dtype),
      start_of(device, key, command), known.find_table(rule.like.device, rule.like.table)->factors,
      hints, rule.own, rows.fit, options);
  set.factors = fit.result.factors;
  set.stated.like = rule.like;
  set.stated.like->without = fit.without;
  FieldList list;
  fields(list, set.factors);
  for (const auto& text : factor_texts(list)) {
    const auto& own = fit.result.free;
    if (std::count(own.begin(), own.end(), text.first) > 0) set.stated.own.push_back(text);
  }
  set.fitted_on = fmt::format(
      "{} of {} rows of {} families, MAPE {:.2f} %, {} values of its own, {:.2f} % without them",
      fit.result.rows, rows.fit.size(), rows.fit_families.size(), fit.result.loss * 100,
      fit.result.free.size(), fit.shared_loss * 100);
  return set;
}

GemmFactorSet fit_table(const GpuDeviceSpec& device, const TableKey& key, const Rows& rows,
                        const GemmFitCommand& command, const GemmFactorsLibrary& known) {
  const auto& [framework, dtype, version] = key;
  GemmFitOptions options;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed));
  GemmFactorSet set;
  if (const auto rule = sharing_rule(device.id, table_name(key), command, known)) {
    set = share_table(device, key, rows, command, *rule, known, options);
  } else {
    const GemmFitResult result =
        fit_gemm(device, gemm_type(dtype), gemm_library(device.architecture, framework, dtype),
                 start_of(device, key, command), rows.fit, options);
    set.factors = result.factors;
    set.fitted_on = fmt::format("{} of {} rows of {} families, MAPE {:.2f} %, {} free factors",
                                result.rows, rows.fit.size(), rows.fit_families.size(),
                                result.loss * 100, result.free.size());
  }
  set.table = table_name(key);
  set.version = version;
  set.evidence = evidence_of(device, key, set, rows, command);
  judge_set(device, rows, set);
  return set;
}

// Tables in the order in which they can be fitted.
std::vector<std::vector<TableKey>> in_order(const std::map<TableKey, Rows>& tables,
                                            const std::string& device,
                                            const GemmFitCommand& command,
                                            const GemmFactorsLibrary& known) {
  std::vector<std::string> names;
  for (const auto& entry : tables) {
    const std::string name = table_name(entry.first);
    if (std::count(names.begin(), names.end(), name) == 0) names.push_back(name);
  }
  const auto parent = [&](const std::string& table) -> std::string {
    const auto rule = sharing_rule(device, table, command, known);
    return rule && rule->like.device == device ? rule->like.table : "";
  };
  std::vector<std::vector<TableKey>> groups;
  for (const std::vector<std::string>& group : sharing_order(names, parent)) {
    groups.emplace_back();
    for (const auto& entry : tables) {
      if (std::count(group.begin(), group.end(), table_name(entry.first)) > 0) {
        groups.back().push_back(entry.first);
      }
    }
  }
  return groups;
}

// The set of a table as a factor file; "" for one that is to be judged again and is not known.
std::string calibrated_text(const GpuDeviceSpec& device, const TableKey& key, const Rows& rows,
                            const GemmFitCommand& command, const KernelFactorsFile& file,
                            const GemmFactorsLibrary& known) {
  KernelFactorsFile one;
  one.device = file.device;
  one.split = file.split;
  if (rows.fit.empty() || rows.held_out.empty()) {
    throw UserError("a table needs rows of families on both sides of the split");
  }
  if (command.only_sharing && !sharing_rule(device.id, table_name(key), command, known)) return "";
  if (!command.keep_factors) {
    one.sets = {texts_of(fit_table(device, key, rows, command, known))};
    return kernel_factors_text(one);
  }
  const auto kept = std::find_if(file.sets.begin(), file.sets.end(), [&](const auto& set) {
    return set.table == table_name(key) && set.version == std::get<2>(key);
  });
  if (kept == file.sets.end()) return "";
  GemmFactorSet set{*kept, known.find_table(device.id, table_name(key))->factors};
  set.evidence = evidence_of(device, key, set, rows, command);
  judge_set(device, rows, set);
  one.sets = {texts_of(set)};
  return kernel_factors_text(one);
}

void take(const std::string& text, const GemmFitCommand& command, KernelFactorsFile& file) {
  if (text.empty()) return;
  KernelFactorSet set = parse_kernel_factors(text, file.device).sets.front();
  command.output_lines->say(
      fmt::format("{} {} {} {}: {}; held out: {}; 80 % interval {:.3f} to {:.3f}\n", file.device,
                  framework_of(set.table), set.version, dtype_of(set.table), set.fitted_on,
                  set.held_out, set.interval_low, set.interval_high));
  add_gemm_set(file.device, set, *command.output_lines);
  put_factor_set(file, std::move(set));
}

}  // namespace

int calibrate_gemm(const GemmFitCommand& command, const Session& session) {
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(catalog.find_device(command.device)).spec.device;
  const fs::path folder =
      (command.output.empty() ? factors_folder() : fs::path(command.output)) / "gpu" / "gemm";
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path path = folder / (device.id + ".yaml");
  const std::map<TableKey, Rows> tables = read_tables(command, device);
  if (tables.empty()) throw UserError("no row of the table is for " + device.id);
  KernelFactorsFile file;
  const bool some = !command.framework.empty() || !command.dtype.empty() || command.only_sharing;
  if ((some || command.keep_factors) && fs::exists(path))
    file = parse_kernel_factors(read_text_file(path), path.string());
  file.device = device.id;
  file.split = kSplit;
  for (const auto& keys : in_order(tables, device.id, command, known_factors(folder))) {
    const GemmFactorsLibrary known = known_factors(folder);
    const auto fitted = fit_all(keys.size(), command.jobs, session, [&](std::size_t i) {
      return calibrated_text(device, keys[i], tables.at(keys[i]), command, file, known);
    });
    for (const std::string& text : fitted) take(text, command, file);
    write_text(path.string(), kernel_factors_text(file));
  }
  return kSuccess;
}

}  // namespace foretell

#include "model/app/command/calibrate/calibrate_measured.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <foretell/version.hpp>
#include <map>
#include <set>

#include "calib/fit/kernel_fit.hpp"
#include "calib/fit/measured_gemm_fit.hpp"
#include "calib/fitted/gpu/gemm_factors_library.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/import/check_measurements.hpp"
#include "calib/import/read_measurements.hpp"
#include "calib/import/record_tables.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/command/calibrate/calibrate_attention.hpp"
#include "model/app/command/calibrate/calibrate_collective.hpp"
#include "model/app/command/calibrate/calibrate_operator.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/command/calibrate/gemm_residuals.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/tables/kernel_rows.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/base/errors.hpp"
#include "model/base/seed.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSplit =
    "families of equal (n, k); a quarter of them, by hash, is held out on every device";
constexpr std::int64_t kMaxCopies = 1'000'000;

struct Samples {
  std::string version;
  std::set<std::string> provenance;
  std::vector<GemmSample> fit;
  std::vector<GemmSample> held_out;
};
using TableKey = std::pair<std::string, std::string>;  // framework, type

std::vector<MeasuredTable> checked_tables(const std::string& path) {
  std::vector<std::string> problems;
  std::vector<MeasuredTable> tables = read_measurements(path, {}, problems);
  for (const MeasuredTable& table : tables) {
    // Parts of records may be small; the fit itself says when there are too few.
    for (std::string& problem : measurement_problems(table, path, {ImportRules{}.tolerance, 1})) {
      problems.push_back(std::move(problem));
    }
  }
  refuse_problems(problems, "nothing was fitted");
  return tables;
}

// What a product found in L2: as the row says, else as its library is measured.
GemmL2State l2_state(const NamedCells& cells, const CsvRow& row, const GpuDeviceSpec& device,
                     const GemmSample& sample, const GemmType& type) {
  if (cells.text(row, "weights") == "warm") return {1, false};
  if (!cells.text(row, "copies").empty()) {
    return {static_cast<int>(cells.count(row, "copies", 1, kMaxCopies)), false};
  }
  const double weights =
      static_cast<double>(sample.shape.n) * static_cast<double>(sample.shape.k) * type.weight_bytes;
  return collector_l2_state(cells.text(row, "framework"), cells.text(row, "version"), type.name,
                            device.l2.capacity.value(), weights);
}

void collect(const MeasuredTable& table, const GpuDeviceSpec& device, const GemmFitCommand& command,
             std::map<TableKey, Samples>& all) {
  const GpuCatalog catalog;
  const NamedCells cells(table.header);
  const auto wanted = [](const std::string& filter, const std::string& value) {
    return filter.empty() || filter == value;
  };
  for (const CsvRow& row : table.rows) {
    const std::string gpu = cells.text(row, "gpu");
    if (!catalog.has_system(gpu) || catalog.find_device(gpu) != device.id) continue;
    // Launches by the host and clocks under the power limit are other terms of the model.
    if (cells.text(row, "launch") == "stream" || cells.text(row, "load") == "sustained") continue;
    const std::string framework = cells.text(row, "framework");
    const std::string dtype = cells.text(row, "dtype");
    if (!wanted(command.framework, framework) || !wanted(command.dtype, dtype)) continue;
    GemmSample sample;
    sample.shape = {cells.count(row, "m", 1, kMaxGemmSide), cells.count(row, "n", 1, kMaxGemmSide),
                    cells.count(row, "k", 1, kMaxGemmSide)};
    sample.l2 = l2_state(cells, row, device, sample, gemm_type(dtype));
    sample.measured = measured_time(cells, row);
    Samples& samples = all[{framework.empty() ? "measured" : framework, dtype}];
    samples.version = cells.text(row, "version");
    samples.provenance.insert(fmt::format("{}, by {}, {}", cells.text(row, kMeasuredOn),
                                          cells.text(row, kMeasuredBy),
                                          cells.text(row, kMeasuredDate)));
    const bool held_out = is_held_out_family(sample.shape.n, sample.shape.k);
    (held_out ? samples.held_out : samples.fit).push_back(sample);
  }
}

// The factors to start from: of the same chip with another library, or of the nearest chip.
ChosenGemmFactors prior_of(const GpuDeviceSpec& device, const TableKey& key) {
  GemmFactorsLibrary library(gemm_factors_folder());
  ChosenGemmFactors chosen =
      library.choose(device, kernel_libraries().choice().networks, key.second);
  if (chosen.set.framework() == key.first) {  // what an earlier fit of these rows left
    library.hold_out(device.id);
    chosen = library.choose(device, kernel_libraries().choice().networks, key.second);
  }
  if (chosen.note.empty()) {
    chosen.note = fmt::format("factors of {} on {}", chosen.set.table, device.id);
  }
  return chosen;
}

GemmFactorSet fit_samples(const GpuDeviceSpec& device, const TableKey& key, const Samples& samples,
                          const GemmFitCommand& command, const Session& session) {
  const auto& [framework, dtype] = key;
  const GemmType& type = gemm_type(dtype);
  const GemmLibrary library = gemm_library(device.architecture, framework, dtype);
  const ChosenGemmFactors prior = prior_of(device, key);
  MeasuredGemmOptions options;
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed));
  Progress progress(session, "fitting " + framework + " " + dtype);
  options.progress = [&progress](double share) { progress.update(share); };
  const MeasuredGemmFit fit =
      fit_measured_gemm(device, type, library, prior.set.factors, samples.fit, options);
  GemmFactorSet set;
  set.table = framework + ' ' + dtype;
  set.version = samples.version.empty() ? "unknown" : samples.version;
  set.factors = fit.factors;
  set.evidence = fit.evidence;
  set.evidence.prior = prior.note;
  set.evidence.provenance = join({samples.provenance.begin(), samples.provenance.end()}, "; ");
  set.fitted_on = fmt::format("{} of {} rows of {} families, MAPE {:.2f} %, {} free factors",
                              fit.rows, samples.fit.size(), fit.families, fit.mape * 100, fit.free);
  const GemmTiming timing(device, type, library, fit.factors);
  set.evidence.residuals = gemm_residuals(timing, samples.fit, samples.held_out);
  const std::vector<Comparison> held_out =
      compare_products(timing, samples.held_out, 0, kMaxGemmSide);
  std::vector<GemmSample> half;
  for (const GemmSample& sample : samples.held_out) {
    if (makes_interval(sample.shape.n, sample.shape.k)) half.push_back(sample);
  }
  const bool has_half = !half.empty();
  const Accuracy judged = accuracy_of(compare_products(
      timing, has_half ? half : (held_out.empty() ? samples.fit : samples.held_out), 0,
      kMaxGemmSide));
  set.evidence.interval_from =
      fmt::format("{} rows of families {}", judged.n,
                  has_half || !held_out.empty() ? "held out" : "that were fitted to");
  set.held_out = held_out.empty() ? "nothing: every family was fitted to"
                                  : accuracy_line("families of their own", held_out);
  set.interval_low = std::min(1.0, judged.ratio10);
  set.interval_high = std::max(1.0, judged.ratio90);
  return set;
}

std::string report(const GpuDeviceSpec& device, const GemmFactorSet& set) {
  std::string text = fmt::format("{} {} {} {}: {}\n  prior: {}\n", device.id, set.framework(),
                                 set.version, set.dtype(), set.fitted_on, set.evidence.prior);
  for (const std::string& line : set.evidence.residuals) text += "  " + line + "\n";
  for (const FactorInterval& interval : set.evidence.interval80) {
    const auto& unknown = set.evidence.not_identified;
    const bool known = std::find(unknown.begin(), unknown.end(), interval.factor) == unknown.end();
    text += fmt::format("  {}: {} to {}{}\n", interval.factor, interval.low, interval.high,
                        known ? "" : " (not determined by the rows; the prior stands)");
  }
  for (const std::string& pair : set.evidence.trade_offs) text += "  trade off: " + pair + "\n";
  return text;
}

}  // namespace

int calibrate_measured(const GemmFitCommand& command, const Session& session) {
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(catalog.find_device(command.device)).spec.device;
  std::map<TableKey, Samples> samples;
  bool has_operators = false;
  for (const MeasuredTable& table : checked_tables(command.table)) {
    switch (table.kind) {
      case TableKind::kGemm:
        collect(table, device, command, samples);
        break;
      case TableKind::kAttention:
        return calibrate_attention(command, session);
      case TableKind::kCollective:
        return calibrate_collective(command, session);
      default:
        // Launches by the host and warm operands are parts of their own, with terms of their own.
        if (table.name == "operator") {
          calibrate_operator(command, table, session);
          has_operators = true;
          break;
        }
        session.say(fmt::format("foretell: {} rows of kind {} are not fitted here",
                                table.rows.size(), table.name));
    }
  }
  if (samples.empty() && has_operators) return kSuccess;
  if (samples.empty()) {
    throw UserError(command.table + ": no product of matrices of " + device.id +
                    " to fit on; measure it with `foretell calibrate measure`");
  }
  const fs::path folder =
      (command.output.empty() ? factors_folder() : fs::path(command.output)) / "gpu" / "gemm";
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path path = folder / (device.id + ".yaml");
  KernelFactorsFile file;
  if (fs::exists(path)) file = parse_kernel_factors(read_text_file(path), path.string());
  file.device = device.id;
  file.split = kSplit;
  for (const auto& [key, rows] : samples) {
    const GemmFactorSet set = fit_samples(device, key, rows, command, session);
    command.output_lines->say(report(device, set));
    add_gemm_set(device.id, texts_of(set), *command.output_lines);
    put_factor_set(file, texts_of(set));
    write_text(path.string(), kernel_factors_text(file));
  }
  session.say("foretell: factors written to " + path.string());
  return kSuccess;
}

}  // namespace foretell

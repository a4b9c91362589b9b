#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "calib/fitted/gpu/transfer_intervals.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/validate/interval_estimate.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/table_kind.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/command/calibrate/calibrate_commands.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/tables/kinds/kernel_batch.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/tables/uncounted/impossible_times.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"
#include "model/config/document.hpp"
#include "reports/record/csv.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRowsOfChip = 4000;  // of one chip and table
constexpr std::size_t kLeastRows = 20;        // of which an interval is made
constexpr double kHolds = 0.75;               // an interval of 80 % does, within what few chips say

struct TransferOptions {
  std::vector<std::string> tables;
  std::string output;
  std::string jobs;
  std::string format = "table";
};

// The folder of the factors of the kernels that a table is of.
std::string kernels_of(const TableLayout& layout, const std::string& path) {
  switch (layout.kind) {
    case TableKind::kGemm:
      return "gemm";
    case TableKind::kAttention:
      return "attention";
    case TableKind::kCollective:
      return "collective";
    case TableKind::kOperator:
      return "operator";
    case TableKind::kLayerKernels:
      return layout.name;
    case TableKind::kAttentionBlocks:
    case TableKind::kPower:
    case TableKind::kEnergyRuns:
    case TableKind::kModels:
    case TableKind::kServing:
      break;
  }
  throw UserError(path + ": expected a table of GPU kernels");
}

bool is_measured(const std::string& kernels, const std::string& device) {
  return fs::exists(factors_folder() / "gpu" / kernels / (device + ".yaml"));
}

// Devices of the kind none of whose sets shares a number with the one that is held out.
std::vector<std::string> independent_of(const std::string& device, KernelFactorsLibrary library) {
  const std::map<std::string, std::size_t> before = library.sets_by_device();
  library.hold_out(device);
  std::vector<std::string> devices;
  for (const auto& [other, sets] : library.sets_by_device()) {
    if (sets == before.at(other)) devices.push_back(other);
  }
  return devices;
}

// Measured chips of the kind other than `device` that have its architecture, and factors of their
// own?
bool has_sibling(const GpuCatalog& catalog, const std::string& kernels, const std::string& device) {
  const std::string architecture = catalog.load(device).spec.device.architecture;
  const std::vector<std::string> devices =
      independent_of(device, KernelFactorsLibrary(kernel_factors_folder(kernels)));
  return std::any_of(devices.begin(), devices.end(), [&](const std::string& other) {
    return catalog.load(other).spec.device.architecture == architecture;
  });
}

struct TransferSide {
  std::string kernels;
  bool same_generation;
  bool operator<(const TransferSide& other) const {
    return std::tie(kernels, same_generation) < std::tie(other.kernels, other.same_generation);
  }
};

using Samples = std::map<TransferSide, std::vector<RatioSample>>;

// At most kMaxRowsOfChip of every chip, evenly chosen: fit and judge parts of chips with factors of
// their own, which are left out to be predicted; of chips that no factor was fitted to the fit part
// alone, so that their judge part says how well the interval holds.
std::map<std::string, std::vector<CsvRow>> rows_by_chip(CsvReader& csv, const TableLayout& layout,
                                                        const std::string& kernels,
                                                        const GpuCatalog& catalog) {
  const NamedCells cells(csv.header());
  const auto in_vault = part_test(layout, csv.header(), Part::kVault);
  const auto in_fit = part_test(layout, csv.header(), Part::kFit);
  const ImpossibleTimes impossible = ImpossibleTimes::load(layout, csv.header());
  std::map<std::string, std::string> chips;  // by the name in the table; "": none
  std::map<std::string, std::vector<CsvRow>> rows;
  CsvRow row;
  while (csv.next(row)) {
    const std::string gpu = cells.text(row, "gpu");
    const auto [known, is_new] = chips.try_emplace(gpu);
    if (is_new && catalog.has_system(gpu)) known->second = catalog.find_device(gpu);
    const std::string& chip = known->second;
    if (chip.empty() || impossible.reason(row)) continue;
    if (is_measured(kernels, chip) ? !in_vault(row) : in_fit(row)) rows[chip].push_back(row);
  }
  for (auto& [chip, all] : rows) {
    const std::size_t step = (all.size() + kMaxRowsOfChip - 1) / kMaxRowsOfChip;
    std::vector<CsvRow> some;
    for (std::size_t i = 0; i < all.size(); i += step) some.push_back(std::move(all[i]));
    all = std::move(some);
  }
  return rows;
}

// 0 for what is no time above zero.
double measured_us(const std::string& cell) {
  try {
    return read_measurement("latency_us", cell).value_or(0);
  } catch (const UserError&) {
    return 0;
  }
}

void collect(const std::string& path, int jobs, Samples& samples, const Session& session) {
  const GpuCatalog catalog;
  CsvReader csv(path, CsvReader::Names::kLowerCase);
  const TableLayout& layout = recognise_table(csv.header(), path);
  const std::string kernels = kernels_of(layout, path);
  const NamedCells cells(csv.header());
  std::size_t all = 0;
  std::size_t left_out = 0;
  std::string reason;  // of the first
  for (auto& [chip, rows] : rows_by_chip(csv, layout, kernels, catalog)) {
    all += rows.size();
    std::vector<RatioSample>& side = samples[{kernels, has_sibling(catalog, kernels, chip)}];
    KernelOptions options;
    if (is_measured(kernels, chip)) options.factors.held_out_device = chip;
    const auto sink = [&, name = chip](const CsvRow& row, const RowPrediction& prediction) {
      const double measured = measured_us(cells.text(row, "latency_us"));
      if (!prediction.error.empty() || !(measured > 0)) {
        if (left_out++ == 0) {
          reason =
              fmt::format("'{}': {}", fmt::join(row, ","),
                          prediction.error.empty() ? "no latency_us above 0" : prediction.error);
        }
        return;
      }
      side.push_back({name, measured / prediction.values.at("pred_us")});
    };
    KernelBatch batch(kernel_answer(layout, csv.header(), options, {}), jobs, sink);
    for (CsvRow& row : rows) batch.add(std::move(row), "");
    batch.finish();
  }
  if (left_out == 0) return;
  session.say(fmt::format("foretell: {}: {} of {} rows do not count, the first: {}", path, left_out,
                          all, reason));
}

// On average over the chips left out; 0 when there is only one.
double held_on_average(const WidenedInterval& widened) {
  double sum = 0;
  for (const auto& [chip, share] : widened.left_out) sum += share;
  return widened.left_out.empty() ? 0 : sum / static_cast<double>(widened.left_out.size());
}

// Where errors of the chips lie on different sides, those of others say how far a prediction can be
// off but not to which side: an interval of both.
std::vector<RatioSample> both_ways(std::vector<RatioSample> samples) {
  const std::size_t count = samples.size();
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back({samples[i].network, 1 / samples[i].ratio});
  }
  return samples;
}

// Share of the rows of each chip that the interval of the others, both ways, holds.
std::map<std::string, double> coverage_by_chip(const std::vector<RatioSample>& samples, double by) {
  std::map<std::string, std::vector<RatioSample>> chips;
  for (const RatioSample& sample : samples) chips[sample.network].push_back(sample);
  std::map<std::string, double> shares;
  for (const auto& [chip, rows] : chips) {
    std::vector<RatioSample> others;
    for (const RatioSample& sample : samples) {
      if (sample.network != chip) others.push_back(sample);
    }
    if (others.empty()) continue;
    const Interval interval = estimate_interval80(both_ways(std::move(others)));
    shares[chip] = coverage_of(rows, {std::pow(interval.low, by), std::pow(interval.high, by)});
  }
  return shares;
}

TransferInterval interval_of(const TransferSide& side, const std::vector<RatioSample>& samples) {
  WidenedInterval widened = widen_interval80(samples);
  if (held_on_average(widened) < kHolds) {
    widened = widen_interval80(both_ways(samples));
    widened.left_out = coverage_by_chip(samples, widened.by);
  }
  return {side.kernels,   side.same_generation, widened.interval.low, widened.interval.high,
          samples.size(), widened.by,           widened.left_out};
}

int calibrate_transfer(const TransferOptions& options, const Session& session) {
  const int jobs = parse_jobs(options.jobs);
  FitOutput output(options.format);
  const fs::path path = options.output.empty() ? factors_folder() / "gpu" / "transfer.yaml"
                                               : fs::path(options.output);
  Samples samples;
  for (const std::string& table : options.tables) collect(table, jobs, samples, session);
  std::vector<TransferInterval> intervals;
  if (fs::exists(path)) intervals = parse_transfer_intervals(read_text_file(path), path.string());
  for (const auto& [side, rows] : samples) {
    if (rows.empty()) continue;
    if (rows.size() < kLeastRows) {
      throw UserError(fmt::format("{}: rows that count: {}; an interval needs {} or more",
                                  side.kernels, rows.size(), kLeastRows));
    }
    const TransferInterval made = interval_of(side, rows);
    const auto known = std::find_if(intervals.begin(), intervals.end(), [&](const auto& other) {
      return other.kernels == made.kernels && other.same_generation == made.same_generation;
    });
    if (known == intervals.end()) {
      intervals.push_back(made);
    } else {
      *known = made;
    }
    std::string held;
    for (const auto& [chip, share] : made.left_out) {
      held += fmt::format("{}{} {}", held.empty() ? "" : ", ", chip, percent_format(share));
    }
    const std::string generation = made.same_generation ? "the same" : "another";
    output.say(fmt::format(
        "{}, nearest measured chip of {} generation: {:.3f} to {:.3f}; "
        "holds on the rows of a chip left out: {}\n",
        made.kernels, generation, made.low, made.high, held.empty() ? "one chip alone" : held));
    FitLine line{"",
                 made.kernels,
                 "interval",
                 "nearest measured chip of " + generation + " generation",
                 "",
                 to_text(made.low),
                 to_text(made.high)};
    line.rows = std::to_string(rows.size());
    output.add(line);
    for (const auto& [chip, share] : made.left_out) {
      output.add({chip, made.kernels, "coverage", "left out", to_text(share), "", ""});
    }
  }
  if (intervals.empty()) throw UserError("no row of the tables is of a GPU that has factors");
  write_text(path.string(), transfer_intervals_text(intervals));
  output.finish();
  session.say("foretell: intervals written to " + path.string());
  return kSuccess;
}

}  // namespace

void add_transfer_command(CLI::App& calibrate, Session& session) {
  const auto options = std::make_shared<TransferOptions>();
  CLI::App* command = calibrate.add_subcommand(
      "transfer", "How far predictions are on GPUs that were not measured");
  command->footer(
      "Every GPU with factors of its own is predicted from the others, and every other one of the\n"
      "tables as it is (fit part alone); their errors make the intervals of GPUs without.\n"
      "Example:\n"
      "  foretell calibrate transfer --table gpu_gemm.csv.gz --table gpu_attention.csv.gz");
  add_repeated_option(*command, "--table", options->tables, "FILE",
                      "CSV of measured kernels; repeat for more")
      ->transform(measured_table)
      ->required();
  add_option(*command, "-o,--output", options->output, "FILE",
             "file (default: where the program reads it)");
  add_option(*command, "--jobs", options->jobs, "N", "processes (default: one per processor)");
  add_fit_format_option(*command, options->format);
  set_action(*command, session,
             [options, &session] { return calibrate_transfer(*options, session); });
}

}  // namespace foretell

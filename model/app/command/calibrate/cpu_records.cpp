#include "model/app/command/calibrate/cpu_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "calib/fit/cpu_fit.hpp"
#include "calib/fitted/cpu/cpu_factors.hpp"
#include "calib/import/check_measurements.hpp"
#include "calib/import/record_tables.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/command/calibrate/cpu_intervals.hpp"
#include "model/app/command/calibrate/emulated_rows.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/predict/rows/operator_rows.hpp"
#include "model/timing/gpu/soft_limits.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

constexpr double kShown = 0.01;  // of the whole
constexpr std::size_t kShownLoops = 3;

bool starts_record(const std::string& path) {
  InputFile file(path);
  std::string line;
  return file.read_line(line) && starts_with(trim(line), "{");
}

bool is_cpu_header(const CsvRow& header) {
  return has_column(header, "system") && has_column(header, "op") &&
         has_column(header, "threads") && !has_column(header, "gpu") &&
         !has_column(header, "workload");
}

// A row of a table that was imported as the record that it was.
Measurement record_of(const CsvRow& header, const CsvRow& row) {
  static const std::vector<std::string> kSizes = {
      "b",      "m",        "n",        "k",      "rows",  "cols",    "heads",
      "seq",    "head_dim", "channels", "height", "width", "filters", "kernel",
      "stride", "padding",  "groups",   "bytes",  "count"};
  const auto cell = [&](const char* column) {
    return has_column(header, column) ? row[find_column(header, column)] : std::string();
  };
  const auto whole = [&](const char* column) {
    return static_cast<std::int64_t>(leading_number(cell(column)).value);
  };
  Measurement record;
  record.device = cell("system");
  record.op = cell("op") == "bmm" ? "batched_gemm" : cell("op");
  record.dtype = cell("dtype");
  record.latency_us = read_measurement("latency_us", cell("latency_us")).value_or(0);
  record.spread = leading_number(cell("spread")).value;
  record.provenance.machine = cell(kMeasuredOn);
  if (!(record.latency_us > 0)) throw UserError("latency_us: is empty; leave the row out");
  if (const std::string text = cell("conv"); !text.empty()) {
    const SquareConvolution shape = parse_convolution(text, whole("b"));
    record.shape = {
        {"b", shape.images},      {"channels", shape.channels_in}, {"height", shape.size},
        {"width", shape.size},    {"filters", shape.channels_out}, {"kernel", shape.kernel},
        {"stride", shape.stride}, {"padding", shape.padding}};
  } else {
    for (const std::string& size : kSizes) {
      if (!cell(size.c_str()).empty()) record.shape.emplace_back(size, whole(size.c_str()));
    }
  }
  for (const char* state : {"cache", "launch", "threads", "weights", "round"}) {
    if (const std::string text = cell(state); !text.empty()) record.states[state] = text;
  }
  if (const std::string text = cell("foreign_load"); !text.empty()) {
    record.readings["foreign_load"] = leading_number(text).value;
  }
  return record;
}

std::vector<Measurement> records_of_table(const std::string& path) {
  CsvReader csv(path);
  if (!has_column(csv.header(), kMeasuredOn)) {
    throw UserError(path +
                    ": no provenance; `foretell calibrate import` makes tables that have it");
  }
  std::vector<Measurement> records;
  std::vector<std::string> problems;
  CsvRow row;
  std::string problem;
  while (csv.next(row, problem)) {
    try {
      if (!problem.empty()) {
        problems.push_back(problem);
        continue;
      }
      records.push_back(record_of(csv.header(), row));
      records.back().line = csv.line();
    } catch (const UserError& error) {
      problems.push_back(fmt::format("{}:{}: {}", path, csv.line(), error.what()));
    }
  }
  refuse_problems(problems, "no row counts while one of them cannot be");
  return records;
}

std::string joined(std::vector<std::pair<std::string, double>> parts, double whole,
                   std::size_t most) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, parts.size()); ++i) {
    if (parts[i].second < kShown * whole) break;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", parts[i].first,
                        100 * parts[i].second / whole);
  }
  return text;
}

// What the parts of a primitive take alone on the longest thread; of a chain its primitives.
std::string parts_of(const std::vector<Loop>& loops) {
  std::vector<std::pair<std::string, double>> parts;
  double whole = 0;
  for (const Loop& loop : loops) {
    const double time = loop_time(loop).value();
    whole += time;
    parts.emplace_back(loop.name, time);
  }
  if (loops.size() != 1) return joined(std::move(parts), whole, kShownLoops);
  const Loop& loop = loops.front();
  const BytesPerSecond fair = std::min(loop.core_dram, loop.dram / loop.threads);
  double compute = 0;
  double caches = 0;
  double dram = 0;
  for (const CpuChunkRun& run : part_of(loop, 0)) {
    const auto count = static_cast<double>(run.count);
    compute += count * run.compute.value();
    caches += count * run.feed.value();
    if (run.dram > Bytes(0)) dram += count * (run.dram / fair).value();
  }
  return joined({{"arithmetic", compute},
                 {"caches", caches},
                 {"DRAM", dram},
                 {"call", loop.call.value()},
                 {"fork and join", loop.fork_join.value()}},
                whole, 5);
}

// "m=1 n=768 k=768" of "amd-epyc gemm fp32 m=1 n=768 k=768 cache=warm …".
std::string shape_text(const CpuRow& row) {
  std::string text;
  for (const auto& [name, size] : row.op.sizes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", name, size);
  }
  return text;
}

}  // namespace

std::vector<Measurement> read_measurement_lines(const std::string& path) {
  InputFile file(path);
  std::vector<Measurement> records;
  std::string line;
  std::vector<std::string> problems;
  for (std::size_t number = 1; file.read_line(line); ++number) {
    try {
      records.push_back(parse_measurement(line, fmt::format("{}:{}", path, number)));
      records.back().line = number;
    } catch (const UserError& error) {
      problems.emplace_back(error.what());
    }
  }
  refuse_problems(problems, "no record counts while one of them cannot be");
  if (records.empty()) throw UserError(path + ": holds no measurement");
  return records;
}

void check_measured_here(const std::string& measured, const CpuSystemSpec& host) {
  const std::string here =
      fmt::format("{} ({}), {} cores", host.device.name, host.device.architecture, host.cores);
  const bool names_cores = measured.find("), ") != std::string::npos &&
                           measured.find(" cores", measured.find("), ")) != std::string::npos;
  if (!names_cores || starts_with(measured, here)) return;
  throw UserError(
      fmt::format("measured on {}, and this machine is {}; name a system that is like the measured "
                  "one: --on, of `calibrate fit` --device",
                  measured, here));
}

bool holds_cpu_measurements(const std::string& path) {
  return starts_record(path) || is_cpu_header(CsvReader(path).header());
}

CpuRecords::CpuRecords(const std::string& path, const CpuRecordOptions& options,
                       const Session& session) {
  const std::vector<Measurement> records =
      starts_record(path) ? read_measurement_lines(path) : records_of_table(path);
  if (records.empty()) throw UserError(path + ": holds no measurement");
  if (GpuCatalog().has_system(records.front().device)) {
    throw UserError(path + ": records of " + records.front().device +
                    "; `foretell calibrate import` makes tables of them, which are compared");
  }
  LoadedCpuSystem system =
      CpuCatalog().load(options.system.empty() ? kHostSystem : options.system, options.set);
  const ChosenCpuFactors chosen = choose_cpu_factors(system.spec.device, options.factors);
  if (options.system.empty()) check_measured_here(records.front().provenance.machine, system.spec);
  use_measured_clock(chosen, system);
  if (!chosen.note.empty()) session.say("foretell: " + chosen.note);
  CpuRowTable table = cpu_rows_of(records);
  leave_out_emulated(system.spec.device, table.rows, session);
  check_possible(system.spec, table.rows);
  for (const auto& [reason, count] : table.left_out) {
    session.say(fmt::format("foretell: left out, {} of {} records (a point has several): {}", count,
                            records.size(), reason));
  }
  const bool has_intervals = chosen.note.empty() && !chosen.intervals.by_class.empty();
  for (const CpuRow& row : table.rows) {
    const Comparison judged = judge_cpu_row(system.spec, chosen.factors, chosen.intervals, row);
    RowPrediction prediction;
    prediction.values = {{"pred_us", judged.predicted}};
    if (judged.interval80 && has_intervals && row.held_out) {
      prediction.intervals = {{"latency_us", *judged.interval80}};
    }
    prediction.parts =
        parts_of(loops_of(CpuTiming(system.spec, chosen.factors, row.threads), row.op));
    rows_.push_back(
        {CsvRow{row.op.op, row.op.dtype, operator_class(row.op), shape_text(row),
                std::to_string(row.threads), row.op.cold ? "cold" : "warm",
                row.held_out ? "yes" : "no", part_name(cpu_part(row)), to_text(row.measured_us)},
         row.line, std::move(prediction)});
  }
}

Part cpu_part(const CpuRow& row) {
  if (!row.held_out) return Part::kFit;
  const Part part = part_of(fmt::format("cpu {} {}", operator_class(row.op), row.family));
  return part == Part::kVault ? part : Part::kJudge;
}

const CsvRow& CpuRecords::header() {
  static const CsvRow kHeader = {"op",    "dtype",    "class", "shape",     "threads",
                                 "cache", "held_out", "part",  "latency_us"};
  return kHeader;
}

void CpuRecords::each(
    const std::function<void(const CsvRow&, std::size_t, const RowPrediction&)>& sink) const {
  for (const Row& row : rows_) sink(row.cells, row.line, row.prediction);
}

}  // namespace foretell

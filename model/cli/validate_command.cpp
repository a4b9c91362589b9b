#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <memory>

#include "calib/command/cpu_records.hpp"
#include "calib/validate/accuracy_report.hpp"
#include "model/base/errors.hpp"
#include "model/cli/commands.hpp"
#include "model/cli/kernel_options.hpp"
#include "model/forecast/parallel_predict.hpp"
#include "model/forecast/request_fields.hpp"
#include "model/tables/batch_predictor.hpp"
#include "model/tables/held_out_rows.hpp"
#include "model/tables/kernel_batch.hpp"
#include "model/tables/row_filter.hpp"
#include "model/tables/sample_collector.hpp"
#include "model/terminal/output.hpp"
#include "model/terminal/progress.hpp"
#include "model/terminal/request_options.hpp"

namespace foretell {
namespace {

constexpr const char* kTrusted = "use=yes";
constexpr const char* kLatest = "latest=1";
constexpr std::int64_t kMaxWorst = 1'000'000;
constexpr double kMaxPercent = 1e6;

struct ValidateOptions {
  std::string table;
  OutputOptions output;
  std::vector<std::string> by;
  std::vector<std::string> where;
  bool latest = false;
  bool all_rows = false;
  bool held_out = false;
  std::string worst = "10";
  std::string max_mape;
  std::string max_p90;
  std::string max_bias;
  std::string jobs;
  RequestOptions model;
  KernelOptions kernels;
  std::string system;  // of records of CPUs
};

RowFilter make_filter(const ValidateOptions& options, const CsvRow& header) {
  RowFilter filter;
  if (has_column(header, "use") && !options.all_rows) filter.require(kTrusted, header);
  if (options.latest) filter.require(kLatest, header);
  for (const std::string& condition : options.where) filter.require(condition, header);
  return filter;
}

void check_limits(const ValidateOptions& options) {
  const auto check = [](const char* option, const std::string& limit) {
    if (!limit.empty()) parse_positive(option, limit, kMaxPercent);
  };
  check("--max-mape", options.max_mape);
  check("--max-p90", options.max_p90);
  check("--max-bias", options.max_bias);
}

// "call_ms: MAPE 12.0 % is above 7.5 %" for every limit that is broken.
std::vector<std::string> broken_limits(const ValidateOptions& options,
                                       const AccuracyReport& report) {
  std::vector<std::string> broken;
  const auto check = [&](const char* option, const std::string& limit, const char* name,
                         const AccuracyRow& row, double value) {
    if (limit.empty()) return;
    const double percent = parse_positive(option, limit, kMaxPercent);
    if (value * 100 > percent) {
      broken.push_back(
          fmt::format("{}: {} {:.2f} % is above {} %", row.quantity, name, value * 100, percent));
    }
  };
  for (const AccuracyRow& row : report.overall) {
    check("--max-mape", options.max_mape, "MAPE", row, row.accuracy.mape);
    check("--max-p90", options.max_p90, "p90", row, row.accuracy.p90);
    check("--max-bias", options.max_bias, "absolute bias", row, std::abs(row.accuracy.bias));
  }
  return broken;
}

std::string render(const AccuracyReport& report, Format format, int width) {
  switch (format) {
    case Format::kTable:
      return accuracy_text(report, width);
    case Format::kJson:
      return accuracy_json(report);
    case Format::kCsv:
      return accuracy_csv(report);
  }
  throw InternalError(__FILE__, __LINE__, "a format without a renderer");
}

struct Counts {
  std::size_t read = 0;
  std::size_t asked = 0;
  std::size_t failed = 0;
};

// Predicts the rows that count; the notes say which ones do not.
AccuracyReport compare_with_table(const ValidateOptions& options, int jobs, CsvReader& table,
                                  const Session& session) {
  const TableLayout& layout = recognise_table(table.header(), options.table);
  const RowFilter filter = make_filter(options, table.header());
  const RowTest held_out =
      options.held_out ? held_out_test(layout, table.header()) : [](const CsvRow&) { return true; };
  // Of a GPU whose factors are left out, no row took part in anything.
  const RowTest judges_interval = options.kernels.held_out_device.empty()
                                      ? judges_interval_test(layout, table.header())
                                      : [](const CsvRow&) { return true; };
  SampleCollector collector(layout, table.header(), options.by);
  Counts counts;
  std::map<std::string, std::size_t> failures;
  Progress progress(session, "validating");
  double before_block = 0;
  const auto sink = [&](const CsvRow& row, const RowPrediction& prediction) {
    if (prediction.error.empty()) {
      collector.collect(row, prediction, judges_interval(row));
    } else {
      ++counts.failed;
      ++failures[prediction.error];
    }
    before_block = table.consumed();
  };
  const auto show = [&](double share) {
    progress.update(before_block + share * (table.consumed() - before_block));
  };
  const auto predict_rows = [&](auto&& batch) {
    CsvRow row;
    std::string problem;
    while (table.next(row, problem)) {
      ++counts.read;
      if (!problem.empty() ||
          (filter.accepts(row) && collector.is_measured(row) && held_out(row))) {
        ++counts.asked;
        batch.add(std::move(row), problem);
      }
    }
    batch.finish();
  };
  if (layout.kind == TableKind::kModels) {
    const RowReader reader(layout, table.header(), row_defaults(options.model));
    predict_rows(BatchPredictor(reader, session.predict, jobs, sink, show));
  } else {
    predict_rows(
        KernelBatch(kernel_answer(layout, table.header(), options.kernels, options.model.set), jobs,
                    sink, show));
  }

  const auto worst = static_cast<std::size_t>(parse_count("--worst", options.worst, 0, kMaxWorst));
  AccuracyReport report = build_report(collector.samples(), options.by, worst);
  report.rows = counts.asked;
  report.failed = counts.failed;
  report.notes.push_back(fmt::format("{} of {} rows count{}{}", counts.asked, counts.read,
                                     filter.text().empty() ? "" : ": ", filter.text()));
  for (const auto& [message, times] : failures) {
    report.notes.push_back(fmt::format("{} without a prediction: {}", times, message));
  }
  return report;
}

// The same of records of a CPU, or of a table that was made of them.
AccuracyReport compare_with_records(const ValidateOptions& options, const Session& session) {
  static const TableLayout& layout = recognise_table({"op", "dtype"}, options.table);
  const CpuRecords records(options.table,
                           {options.system, options.model.factors, options.model.set}, session);
  RowFilter filter;
  if (options.held_out) filter.require("held_out=yes", CpuRecords::header());
  for (const std::string& condition : options.where)
    filter.require(condition, CpuRecords::header());
  SampleCollector collector(layout, CpuRecords::header(), options.by);
  Counts counts;
  records.each([&](const CsvRow& row, const RowPrediction& prediction) {
    ++counts.read;
    if (!filter.accepts(row)) return;
    ++counts.asked;
    collector.collect(row, prediction);
  });
  const auto worst = static_cast<std::size_t>(parse_count("--worst", options.worst, 0, kMaxWorst));
  AccuracyReport report = build_report(collector.samples(), options.by, worst);
  report.rows = counts.asked;
  report.notes.push_back(fmt::format("{} of {} points count{}{}", counts.asked, counts.read,
                                     filter.text().empty() ? "" : ": ", filter.text()));
  return report;
}

int validate(const ValidateOptions& options, const Session& session) {
  const Format format = parse_format(options.output.format);
  const int jobs = parse_jobs(options.jobs);
  check_limits(options);
  const bool of_cpu = holds_cpu_measurements(options.table);
  if (!of_cpu && !options.system.empty()) {
    throw UserError("--on: rows of this table name their systems; leave it out");
  }
  check_not_same_file(options.table, options.output.output);
  OutputFile output(options.output.output);
  AccuracyReport report;
  if (of_cpu) {
    report = compare_with_records(options, session);
  } else {
    CsvReader table(options.table);
    report = compare_with_table(options, jobs, table, session);
  }
  if (report.rows == 0) {
    throw UserError(options.table + ": no row counts; " + report.notes.front() +
                    " (--all-rows takes rows of any use)");
  }
  const std::string text = render(report, format, session.result_width);
  output.write(format == Format::kTable ? as_shown(options.output.output, text) : text);
  output.finish();
  const std::vector<std::string> broken = broken_limits(options, report);
  for (const std::string& limit : broken) session.say("foretell: outside tolerance: " + limit);
  return broken.empty() && report.failed == 0 ? kSuccess : kOutsideTolerance;
}

}  // namespace

void add_validate_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      app.add_subcommand("validate", "Compare predictions with a table of measurements");
  command->footer(
      "Rows count when their column 'use' says yes, if there is one (--all-rows: all of them).\n"
      "Examples:\n"
      "  foretell validate measured.csv --where system=inf2.xlarge --where family=encoder --latest "
      "--by workload\n"
      "  foretell validate measured.csv --max-mape 7.5 --max-p90 15 --max-bias 4\n"
      "  foretell validate measurements.jsonl --held-out --by class");
  command
      ->add_option("table", options->table,
                   "CSV with measured columns, or records of a CPU (calibrate measure)")
      ->required();
  command->add_option("--by", options->by, "columns to group by, with commas between")
      ->type_name("COLUMN")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--where", options->where,
                   "COLUMN=VALUE[,VALUE]: rows with one of these values; repeat for more columns")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->take_all();
  command->add_flag("--latest", options->latest, "the same as --where latest=1");
  command->add_flag("--held-out", options->held_out,
                    "GPU kernels and CPUs: only shape families that no factor was fitted to");
  command
      ->add_option("--on", options->system,
                   "records of a CPU: the system that was measured (default: host)")
      ->type_name("SYSTEM");
  command->add_flag("--all-rows", options->all_rows, "also rows whose 'use' is not yes");
  command
      ->add_option("--worst", options->worst, "rows with the largest error to list (default: 10)")
      ->type_name("N");
  command->add_option("--max-mape", options->max_mape, "exit code 1 when MAPE is above, in percent")
      ->type_name("PERCENT");
  command->add_option("--max-p90", options->max_p90, "the same for the 90th percentile")
      ->type_name("PERCENT");
  command->add_option("--max-bias", options->max_bias, "the same for the absolute bias")
      ->type_name("PERCENT");
  command->add_option("--jobs", options->jobs, "processes (default: one per processor)")
      ->type_name("N");
  add_format_option(*command, options->output);
  add_model_options(*command, options->model);
  add_kernel_options(*command, options->kernels);
  command->callback([options, &session] {
    session.action = [options, &session] { return validate(*options, session); };
  });
}

}  // namespace foretell

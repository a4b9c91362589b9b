#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "model/app/command/commands.hpp"
#include "model/app/command/kernel_options.hpp"
#include "model/app/command/report/predicted_rows.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/tables/kinds/assumed_values.hpp"
#include "model/app/tables/kinds/energy_run_rows.hpp"
#include "model/app/tables/kinds/kernel_batch.hpp"
#include "model/app/tables/kinds/power_rows.hpp"
#include "model/app/tables/kinds/serving_batch.hpp"
#include "model/app/tables/stopped_table.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/workers/stop_signals.hpp"
#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"
#include "model/base/text.hpp"
#include "reports/record/json_text.hpp"
#include "reports/render/html_report.hpp"
#include "reports/render/output_format.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr std::size_t kFirstRow = 2;  // line, under the header

struct PredictOptions {
  std::string table;
  std::string output = "-";
  std::string format = "csv";
  std::string jobs;
  RequestOptions model;
  KernelOptions kernels;
  bool energy = false;
};

// What --energy adds to a table of this kind; tables of power have it all.
std::vector<std::string> energy_columns(const TableLayout& layout) {
  if (layout.kind == TableKind::kPower || layout.kind == TableKind::kEnergyRuns) return {};
  if (layout.kind != TableKind::kModels && layout.kind != TableKind::kServing) {
    throw UserError(
        "--energy: adds columns to tables of models and of services; this is one of kind " +
        layout.name + ": leave it out");
  }
  std::vector<std::string> columns;
  for (const MeasuredColumn& column : energy_quantities()) {
    for (const char* end : {"", "_lo", "_hi"}) columns.push_back(column.predicted + end);
  }
  return columns;
}

// Columns of the input that pass through: all but those that this command adds, so that a table
// it wrote can be predicted again.
std::vector<std::size_t> passed_columns(const CsvRow& header, const TableLayout& layout) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const auto& added = layout.added;
    if (std::find(added.begin(), added.end(), header[i]) == added.end()) columns.push_back(i);
  }
  return columns;
}

CsvRow pick(const CsvRow& row, const std::vector<std::size_t>& columns) {
  CsvRow cells;
  for (const std::size_t column : columns) cells.push_back(row[column]);
  return cells;
}

// For people numbers are rounded.
void append_prediction(const TableLayout& layout, const RowPrediction& prediction, Format format,
                       CsvRow& row) {
  const bool is_rounded = format == Format::kTable || format == Format::kMarkdown;
  for (const std::string& name : layout.added) {
    if (name == "status") {
      row.emplace_back(prediction.error.empty() ? "ok" : "error");
    } else if (name == "message") {
      row.push_back(prediction.error.empty() ? prediction.note : prediction.error);
    } else {
      const auto value = prediction.values.find(name);
      const auto text = prediction.texts.find(name);
      row.push_back(value != prediction.values.end()
                        ? is_rounded ? plain_format(value->second, 4) : to_text(value->second)
                    : text != prediction.texts.end() ? text->second
                                                     : "");
    }
  }
}

// What is counted or measured; everything else may be a name or a version, whose digits matter.
bool is_number_column(const std::string& name) {
  static const std::set<std::string> kNumbers = {
      "batch",  "seq_len", "input_len", "output_len", "image_size", "tp",         "pp",
      "dp",     "cores",   "inflight",  "m",          "n",          "k",          "isl",
      "kv_len", "heads",   "kv_heads",  "head_dim",   "window",     "n_ranks",    "bytes",
      "rows",   "cols",    "call_ms",   "ttft_ms",    "tpot_ms",    "throughput", "latency_us"};
  return kNumbers.count(name) > 0;
}

// A row as a JSON object on a line of its own: predictions are numbers or words, null where there
// is none;
// what passed through, the first `passed` cells, is text, but for columns of numbers that are
// known.
std::string json_line(const CsvRow& header, std::size_t passed, const CsvRow& cells,
                      const RowPrediction& prediction) {
  std::string line = "{";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += (i > 0 ? "," : "") + json_text(header[i]) + ":";
    const bool is_added = i >= passed && header[i] != "status" && header[i] != "message";
    const auto value = prediction.values.find(header[i]);
    if (!is_added) {
      line += is_number_column(to_lower(header[i])) ? json_number_or_text(cells[i])
                                                    : json_text(cells[i]);
    } else if (prediction.texts.count(header[i]) > 0) {
      line += json_text(cells[i]);
    } else {
      line += value == prediction.values.end() ? "null" : to_text(value->second);
    }
  }
  return line + "}\n";
}

// For people: columns that were added and have no value in any row are left out.
void drop_empty(std::size_t passed, std::vector<CsvRow>& rows) {
  for (std::size_t column = rows.front().size(); column-- > passed && rows.size() > 1;) {
    const bool is_empty = std::all_of(rows.begin() + 1, rows.end(),
                                      [column](const CsvRow& row) { return row[column].empty(); });
    if (!is_empty) continue;
    for (CsvRow& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

// Also a page, where the ending of the file asks for one.
Format form_of(const PredictOptions& options) {
  constexpr const char* kPage = "html";
  if (options.format != kPage) return parse_format(options.format);
  if (format_by_ending(options.output, "") != kPage)
    throw UserError("--format html: a page goes to a file; name one with -o page.html");
  check_page();
  return Format::kHtml;
}

std::string page_title(const std::string& table) {
  return table == "-" ? "Predictions" : std::filesystem::path(table).filename().string();
}

int predict_table(const PredictOptions& options, const Session& session) {
  const int jobs = parse_jobs(options.jobs);
  const Format format = form_of(options);
  CsvReader table(options.table, CsvReader::Names::kLowerCase);
  TableLayout layout = recognise_table(table.header(), options.table);
  if (options.energy) {
    const std::vector<std::string> columns = energy_columns(layout);
    layout.added.insert(std::find(layout.added.begin(), layout.added.end(), "status"),
                        columns.begin(), columns.end());
  }
  const Request defaults = defaults_of_table(options.model, layout);
  check_not_same_file(options.table, options.output);
  OutputFile output(options.output);
  const std::vector<std::size_t> passed = passed_columns(table.header(), layout);
  CsvRow header = pick(table.written_header(), passed);
  header.insert(header.end(), layout.added.begin(), layout.added.end());
  const bool streams = format == Format::kCsv || format == Format::kJson;  // others need all rows
  std::vector<CsvRow> rows_written = {header};
  PredictedRowsReport page(layout, header);
  if (format == Format::kCsv) output.write(to_csv(header));

  std::size_t rows = 0;
  std::size_t failed = 0;
  std::size_t open = 0;
  AssumedValues assumed;
  const StopSignals signals;
  {
    Progress progress(session, "predicting");
    double before_block = 0;
    const auto sink = [&](const CsvRow& row, const RowPrediction& prediction) {
      if (prediction.is_open) {
        ++open;
        return;
      }
      assumed.add(prediction.assumed);
      CsvRow cells = pick(row, passed);
      append_prediction(layout, prediction, format, cells);
      if (format == Format::kJson) {
        output.write(json_line(header, passed.size(), cells, prediction));
      } else if (streams) {
        output.write(to_csv(cells));
      } else if (format == Format::kHtml) {
        page.add(std::move(cells), rows + kFirstRow);
      } else {
        rows_written.push_back(std::move(cells));
      }
      ++rows;
      if (!prediction.error.empty()) ++failed;
      before_block = table.consumed();
    };
    const auto show = [&](double share) {
      progress.update(before_block + share * (table.consumed() - before_block));
    };
    const auto predict_rows = [&table](auto&& batch) {
      CsvRow row;
      std::string problem;
      while (next_row(table, row, problem)) batch.add(std::move(row), problem);
      batch.finish();
    };
    if (layout.kind == TableKind::kModels) {
      for (const std::string& text : unread_columns(table.header()))
        session.say("foretell: " + text);
      const RowReader reader(layout, table.header(), defaults);
      predict_rows(BatchPredictor(reader, session.predict, jobs, sink, show));
    } else if (layout.kind == TableKind::kServing) {
      predict_rows(ServingBatch(table.header(), session.predict, defaults, jobs, sink, show));
    } else if (layout.kind == TableKind::kPower) {
      predict_rows(PowerBatch(table.header(), options.model.set, options.model.factors, sink));
    } else if (layout.kind == TableKind::kEnergyRuns) {
      predict_rows(EnergyRunBatch(table.header(), session.predict, defaults, jobs, sink, show));
    } else {
      KernelOptions kernels = options.kernels;
      kernels.factors.folder = options.model.factors;
      predict_rows(KernelBatch(kernel_answer(layout, table.header(), kernels, options.model.set),
                               jobs, sink, show));
    }
  }
  for (const std::string& text : assumed.texts(rows)) {
    session.say("foretell: " + text);
    page.note(text);
  }
  if (format == Format::kHtml) {
    ReportContent content = page.content();
    content.title = page_title(options.table);
    output.write(html_report(content));
  } else if (!streams) {
    if (format != Format::kTsv) drop_empty(passed.size(), rows_written);
    output.write(rows_text(rows_written, format));
  }
  output.finish();
  session.detail(std::to_string(rows) + " rows of kind " + layout.name);
  if (failed > 0) {
    session.say("foretell: " + std::to_string(failed) + " of " + std::to_string(rows) +
                " rows failed; their column 'message' says why");
  }
  const bool is_interrupted = StopSignals::received() != 0;
  if (is_interrupted) {
    CsvRow row;
    for (std::string problem; next_left_row(table, row, problem);) ++open;
    session.say("foretell: " + interruption_text(table, rows, rows + open));
  }
  return failed > 0 || is_interrupted ? kOutsideTolerance : kSuccess;
}

}  // namespace

void add_predict_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<PredictOptions>();
  CLI::App* command = app.add_subcommand("predict", "Predict every row of a table");
  command->footer(
      "The table is CSV, also compressed as .csv.gz; \"-\" is standard input. Columns are added, "
      "in\n"
      "place of older ones of these names (pred_..., status, message), and no others are changed; "
      "a\n"
      "row that fails keeps its place with status=error and a message.\n"
      "Example:\n"
      "  printf 'system,workload,batch,seq_len,compute_dtype\\n"
      "inf2.xlarge,bert-base-uncased,8,128,bf16\\n' | foretell predict -");
  command->add_option("table", options->table, "the table")->required()->transform(measured_table);
  add_option(*command, "-o,--output", options->output, "FILE",
             "file for the result (default: standard output)");
  add_option(*command, "--format", options->format, "FORM",
             "csv (default), json: an object per line, table or md; -o x.html writes a page");
  take_format_of_ending(*command, options->format);
  add_option(*command, "--jobs", options->jobs, "N", "processes (default: one per processor)");
  command->add_flag(
      "--energy", options->energy,
      "of tables of models and of services: columns for watts of the boards and at the "
      "wall, and joules of a token and a sample");
  add_field_options(*command, options->model, {"power-limit"});
  add_model_options(*command, options->model);
  add_kernel_options(*command, options->kernels);
  set_action(*command, session, [options, &session] { return predict_table(*options, session); });
}

}  // namespace foretell

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "calib/import/check_measurements.hpp"
#include "calib/import/read_measurements.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/command/calibrate/calibrate_commands.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/tables/kinds/attention_block_rows.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/app/tables/kinds/layer_table_rows.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/app/tables/table_request.hpp"
#include "model/app/terminal/options.hpp"
#include "model/base/errors.hpp"
#include "model/timing/gpu/gemm_library.hpp"
#include "reports/record/json_text.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

// Reads a row as what uses it does; UserError for one that it refuses.
using Check = std::function<void(const CsvRow&)>;

// Operators of a CPU are read as the records that they were.
Check cpu_check(const MeasuredTable& table) {
  for (const char* column : {"system", "threads"}) {
    if (has_column(table.header, column)) continue;
    throw UserError(fmt::format(
        "1: no column {}: a table of operators is of GPUs, in a column gpu (`foretell list "
        "devices`), or of a CPU, in the columns system, op, dtype, threads and those of the shape, "
        "as `foretell calibrate measure --device cpu` records them",
        column));
  }
  return [](const CsvRow&) {};
}

Check operator_check(const MeasuredTable& table) {
  if (!has_column(table.header, "gpu")) return cpu_check(table);
  return [cells = NamedCells(table.header)](const CsvRow& row) {
    const OperatorRow read = read_operator_row(cells, row);
    if (read.op->kind != OperatorKind::kPass) gemm_type(read.dtype);
  };
}

Check check_of(const MeasuredTable& table) {
  const NamedCells cells(table.header);
  switch (table.kind) {
    case TableKind::kGemm:
      return [cells](const CsvRow& row) { gemm_type(read_gemm_row(cells, row).dtype); };
    case TableKind::kAttention:
      return [cells](const CsvRow& row) { read_attention_row(cells, row); };
    case TableKind::kCollective:
      return [cells](const CsvRow& row) { read_collective_row(cells, row); };
    case TableKind::kOperator:
      return operator_check(table);
    case TableKind::kLayerKernels: {
      const LayerKind kind = layer_kind_of(recognise_table(table.header, table.name));
      return [cells, kind](const CsvRow& row) { read_layer_row(kind, cells, row); };
    }
    case TableKind::kAttentionBlocks:
      return [cells](const CsvRow& row) { read_attention_block_row(cells, row); };
    case TableKind::kModels:
      return [reader = RowReader(recognise_table(table.header, table.name), table.header, {})](
                 const CsvRow& row) { check_names(reader.request(row)); };
    case TableKind::kServing:
    case TableKind::kPower:
    case TableKind::kEnergyRuns:
      break;
  }
  return [](const CsvRow&) {};
}

// "t.csv:2: op: unknown op 'sofmax' …" for rows that predict, validate and calibrate fit refuse:
// each problem once, with how many more rows have it. Parts that nothing reads ("operator.other")
// have none.
std::vector<std::string> unreadable_rows(const MeasuredTable& table, const std::string& path) {
  if (table.name.find(".other") != std::string::npos) return {};
  Check check;
  try {
    check = check_of(table);
  } catch (const UserError& error) {
    return {path + ":" + error.what()};
  }
  const GpuCatalog catalog;
  std::vector<std::pair<std::string, std::size_t>> problems;  // with the row of the first
  std::map<std::string, std::size_t> more;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    try {
      if (const std::string gpu = table.cell(i, "gpu"); !gpu.empty()) catalog.find_system(gpu);
      check(table.rows[i]);
    } catch (const UserError& error) {
      const auto [known, is_new] = more.emplace(error.what(), 0);
      if (is_new) {
        problems.emplace_back(error.what(), i);
      } else {
        ++known->second;
      }
    }
  }
  std::size_t unreadable = problems.size();
  for (const auto& [problem, count] : more) unreadable += count;
  // Some published networks are always of a kind that is not modelled.
  if (table.kind == TableKind::kModels && unreadable < table.rows.size()) return {};
  std::vector<std::string> texts;
  for (const auto& [problem, row] : problems) {
    texts.push_back(fmt::format("{}:{}: {}", path, table.lines[row], problem));
    if (more[problem] > 0) texts.back() += fmt::format(" (and {} more rows)", more[problem]);
  }
  return texts;
}

namespace fs = std::filesystem;

constexpr double kMaxPercent = 1000;
constexpr std::int64_t kMaxRows = 1'000'000'000;

struct ImportCommandOptions {
  std::string table;
  std::string output;
  MeasurementProvenance provenance;
  std::string provenance_file;
  std::string tolerance = "25";
  std::string least_rows = "12";
  std::string format = "csv";
};

MeasurementProvenance given_provenance(const ImportCommandOptions& options) {
  MeasurementProvenance given = options.provenance;
  if (options.provenance_file.empty()) return given;
  const MeasurementProvenance file = load_provenance(options.provenance_file);
  const auto fill = [](std::string& value, const std::string& otherwise) {
    if (value.empty()) value = otherwise;
  };
  fill(given.source, file.source);
  fill(given.machine, file.machine);
  fill(given.date, file.date);
  fill(given.software, file.software);
  return given;
}

// One part goes to the file that was asked for, several to files beside it with their names.
std::string path_of(const ImportCommandOptions& options, const MeasuredTable& table, bool alone) {
  if (alone || options.output == "-") return options.output;
  const fs::path wanted(options.output);
  return (wanted.parent_path() /
          (wanted.stem().string() + "." + table.name + wanted.extension().string()))
      .string();
}

// How a part is predicted as it was measured.
std::string how_to_validate(const MeasuredTable& table, const std::string& path) {
  std::string command = "foretell validate " + path;
  if (table.name.find(".warm") != std::string::npos) command += " --l2 warm";
  if (table.name.find(".stream") != std::string::npos) command += " --launch stream";
  if (table.name.find(".sustained") != std::string::npos) command += " --clock sustained";
  return command;
}

// An object per line; cells that are numbers are numbers.
std::string measured_table_json(const MeasuredTable& table) {
  std::string text;
  for (const CsvRow& row : table.rows) {
    text += "{";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += (i > 0 ? "," : "") + json_text(table.header[i]) + ":";
      const bool is_name = table.header[i] == "version" || table.header[i] == "sdk";
      text += is_name ? json_text(row[i]) : json_number_or_text(row[i]);
    }
    text += "}\n";
  }
  return text;
}

int import_measurements(const ImportCommandOptions& options, const Session& session) {
  ImportRules rules;
  rules.tolerance = parse_positive("--tolerance", options.tolerance, kMaxPercent) / 100;
  rules.least_rows =
      static_cast<std::size_t>(parse_count("--min-rows", options.least_rows, 1, kMaxRows));
  if (options.format != "csv" && options.format != "json")
    throw unknown_name("format", options.format, {"csv", "json"});
  check_not_same_file(options.table, options.output);
  std::vector<std::string> problems;
  const std::vector<MeasuredTable> tables =
      read_measurements(options.table, given_provenance(options), problems);
  if (tables.empty() && problems.empty()) {
    throw UserError(options.table + ": has no measurement");
  }
  if (tables.size() > 1 && options.output == "-") {
    throw UserError("the measurements are of several kinds; give a file with -o");
  }
  for (const MeasuredTable& table : tables) {
    for (std::string& problem : measurement_problems(table, options.table, rules)) {
      problems.push_back(std::move(problem));
    }
    for (std::string& problem : unreadable_rows(table, options.table)) {
      problems.push_back(std::move(problem));
    }
  }
  refuse_problems(problems, "nothing was imported");
  std::set<std::string> said;
  for (const MeasuredTable& table : tables) {
    for (const std::string& note : table.notes) {
      if (said.insert(note).second) session.say("foretell: read " + note);
    }
  }
  const bool as_json = options.format == "json";
  for (const MeasuredTable& table : tables) {
    const std::string path = path_of(options, table, tables.size() == 1);
    OutputFile file(path);
    file.write(as_json ? measured_table_json(table) : measured_table_text(table));
    file.finish();
    session.say(fmt::format("foretell: {} rows of kind {} written{}", table.rows.size(), table.name,
                            as_json ? "" : "; " + how_to_validate(table, path)));
  }
  return kSuccess;
}

}  // namespace

void add_calibrate_import_command(CLI::App& calibrate, Session& session) {
  const auto options = std::make_shared<ImportCommandOptions>();
  CLI::App* command = calibrate.add_subcommand(
      "import", "Check measurements and write them as a table of this project");
  command->footer(
      "Read are CSV tables of the kinds of predict (models, gemm, attention, collective, "
      "operator),\n"
      "times in a column latency_us, latency_ms, latency_s or latency_ns, and the records of\n"
      "calibrate measure. Times that cannot be and rows that contradict each other are refused.\n"
      "Records of several kinds become several files: FILE.gemm.csv, FILE.operator.csv …\n"
      "Example:\n"
      "  foretell calibrate import theirs.csv -o table.csv --source 'J. Doe, example.org/bench' "
      "\\\n"
      "    --machine 'NVIDIA H100 SXM, driver 580' --date 2026-01-31");
  command->add_option("table", options->table, "CSV or JSON lines, also compressed")->required();
  add_option(*command, "-o,--output", options->output, "FILE", "the table (\"-\": standard output)")
      ->required();
  add_option(*command, "--source", options->provenance.source, "TEXT", "who measured");
  add_option(*command, "--machine", options->provenance.machine, "TEXT", "on what");
  add_option(*command, "--date", options->provenance.date, "DATE", "when, as 2026-01-31");
  add_option(*command, "--software", options->provenance.software, "TEXT",
             "libraries and versions");
  add_option(*command, "--provenance", options->provenance_file, "FILE",
             "YAML with source, machine, date and software instead");
  add_option(*command, "--tolerance", options->tolerance, "PERCENT",
             "percent that two measurements of one shape may differ by (default: 25)");
  add_option(*command, "--format", options->format, "FORM",
             "csv (default), which validate and fit read, or json: an object per line");
  add_option(*command, "--min-rows", options->least_rows, "N",
             "refuse tables with fewer rows (default: 12)");
  set_action(*command, session,
             [options, &session] { return import_measurements(*options, session); });
}

}  // namespace foretell

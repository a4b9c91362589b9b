#include "model/app/tables/sample_collector.hpp"

#include <algorithm>
#include <string_view>

#include "calib/validate/left_out_rows.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

// Is a column a bare number that says nothing without its name?
bool is_size(std::string_view column) {
  static const std::set<std::string_view> kWords = {
      "id",   "gpu",   "workload", "framework", "op",      "phase", "dtype",   "shape",
      "conv", "cache", "system",   "model",     "backend", "mode",  "version", "compute_dtype"};
  return kWords.count(column) == 0;
}

// What tells rows of networks apart that have no name.
bool tells_networks_apart(std::string_view column) {
  static const std::set<std::string_view> kColumns = {"system",    "compute_dtype", "seq_len",
                                                      "input_len", "output_len",    "tp"};
  return kColumns.count(column) > 0;
}

// Does a column say what was run? Not what came out, when, with which release of the vendor's
// compiler, and where it was published.
bool is_condition(const std::string& column) {
  static const std::set<std::string> kOthers = {"id",
                                                "use",
                                                "latest",
                                                "flags",
                                                "source",
                                                "sdk",
                                                "inflight",
                                                "spread",
                                                "round",
                                                "watts",
                                                "measured",
                                                "dump",
                                                "copy_of",
                                                "image",
                                                "usable",
                                                "wip",
                                                "throughput",
                                                "throughput_unit",
                                                "framework_version"};
  const bool is_time = column.size() > 3 && (column.compare(column.size() - 3, 3, "_ms") == 0 ||
                                             column.compare(column.size() - 3, 3, "_us") == 0);
  return !is_time && column != "power_w" && kOthers.count(column) == 0;
}

std::string measured_names(const TableLayout& layout) {
  std::vector<std::string> names;
  for (const MeasuredColumn& column : layout.measured) {
    if (names.empty() || names.back() != column.measured) names.push_back(column.measured);
  }
  return join(names, ", ");
}

// A latency in another unit than the one that is compared, and the command that converts it.
std::string other_unit_of(const TableLayout& layout, const CsvRow& header) {
  const std::string ours = layout.measured.front().measured;
  for (const char* name : {"latency_ms", "latency_s", "latency_ns"}) {
    if (ours == "latency_us" && has_column(header, name))
      return std::string("; `foretell calibrate import` converts ") + name;
  }
  return "";
}

}  // namespace

SampleCollector::SampleCollector(const TableLayout& layout, const CsvRow& header,
                                 const std::vector<std::string>& by,
                                 const std::vector<std::string>& quantities) {
  for (const std::string& name : by) group_columns_.push_back(find_column(header, name));
  const auto counts = [&quantities](const std::string& quantity) {
    return quantities.empty() ||
           std::find(quantities.begin(), quantities.end(), quantity) != quantities.end();
  };
  for (const MeasuredColumn& column : layout.measured) {
    if (has_column(header, column.measured) && counts(column.quantity)) {
      measured_.emplace_back(find_column(header, column.measured), column);
    }
  }
  if (layout.kind == TableKind::kServing && counts(ServedRate::kQuantity))
    rate_ = ServedRate::of_table(header);
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool is_read = header[i] != "notes" || layout.noted_conditions;
    if (is_read && is_condition(header[i])) condition_columns_.push_back(i);
  }
  if (has_column(header, "throughput_unit")) unit_column_ = find_column(header, "throughput_unit");
  // A row that has a name is known by it.
  const bool is_named = has_column(header, "id");
  for (const char* name :
       {"id",       "gpu",      "system",  "workload",  "model",      "framework", "backend",
        "version",  "mode",     "op",      "phase",     "dtype",      "kv_dtype",  "compute_dtype",
        "shape",    "batch",    "seq_len", "input_len", "output_len", "tp",        "b",
        "m",        "n",        "k",       "n_embd",    "n_ffn",      "rows",      "cols",
        "conv",     "n_ranks",  "n_gpus",  "bytes",     "isl",        "kv_len",    "heads",
        "kv_heads", "head_dim", "window",  "threads",   "cache"}) {
    if (!has_column(header, name) || (is_named && tells_networks_apart(name))) continue;
    name_columns_.emplace_back(find_column(header, name), is_size(name) ? name : "");
  }
  const char* const network = has_column(header, "workload") ? "workload" : "model";
  if (layout.kind == TableKind::kModels) network_ = find_column(header, network);
  if (measured_.empty()) {
    throw UserError("the table has none of the measured columns of its kind (" + layout.name +
                    ": " + measured_names(layout) + "); nothing to compare" +
                    other_unit_of(layout, header));
  }
}

bool SampleCollector::is_measured(const CsvRow& row) const {
  bool any = false;
  for (const auto& [index, column] : measured_) {
    if (read_measurement(column.measured, row[index])) any = true;
  }
  return any;
}

bool SampleCollector::is_below_clock(const CsvRow& row) const {
  return std::any_of(measured_.begin(), measured_.end(), [&row](const auto& entry) {
    return foretell::is_below_clock(entry.second.measured, row[entry.first]);
  });
}

void SampleCollector::drop(const std::set<std::size_t>& lines) {
  if (lines.empty()) return;
  samples_.erase(
      std::remove_if(samples_.begin(), samples_.end(),
                     [&lines](const Sample& sample) { return lines.count(sample.line) > 0; }),
      samples_.end());
}

void SampleCollector::collect(const CsvRow& row, std::size_t line, const RowPrediction& prediction,
                              bool judges_interval) {
  for (const auto& [index, column] : measured_) {
    const std::optional<double> measured = read_measurement(column.measured, row[index]);
    const auto predicted = prediction.values.find(column.predicted);
    if (!measured || predicted == prediction.values.end() || !allows(row, column)) continue;
    Sample sample = sample_of(row, line, prediction);
    sample.quantity = column.quantity;
    sample.comparison = {*measured, predicted->second, std::nullopt};
    const auto interval = prediction.intervals.find(column.quantity);
    if (judges_interval && interval != prediction.intervals.end()) {
      sample.comparison.interval80 = interval->second;
    }
    samples_.push_back(std::move(sample));
  }
  if (rate_) collect_rate(row, line, prediction, judges_interval);
}

Sample SampleCollector::sample_of(const CsvRow& row, std::size_t line,
                                  const RowPrediction& prediction) const {
  Sample sample;
  for (const std::size_t group : group_columns_) sample.group.push_back(row[group]);
  sample.row = name_of(row);
  sample.line = line;
  sample.parts = prediction.parts;
  if (network_) sample.network = row[*network_];
  return sample;
}

void SampleCollector::collect_rate(const CsvRow& row, std::size_t line,
                                   const RowPrediction& prediction, bool judges_interval) {
  const std::optional<double> measured = rate_->measured(row);
  const std::map<std::string, double>& values = prediction.values;
  if (values.count("pred_ttft_ms") == 0) return;
  const std::optional<double> predicted =
      rate_->of_times(row, values.at("pred_ttft_ms"), values.at("pred_tpot_ms"));
  if (!measured || !predicted) return;
  Sample sample = sample_of(row, line, prediction);
  sample.quantity = ServedRate::kQuantity;
  sample.comparison = {*measured, *predicted, std::nullopt};
  const auto simulated = values.find("pred_output_tokens_per_s");
  if (judges_interval && simulated != values.end()) {
    const double scale = *predicted / simulated->second;
    sample.comparison.interval80 = Interval{scale * values.at("pred_output_tokens_per_s_lo"),
                                            scale * values.at("pred_output_tokens_per_s_hi")};
  }
  samples_.push_back(std::move(sample));
}

void SampleCollector::collect_divided(const CsvRow& row, std::size_t line,
                                      const RowPrediction& prediction, bool judges_interval,
                                      Part part, const std::string& group) {
  const std::size_t before = samples_.size();
  collect(row, line, prediction, judges_interval);
  for (std::size_t i = before; i < samples_.size(); ++i) {
    samples_[i].division = part;
    samples_[i].divided_by = group;
  }
}

void SampleCollector::note_repeat(const CsvRow& row) {
  std::string conditions;
  for (const std::size_t column : condition_columns_) conditions += row[column] + '\n';
  for (const auto& [index, column] : measured_) {
    const std::optional<double> measured = read_measurement(column.measured, row[index]);
    if (measured && allows(row, column)) repeats_.add(column.quantity, conditions, *measured);
  }
}

bool SampleCollector::allows(const CsvRow& row, const MeasuredColumn& column) const {
  if (column.unit_part.empty()) return true;
  return unit_column_ && row[*unit_column_].find(column.unit_part) != std::string::npos;
}

std::string SampleCollector::name_of(const CsvRow& row) const {
  std::vector<std::string> parts;
  for (const auto& [column, shown] : name_columns_) {
    if (row[column].empty()) continue;
    parts.push_back(shown.empty() ? row[column] : shown + ' ' + row[column]);
  }
  return join(parts, " ");
}

}  // namespace foretell

#include "model/app/command/table_accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "calib/import/check_measurements.hpp"
#include "calib/import/contradictions.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/part.hpp"
#include "model/app/command/calibrate/cpu_records.hpp"
#include "model/app/command/kernel_options.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/tables/held_out_rows.hpp"
#include "model/app/tables/kinds/assumed_values.hpp"
#include "model/app/tables/kinds/energy_run_rows.hpp"
#include "model/app/tables/kinds/kernel_batch.hpp"
#include "model/app/tables/kinds/power_rows.hpp"
#include "model/app/tables/kinds/serving_batch.hpp"
#include "model/app/tables/kinds/unstated_loads.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/tables/sample_collector.hpp"
#include "model/app/tables/stopped_table.hpp"
#include "model/app/tables/uncounted/contradicted_times.hpp"
#include "model/app/tables/uncounted/excess_times.hpp"
#include "model/app/tables/uncounted/impossible_times.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/workers/stop_signals.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr const char* kTrusted = "use=yes";
constexpr const char* kLatest = "latest=1";
constexpr const char* kCallColumn = "call_ms";

RowFilter filter_of(const AccuracyQuestion& question, const CsvRow& header) {
  RowFilter filter;
  if (has_column(header, "use") && !question.all_rows) filter.require(kTrusted, header);
  if (question.latest) filter.require(kLatest, header);
  for (const std::string& condition : question.where) filter.require(condition, header);
  return filter;
}

// With the measured watts and joules, where they are asked for.
TableLayout layout_of(const AccuracyQuestion& question, const CsvRow& header) {
  TableLayout layout = recognise_table(header, question.table);
  if (!question.energy) return layout;
  if (layout.kind == TableKind::kPower || layout.kind == TableKind::kEnergyRuns) return layout;
  std::vector<std::string> names;
  const std::size_t before = layout.measured.size();
  for (const MeasuredColumn& column : energy_quantities()) {
    names.push_back(column.measured);
    if (has_column(header, column.measured)) layout.measured.push_back(column);
  }
  const bool is_of_calls = layout.kind == TableKind::kModels || layout.kind == TableKind::kServing;
  if (!is_of_calls || layout.measured.size() == before) {
    throw UserError(
        "--energy: the table has no measured energy, which tables of models and of "
        "services state in the columns " +
        join(names, ", ") + "; leave it out");
  }
  return layout;
}

// Rows that do not count, by what keeps them out.
struct RowsOut {
  std::size_t filtered = 0;  // by conditions, or because factors were fitted to them
  std::size_t in_vault = 0;  // which is closed
  std::size_t empty = 0;     // nothing was measured
  LeftOutRows below_clock;   // a time of zero
  LeftOutRows impossible;    // a time that no machine takes
  LeftOutRows refused_load;  // served otherwise than the row states
  LeftOutRows refused;       // a measurement that cannot be
  LeftOutRows failed;        // no prediction
};

void add_notes(const RowsOut& out, const std::string& counts, AccuracyReport& report) {
  report.notes.push_back(counts);
  if (out.in_vault > 0) {
    report.notes.push_back(
        fmt::format("{} rows of the vault stay closed (--vault opens it)", out.in_vault));
  }
  const auto add = [&report](const LeftOutRows& rows) {
    for (const std::string& text : rows.texts()) report.notes.push_back("does not count: " + text);
  };
  add(out.refused);
  add(out.below_clock);
  if (out.impossible.count() > 0) {
    report.notes.push_back(
        fmt::format("{} rows with a time that cannot be do not count", out.impossible.count()));
  }
  add(out.impossible);
  add(out.refused_load);
  for (const std::string& text : out.failed.texts()) {
    report.notes.push_back("without a prediction: " + text);
  }
}

// Why nothing is left of `read` rows, and what to do.
[[noreturn]] void refuse_empty(const AccuracyQuestion& question, std::size_t read,
                               const RowFilter& filter, const RowsOut& out) {
  std::string text = question.table + ": no row counts";
  if (read == 0) throw UserError(text + "; the table has no rows");
  const auto add = [&text](std::size_t count, const std::string& why) {
    if (count > 0) text += fmt::format("; {} {}", count, why);
  };
  add(out.filtered, out.filtered == 1 ? "is left out by" : "are left out by");
  if (out.filtered > 0) {
    const std::string conditions = filter.text();
    text += " " + (conditions.empty() ? std::string("--held-out or --part") : conditions);
    const bool by_use = conditions.find(kTrusted) != std::string::npos;
    if (by_use) text += " (--all-rows takes rows of any use)";
    text += filter.unmet();
  }
  add(out.in_vault,
      out.in_vault == 1 ? "is in the vault, which is closed" : "are in the vault, which is closed");
  add(out.empty, "without a measurement");
  add(out.refused.count(), "with a measurement that cannot be");
  add(out.below_clock.count(), "with a time of 0");
  add(out.impossible.count(), "with a time that cannot be");
  add(out.refused_load.count(), "with a load that its times contradict");
  for (const LeftOutRows* rows :
       {&out.refused, &out.below_clock, &out.impossible, &out.refused_load}) {
    for (const std::string& reason : rows->texts()) text += "\n" + reason;
  }
  throw UserError(text);
}

class TableComparison {
 public:
  TableComparison(const AccuracyQuestion& question, const Session& session)
      : question_(question),
        table_(question.table, CsvReader::Names::kLowerCase),
        layout_(layout_of(question, table_.header())),
        filter_(filter_of(question, table_.header())),
        held_out_(counting_rows()),
        in_vault_(closed_rows()),
        part_(row_part(layout_, table_.header())),
        group_(row_group(layout_, table_.header())),
        // No row of a GPU whose factors are left out took part in anything.
        judges_interval_(question.kernels.factors.held_out_device.empty()
                             ? judges_interval_test(layout_, table_.header())
                             : always()),
        contradictions_(layout_, table_.header(), ImportRules{}.tolerance),
        impossible_(ImpossibleTimes::load(layout_, table_.header())),
        excess_(excess_times(question.table, layout_, table_.header())),
        contradicted_times_(contradicted_times(question.table, layout_, table_.header())),
        unstated_(UnstatedLoads::load(layout_, table_.header())),
        call_(has_column(table_.header(), kCallColumn)
                  ? std::optional<std::size_t>(find_column(table_.header(), kCallColumn))
                  : std::nullopt),
        collector_(layout_, table_.header(), question.by, question.quantities),
        progress_(session, "validating"),
        session_(session) {}

  AccuracyReport report() {
    const auto sink = [this](const CsvRow& row, const RowPrediction& prediction) {
      take(row, prediction);
    };
    const auto show = [this](double share) {
      const double done = before_block_ + share * (table_.consumed() - before_block_);
      question_.progress ? question_.progress(done) : progress_.update(done);
    };
    const Request defaults = defaults_of_table(question_.model, layout_);
    if (layout_.kind == TableKind::kModels) {
      for (const std::string& text : unread_columns(table_.header()))
        session_.say("foretell: " + text);
      const RowReader reader(layout_, table_.header(), defaults);
      predict_rows(BatchPredictor(reader, session_.predict, question_.jobs, sink, show));
    } else if (layout_.kind == TableKind::kServing) {
      predict_rows(
          ServingBatch(table_.header(), session_.predict, defaults, question_.jobs, sink, show));
    } else if (layout_.kind == TableKind::kPower) {
      predict_rows(PowerBatch(table_.header(), question_.model.set, question_.model.factors, sink));
    } else if (layout_.kind == TableKind::kEnergyRuns) {
      predict_rows(
          EnergyRunBatch(table_.header(), session_.predict, defaults, question_.jobs, sink, show));
    } else {
      KernelOptions kernels = question_.kernels;
      kernels.factors.folder = question_.model.factors;
      predict_rows(
          KernelBatch(kernel_answer(layout_, table_.header(), kernels, question_.model.set),
                      question_.jobs, sink, show));
    }
    collector_.drop(contradicted_);
    const bool is_stopped = StopSignals::received() != 0;
    if (collector_.samples().empty() && out_.failed.count() == 0 && !is_stopped) {
      refuse_empty(question_, read_, filter_, out_);
    }
    AccuracyReport report = build_report(shown_samples(), question_.by, question_.worst);
    report.rows = std::min(done_, asked_);
    if (is_stopped) report.mark_interrupted(interruption_text(table_, report.rows, asked_));
    if (!question_.parts_of.empty()) {
      const std::string rows =
          is_stopped ? fmt::format(", {} of {} rows", report.rows, asked_) : "";
      report.parts = accuracy_by_part(collector_.samples(), collector_.repeats(),
                                      question_.parts_of + rows, out_.in_vault > 0);
    }
    report.failed = out_.failed.count();
    report.refused = out_.refused.count() + contradicted_.size();
    add_notes(out_, counts_text(), report);
    for (std::string& text : assumed_.texts(done_)) report.notes.push_back(std::move(text));
    return report;
  }

 private:
  static RowTest always() {
    return [](const CsvRow&) { return true; };
  }

  // With all parts shown apart, the rest of the report is still of the rows that are asked for.
  std::vector<Sample> shown_samples() const {
    if (question_.parts_of.empty() || !question_.held_out) return collector_.samples();
    std::vector<Sample> shown;
    for (const Sample& sample : collector_.samples()) {
      if (sample.division != Part::kFit) shown.push_back(sample);
    }
    return shown;
  }

  RowTest counting_rows() const {  // by --held-out and --part
    if (!question_.parts_of.empty()) return resolved_test(layout_, table_.header());
    if (!question_.part.empty()) {
      return part_test(layout_, table_.header(), parse_part(question_.part));
    }
    return question_.held_out ? held_out_test(layout_, table_.header()) : always();
  }

  // The vault of the project's tables is closed unless it is named; other tables have none.
  RowTest closed_rows() const {
    if (!question_.part.empty() || question_.vault || !is_project_table(question_.table)) {
      return [](const CsvRow&) { return false; };
    }
    const RowPart of = row_part(layout_, table_.header());
    return [of](const CsvRow& row) { return of(row) == Part::kVault; };
  }

  template <class Batch>
  void predict_rows(Batch&& batch) {
    CsvRow row;
    std::string problem;
    while (next_row(table_, row, problem)) {
      if (!is_asked(row, problem)) continue;
      lines_.push_back(table_.line());
      batch.add(std::move(row), problem);
    }
    batch.finish();
    if (StopSignals::received() == 0) return;
    while (next_left_row(table_, row, problem)) is_asked(row, problem);
  }

  bool is_asked(const CsvRow& row, const std::string& problem) {
    ++read_;
    if (problem.empty() && !counts(row)) return false;
    ++asked_;
    return true;
  }

  // Does a row count? What it misses is noted.
  bool counts(const CsvRow& row) {
    const std::size_t line = table_.line();
    const auto is_open = [this](const CsvRow& one) {
      return !in_vault_(one) && (question_.part.empty() || held_out_(one));
    };
    filter_.note_where(is_open, row);
    if (!filter_.accepts(row) || !holds(held_out_, row, true)) {
      ++out_.filtered;
      return false;
    }
    if (holds(in_vault_, row, false)) {
      ++out_.in_vault;
      return false;
    }
    try {
      if (!collector_.is_measured(row)) {
        ++out_.empty;
        return false;
      }
    } catch (const UserError& error) {
      if (collector_.is_below_clock(row)) {
        out_.below_clock.add("a time of 0 is shorter than the clock of the measurement shows",
                             line);
      } else {
        out_.refused.add(error.what(), line);
      }
      return false;
    }
    if (const auto reason = impossible_.reason(row)) {
      out_.impossible.add(*reason, line);
      return false;
    }
    if (const auto reason = excess_.reason(line)) {
      out_.impossible.add(*reason, line);
      return false;
    }
    if (const auto reason = contradicted_times_.reason(line)) {
      out_.impossible.add(*reason, line);
      return false;
    }
    if (const auto reason = unstated_.reason(row)) {
      out_.refused_load.add(*reason, line);
      return false;
    }
    const std::vector<Contradiction> found = contradictions_.add(row, line);
    if (!found.empty()) {
      std::string differences;
      for (const Contradiction& one : found) {
        differences += fmt::format("{}: {}; ", one.column, one.difference);
        if (contradicted_.insert(one.line).second && left_out_.count(one.line) == 0) --asked_;
      }
      out_.refused.add(differences + "neither counts", line);
      return false;
    }
    if (!question_.parts_of.empty()) collector_.note_repeat(row);
    if (is_sampled(row)) return true;
    left_out_.insert(line);
    return false;
  }

  std::string counts_text() const {
    std::string text = fmt::format("{} of {} rows count", asked_, read_);
    if (!filter_.text().empty()) text += ": " + filter_.text();
    if (question_.every > 1) {
      text += fmt::format("; one row in {} of a group, from the first", question_.every);
    }
    return text;
  }

  // A row whose group cannot be read counts: it has no prediction, which says why.
  bool is_sampled(const CsvRow& row) {
    if (question_.every <= 1) return true;
    try {
      return seen_[group_(row)]++ % question_.every == 0;
    } catch (const UserError&) {
      return true;
    }
  }

  // A row that cannot be read has no prediction, which says why.
  static bool holds(const RowTest& test, const CsvRow& row, bool otherwise) {
    try {
      return test(row);
    } catch (const UserError&) {
      return otherwise;
    }
  }

  void take(const CsvRow& row, const RowPrediction& prediction) {
    const std::size_t line = lines_.front();
    lines_.pop_front();
    if (prediction.is_open) return;
    ++done_;
    assumed_.add(prediction.assumed);
    before_block_ = table_.consumed();
    if (is_too_short(row, prediction)) {
      out_.impossible.add(
          "call_ms: less than the weights and the keys and values of the prompts take to be read "
          "for each token at the published rate of the memory",
          line);
      --asked_;
    } else if (prediction.error.empty()) {
      collect(row, line, prediction);
    } else {
      out_.failed.add(prediction.error, line);
    }
  }

  bool is_too_short(const CsvRow& row, const RowPrediction& prediction) const {
    if (!call_ || prediction.least_call_ms == 0) return false;
    const std::optional<double> measured = read_measurement(kCallColumn, row[*call_]);
    return measured && *measured < prediction.least_call_ms;
  }

  void collect(const CsvRow& row, std::size_t line, const RowPrediction& prediction) {
    if (question_.parts_of.empty()) {
      collector_.collect(row, line, prediction, judges_interval_(row));
    } else {
      collector_.collect_divided(row, line, prediction, judges_interval_(row), part_(row),
                                 group_(row));
    }
  }

  const AccuracyQuestion& question_;
  CsvReader table_;
  TableLayout layout_;
  RowFilter filter_;
  RowTest held_out_;
  RowTest in_vault_;
  RowPart part_;
  RowGroup group_;
  RowTest judges_interval_;
  Contradictions contradictions_;
  ImpossibleTimes impossible_;
  UncountedLines excess_;
  UncountedLines contradicted_times_;
  UnstatedLoads unstated_;
  std::optional<std::size_t> call_;  // its column
  SampleCollector collector_;
  Progress progress_;
  const Session& session_;
  RowsOut out_;
  AssumedValues assumed_;
  std::set<std::size_t> contradicted_;        // lines of rows that a later one contradicts
  std::unordered_set<std::size_t> left_out_;  // lines that --every leaves out
  std::map<std::string, std::int64_t> seen_;  // rows of a group
  std::deque<std::size_t> lines_;             // of the rows that wait for their prediction
  std::size_t read_ = 0;
  std::size_t asked_ = 0;
  std::size_t done_ = 0;  // of those asked; the others had to wait when a signal came
  double before_block_ = 0;
};

// The same of records of a CPU, or of a table that was made of them.
AccuracyReport accuracy_of_records(const AccuracyQuestion& question, const Session& session) {
  static const TableLayout& layout = recognise_table({"op", "dtype"}, question.table);
  const CpuRecords records(question.table,
                           {question.system, question.model.factors, question.model.set}, session);
  RowFilter filter;
  const bool all_parts = !question.parts_of.empty();
  if (question.held_out && !all_parts) filter.require("held_out=yes", CpuRecords::header());
  if (!question.part.empty()) {
    const std::string part = part_name(parse_part(question.part));
    filter.require("part=" + part, CpuRecords::header());
  } else if (is_project_table(question.table) && !question.vault) {
    filter.require("part=fit,judge", CpuRecords::header());
  }
  for (const std::string& condition : question.where) {
    filter.require(condition, CpuRecords::header());
  }
  if (question.every > 1) {
    throw UserError("--every: records of a CPU are few; leave it out");
  }
  SampleCollector collector(layout, CpuRecords::header(), question.by);
  std::size_t read = 0;
  bool has_closed_vault = false;
  RowsOut out;
  records.each([&](const CsvRow& row, std::size_t line, const RowPrediction& prediction) {
    ++read;
    const auto part_of = [](const CsvRow& one) {
      return parse_part(one[find_column(CpuRecords::header(), "part")]);
    };
    filter.note_where(
        [&](const CsvRow& one) { return question.vault || part_of(one) != Part::kVault; }, row);
    if (filter.accepts(row)) {
      const auto cell = [&row](const char* name) {
        return row[find_column(CpuRecords::header(), name)];
      };
      if (all_parts) collector.note_repeat(row);
      collector.collect_divided(row, line, prediction, true, parse_part(cell("part")),
                                cell("class") + " " + cell("shape"));
    } else {
      ++out.filtered;
      const std::string& part = row[find_column(CpuRecords::header(), "part")];
      has_closed_vault = has_closed_vault || parse_part(part) == Part::kVault;
    }
  });
  const std::size_t asked = read - out.filtered;
  if (asked == 0) refuse_empty(question, read, filter, out);
  std::vector<Sample> shown;
  for (const Sample& sample : collector.samples()) {
    const bool is_asked = !all_parts || !question.held_out || sample.division != Part::kFit;
    if (is_asked) shown.push_back(sample);
  }
  AccuracyReport report = build_report(shown, question.by, question.worst);
  if (all_parts) {
    report.parts = accuracy_by_part(collector.samples(), collector.repeats(), question.parts_of,
                                    has_closed_vault);
  }
  report.rows = asked;
  add_notes(out,
            fmt::format("{} of {} points count{}{}", asked, read, filter.text().empty() ? "" : ": ",
                        filter.text()),
            report);
  return report;
}

}  // namespace

AccuracyReport accuracy_of_table(const AccuracyQuestion& question, const Session& session) {
  const bool of_cpu = holds_cpu_measurements(question.table);
  if (!of_cpu && !question.system.empty()) {
    throw UserError("--on: rows of this table name their systems; leave it out");
  }
  if (of_cpu) return accuracy_of_records(question, session);
  return TableComparison(question, session).report();
}

}  // namespace foretell

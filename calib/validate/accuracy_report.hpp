// Accuracy of a table of predictions, by group and measured quantity.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calib/validate/part.hpp"
#include "calib/validate/repeats.hpp"
#include "calib/validate/statistics.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// One measured value of one row.
struct Sample {
  std::vector<std::string> group;  // the row's values of the columns that group
  std::string quantity;            // measured column: "call_ms"
  std::string row;                 // what names the row to people: "N0031 bert-large-cased"
  Comparison comparison;
  std::string network;           // empty where the table does not say
  std::string parts = {};        // where the predicted time goes, for people
  std::size_t line = 0;          // of the table that the row stands on; 0: not known
  Part division = Part::kJudge;  // of its table
  std::string divided_by = {};   // its group: "bert-large"
};

// A class of measurements by part of the division.
struct PartAccuracy {
  std::string name;  // "networks on Neuron: call_ms"
  std::size_t rows = 0;
  std::size_t groups = 0;
  std::optional<Accuracy> fit;
  std::optional<Accuracy> judge;
  std::optional<Accuracy> vault;
  bool closed = false;          // there are rows in a vault that was not opened
  std::optional<double> noise;  // floor, see repeats.hpp
};

struct AccuracyRow {
  std::vector<std::string> group;
  std::string quantity;
  Accuracy accuracy;
};

struct AccuracyReport {
  std::vector<std::string> group_columns;
  std::vector<AccuracyRow> overall;  // one per quantity
  std::vector<AccuracyRow> groups;   // sorted by group, then quantity; empty without group columns
  std::vector<Sample> samples;       // all of them, or an even choice, to be drawn
  std::vector<Sample> worst;         // largest |relative error| first
  std::size_t rows = 0;              // rows that were asked for
  std::size_t failed = 0;            // rows without a prediction
  std::size_t refused = 0;           // rows whose measurement cannot be; not among `rows`
  std::vector<PartAccuracy> parts;   // where a report of all parts was asked for
  std::vector<std::string> notes;    // which rows were chosen, what failed
  bool interrupted = false;          // these are the rows that were done; the first note says it

  void mark_interrupted(const std::string& note);
};

// Fills `overall`, `groups` and `worst` (at most `worst_count`). Where the samples are of two
// networks or more, a note per quantity says which 80 % interval they support and how often one
// that is made without a network holds on it.
AccuracyReport build_report(const std::vector<Sample>& samples,
                            const std::vector<std::string>& group_columns, std::size_t worst_count);

// One for each quantity; `name` stands before it. `closed`: rows of the vault were left out.
std::vector<PartAccuracy> accuracy_by_part(const std::vector<Sample>& samples,
                                           const Repeats& repeats, const std::string& name,
                                           bool closed = false);

std::string accuracy_text(const AccuracyReport& report, int max_width);
std::string accuracy_markdown(const AccuracyReport& report);
std::string accuracy_json(const AccuracyReport& report);  // one object, "foretell.accuracy/1"
// Overall rows (empty group), then groups.
std::vector<CsvRow> accuracy_rows(const AccuracyReport& report);

// Reads accuracy_json() back; UserError, with `where`, for what is not whole.
AccuracyReport accuracy_from_json(const std::string& text, const std::string& where);

}  // namespace foretell

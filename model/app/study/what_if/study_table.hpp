// What came of a stored study, for people and for programs: the Pareto front as a table, every row
// as CSV or JSON lines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/app/study/study.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/study_store.hpp"
#include "reports/render/table.hpp"

namespace foretell {

struct StudyResults {
  StudyHead head;
  Study study;
  std::vector<StudyRow> front;  // by the first objective, best first
  std::uint64_t rows = 0;       // stored
  std::uint64_t good = 0;       // predicted
  std::uint64_t outside = 0;    // of those, ruled out by a constraint on results
  std::uint64_t unjudged = 0;   // of the good ones inside, without one of the objectives
  std::uint64_t skipped = 0;
  std::uint64_t failed = 0;
  std::map<std::string, std::uint64_t> failures;  // message -> points
};

// "12 points: the message" for every kind of message, the most frequent first; of messages that
// differ by their numbers one stands for all.
std::vector<std::string> failure_lines(const std::map<std::string, std::uint64_t>& failures);

// Reads a study and finds its front. UserError when its definition is damaged.
StudyResults study_results(const StudyStore& store, const StudyHead& head);

// Objectives of the points of the front, in base units.
std::vector<std::vector<double>> front_objectives(const StudyResults& results);

// The objectives of any row with a prediction; empty when one of them does not apply.
std::vector<double> objectives_of(const Study& study, const StudyRow& row,
                                  const DefaultValue& defaults);

// The front, at most `top` rows: what varies, and the objectives.
Table front_table(const StudyResults& results, std::size_t top);
std::string study_text(const StudyResults& results, std::size_t top, int max_width);
std::string study_markdown(const StudyResults& results);

// Header and a row per stored point, in order; `on_front` says yes for the front.
std::vector<CsvRow> study_rows(const StudyStore& store, const StudyResults& results);
// The same as JSON lines, each with the whole record.
std::string study_json_lines(const StudyStore& store, const StudyResults& results);

}  // namespace foretell

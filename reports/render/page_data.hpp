// What the report page draws, as one JSON object of schema "foretell.report/1".
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/csv.hpp"
#include "reports/record/run_record.hpp"
#include "reports/record/serve_record.hpp"
#include "reports/render/claim.hpp"

namespace foretell {

struct JudgedClaim {
  Claim claim;
  Judgement judgement;
};

// A number of a record against the same one of an earlier result.
struct ChangedNumber {
  std::string record;
  std::string field;
  std::string before;
  std::string after;
  double relative = 0;
};

// A report among others, for their index.
struct IndexEntry {
  std::string title;
  std::string file;  // beside the index; empty when there is none
  std::size_t records = 0;
  std::string claims;   // "2 of 3 supported"
  std::string problem;  // why there is no report, or what is missing in it
};

// What a study wants, with a value per record; none for results, which records hold themselves.
struct ObjectiveValues {
  std::string name;
  bool maximise = false;
  std::vector<double> values;
};

// What the id of a source stands for: title, place and edition.
struct CitedSource {
  std::string id;
  std::string text;
};

// A predicted quantity of a table by its columns; empty where the table has none.
struct PredictedQuantity {
  std::string name;  // "ttft_ms"
  std::string predicted;
  std::string low;  // of the 80 % interval
  std::string high;
  std::string measured;
};

// Rows of a table with their predictions.
struct PredictedRows {
  CsvRow header;
  std::vector<CsvRow> rows;  // those that the page shows: the first of `total`
  std::size_t total = 0;
  std::size_t failed = 0;  // of all
  std::vector<PredictedQuantity> quantities;
  std::vector<std::string> notes;  // what was assumed
};

struct ReportContent {
  std::string title;
  std::vector<RunRecord> records;
  std::vector<ServeRecord> services;  // without records
  std::optional<PredictedRows> predicted;
  std::string accuracy;               // an object of schema "foretell.accuracy/1", or empty
  std::string about;                  // a paragraph under the title
  std::vector<std::string> problems;  // what could not be predicted, and why
  std::vector<JudgedClaim> claims;
  std::vector<ChangedNumber> changes;
  std::string compared_with;  // the earlier result of `changes`; empty without one
  std::vector<IndexEntry> index;
  std::string definition;                    // of a study: its file
  std::vector<std::string> keys;             // of a study: what varies, in its order
  std::vector<ObjectiveValues> objectives;   // of a study: what its Pareto front is of
  std::vector<CitedSource> sources;          // what the source ids of the records stand for
  std::map<std::string, std::string> names;  // of overrides, with ", " between: what they mean
  std::string sensitivity;  // of the first record: rows of "foretell.explain/1" as JSON, or empty
};

// A page with thousands of records stays below ten megabytes with this much of what is listed per
// operator and resource.
inline constexpr std::size_t kDetailBytes = 3'000'000;
// Text of the rows of a table that a page keeps.
inline constexpr std::size_t kRowBytes = 3'000'000;
// Rows that a page keeps of the timeline of a service; longer ones are thinned.
inline constexpr std::size_t kPageTimeline = 1200;

// The records with their operators and resources as far as `detail_bytes` allow, the fastest of
// each system and data type first; how many go without is said. What records have in common
// (notes, machines, assumed values) stands once: a record is a merge patch onto the member `base`,
// and a number in place of a list or machine is a place in the list `shared`. Numbers keep seven
// digits. The text holds no "<".
std::string page_data(const ReportContent& content, std::size_t detail_bytes = kDetailBytes);

}  // namespace foretell

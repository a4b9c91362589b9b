// From a row of a table to a request, and from a record to the cells that are added to the row.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calib/validate/table_kind.hpp"
#include "model/app/request/prediction.hpp"
#include "model/app/request/resolve/field_names.hpp"
#include "model/app/tables/kinds/published_rows.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

// The header of a table of models with what options, studies and records call a column under its
// name here: "seq" is seq_len, "dtype" compute_dtype, "input-len" input_len. A name stays where the
// header has the other one as well.
CsvRow meant_columns(CsvRow header);

// Columns of a table of models that no row is read from, though their name is almost that of one
// which is: "column 'batchsize' is not read; nearest is 'batch'".
std::vector<std::string> unread_columns(const CsvRow& header);

// Reads rows of one header. Cells that are empty are not stated; columns that are not known are
// left alone. Rows that name their software are published ones (published_rows.hpp).
class RowReader {
 public:
  // `defaults` holds what applies to every row: overrides, factors, exact.
  RowReader(const TableLayout& layout, const CsvRow& header, Request defaults);

  // What a row asks: a request, and the engine that a row with generation names in its column
  // `engine` ("vllm@0.3"), or that the software of a published one is; "": calls of the network
  // alone. UserError that names the column, the cell and what would be right; also when no device
  // model answers this kind of table.
  // Published rates are `rate_scale` times those of the whole system: of the prompt alone, whose
  // tokens they count, or of one GPU.
  struct Question {
    Request request;
    std::string engine;
    double rate_scale = 1;
    std::string assumed = {};  // "batch not stated: 1 taken"
  };
  Question question(const CsvRow& row) const;
  Request request(const CsvRow& row) const { return question(row).request; }

  // What this table calls the fields of a request, for messages. Published tables, whose rows are
  // read by rules, have no names of their own.
  const FieldNames& names() const { return names_; }

 private:
  CellMap cells_of(const CsvRow& row) const;

  const TableLayout& layout_;
  std::vector<std::string> columns_;
  std::optional<PublishedRows> published_;
  Request defaults_;
  FieldNames names_;
};

// Predicted values by the name of the column that is added, in the unit of that name.
std::map<std::string, double> predicted_values(const RunRecord& record);

// Likewise what is stated in words.
std::map<std::string, std::string> predicted_texts(const RunRecord& record);

// 80 % intervals by the name of the measured column that they belong to, in its unit.
std::map<std::string, Interval> predicted_intervals(const RunRecord& record);

}  // namespace foretell

// Measurements of others as tables that predict, validate and calibrate fit read: CSV of one of the
// kinds in calib/validate/table_kind.hpp, or records of calib/measurements, one a line.
//
// What comes out has names of columns, operators, types and devices as the project spells them,
// times in the column of its kind
// (`latency_ms`, `latency_ns` and `latency_s` become `latency_us`), and where each row is from in
// the columns measured_by, measured_on, measured_date and measured_with.
#pragma once

#include <string>
#include <vector>

#include "calib/measurements/measurement.hpp"
#include "calib/validate/table_kind.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

struct MeasuredTable {
  std::string name;  // of the part: "gemm", "gemm.warm", "operator"
  TableKind kind = TableKind::kOperator;
  CsvRow header;
  std::vector<CsvRow> rows;
  std::vector<std::size_t> lines;  // of the file that each row was read from
  std::vector<std::string> notes;  // what was read as what: "device as gpu"

  // The cell of a column; "" where there is no such column.
  std::string cell(std::size_t row, const std::string& column) const;
};

// A file of JSON lines is recognised by its first character. Records are divided by kind and by the
// conditions that a whole table is predicted under: warm weights, launches by the host, sustained
// load. What the file says of who measured, on what and when goes before `given`.
//
// `problems` gets a line "FILE:LINE: …" for every row that is not understood or has no measurement
// (it is left out of the tables), for dates that are none and, naming what is missing, when neither
// `given` nor the file says who measured, on what, and when. UserError for a file of no kind.
std::vector<MeasuredTable> read_measurements(const std::string& path,
                                             const MeasurementProvenance& given,
                                             std::vector<std::string>& problems);

// The same text for the same tables; read_measurements() reads it back.
std::string measured_table_text(const MeasuredTable& table);

// source, machine, date and, if it is there, software from a YAML file.
MeasurementProvenance load_provenance(const std::string& path);

}  // namespace foretell

// What is predicted for a row of a table.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

struct RowPrediction {
  std::map<std::string, double> values;            // by added column; empty when it failed
  std::string error;                               // why there is none; empty when it is good
  std::map<std::string, Interval> intervals = {};  // 80 %, by measured column, in its unit
  std::string parts = {};                          // where the time goes, for people
  std::string note = {};                           // of a good one: what to know of it
  std::map<std::string, std::string> texts = {};   // by added column
  std::vector<std::string> assumed = {};           // what the row does not state
  double least_call_ms = 0;                        // below which no machine can be; 0: not known
  bool is_open = false;                            // not predicted: a signal came
};

// Of a row that a signal came before.
RowPrediction open_row();

// All but `texts`, `assumed` and `is_open` as one line, as worker processes send it, and back. Line
// breaks become spaces; what goes with a prediction has no tabs.
std::string prediction_line(const RowPrediction& prediction);
RowPrediction prediction_of_line(const std::string& line);

}  // namespace foretell

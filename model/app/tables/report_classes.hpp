// The classes of `validate --all` (calib/validate/report_classes.yaml): which rows of which table,
// and how many of the rows of a group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/config/document.hpp"

namespace foretell {

struct ReportClass {
  std::string name;                     // "networks on Neuron"
  std::string table;                    // in FORETELL_DATA; "calib/…": of the project
  std::string where;                    // conditions as of --where; "": all rows
  bool all_rows = false;                // of any `use`
  std::vector<std::string> quantities;  // that count; empty: all
  std::int64_t every = 1;               // each n-th row of a group counts
  std::string prefix;                   // of the classes of its rows
  std::string device, dtype, op_class;  // columns that group; "": none
  double seconds = 1;                   // about, on one core
};

// UserError, with file and line, for a class that is not whole or stands there twice.
std::vector<ReportClass> read_report_classes(const Node& root);
std::vector<ReportClass> load_report_classes();

// Those of one of the names, in which * stands for any text; all without names. UserError with the
// nearest name for one that fits none.
std::vector<ReportClass> chosen_classes(const std::vector<ReportClass>& classes,
                                        const std::vector<std::string>& names);

}  // namespace foretell

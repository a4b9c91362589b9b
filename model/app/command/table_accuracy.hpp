// Predictions of the rows of a table against what was measured: what `validate` reports.
#pragma once

#include <string>
#include <vector>

#include "calib/validate/accuracy_report.hpp"
#include "model/app/tables/kernel_rows.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/terminal/session.hpp"

namespace foretell {

// Which rows count and how they are predicted.
struct AccuracyQuestion {
  std::string table;
  std::vector<std::string> by;     // columns that group
  std::vector<std::string> where;  // "COLUMN=VALUE"
  bool latest = false;
  bool all_rows = false;
  bool held_out = false;
  std::string part;      // "": all; of the project's own tables all but the vault
  std::string parts_of;  // not empty: all parts are told apart, under this name
  bool vault = false;    // the vault is open, too
  std::size_t worst = 10;
  int jobs = 1;
  RequestOptions model;
  KernelOptions kernels;
  std::string system;  // of records of CPUs
};

// Of a table of networks or kernels, or of records of a CPU. Rows whose measurement is no number
// above zero, and rows that contradict each other, do not count; the notes name them. UserError
// that says why when no row counts.
AccuracyReport accuracy_of_table(const AccuracyQuestion& question, const Session& session);

// One report of everything that is measured here: the published tables in the folder that the
// environment variable FORETELL_DATA names, the networks on GPUs and the CPU of this project. By
// device, data type and class of operators, kernels on families held out; a total per table.
AccuracyReport accuracy_of_project(const AccuracyQuestion& question, const Session& session);

}  // namespace foretell

// Predictions of the rows of a table against what was measured: what `validate` reports.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calib/validate/accuracy_report.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
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
  std::string parts_of;  // not empty: all parts are shown apart, under this name
  bool vault = false;    // the vault is open, too
  bool energy = false;   // measured watts and joules of networks and services count
  // Each n-th of the rows of a group counts, from the first; 0: all of them, with --all as many as
  // the class says.
  std::int64_t every = 0;
  std::vector<std::string> quantities;        // that count; empty: all
  std::vector<std::string> classes;           // of --all, by name or pattern; empty: all
  std::function<void(double)> progress = {};  // 0…1; without it a bar of its own is shown
  std::size_t worst = 10;
  int jobs = 1;
  RequestOptions model;
  KernelOptions kernels;
  std::string system;  // of records of CPUs
};

// For a table of networks or kernels, or of records of a CPU. Rows whose measurement is no number
// above zero, and rows that contradict each other, do not count; the notes name them. UserError
// that says why when no row counts.
AccuracyReport accuracy_of_table(const AccuracyQuestion& question, const Session& session);

// One report of everything that is measured here, by class (report_classes.hpp): the tables in the
// folder that the environment variable FORETELL_DATA names, and those of this project. Details are
// by device, data type and class of operators, kernels on families held out; which rows have no
// prediction, and why, is what accuracy_of_table() says.
AccuracyReport accuracy_of_project(const AccuracyQuestion& question, const Session& session);

}  // namespace foretell

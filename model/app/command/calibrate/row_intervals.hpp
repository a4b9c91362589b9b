// `foretell calibrate intervals` from rows of the fit part of a table.
#pragma once

#include <string>
#include <vector>

#include "model/app/terminal/session.hpp"

namespace foretell {

struct RowIntervalOptions {
  std::string table;
  std::vector<std::string> where;  // rows that count: COLUMN=VALUE
  std::string output;              // file; "": where the program reads it
  int jobs = 1;
};

// `--kind published`: how far predictions of whole networks on GPUs are off, by what runs them.
// Writes the file. UserError for a table of another kind, for conditions that fit no row, and where
// no class has two networks.
void calibrate_published_intervals(const RowIntervalOptions& options, const Session& session);

// `--kind serving`: how far predictions of services are off, every configuration family left out in
// turn. Writes the file. UserError likewise, and where no class of services has two families.
void calibrate_served_intervals(const RowIntervalOptions& options, const Session& session);

// Writes intervals to `output`, or "": where the program reads the file of that name, and says so.
void write_intervals(const std::string& output, const char* file, const std::string& text,
                     const Session& session);

}  // namespace foretell

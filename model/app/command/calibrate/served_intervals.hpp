// `foretell calibrate intervals --kind serving`: how far predictions of services are off, from the
// served points of the fit part, every configuration family left out in turn.
#pragma once

#include <string>
#include <vector>

#include "model/app/terminal/session.hpp"

namespace foretell {

struct ServedIntervalOptions {
  std::string table;               // of served points
  std::vector<std::string> where;  // rows that count: COLUMN=VALUE
  std::string output;              // file; "": where the program reads it
  int jobs = 1;
};

// Writes the file. UserError for a table of another kind, for conditions that fit no row, and where
// no class of services has two families.
void calibrate_served_intervals(const ServedIntervalOptions& options, const Session& session);

}  // namespace foretell

// `foretell calibrate intervals --kind published`: how far predictions of whole networks on GPUs
// are off, from published rows of the fit part, by what runs them.
#pragma once

#include <string>
#include <vector>

#include "model/app/terminal/session.hpp"

namespace foretell {

struct PublishedIntervalOptions {
  std::string table;               // of networks
  std::vector<std::string> where;  // rows that count: COLUMN=VALUE
  std::string output;              // file; "": where the program reads it
  int jobs = 1;
};

// Writes the file. UserError for a table of another kind, for conditions that fit no row, and where
// no class has two networks.
void calibrate_published_intervals(const PublishedIntervalOptions& options, const Session& session);

}  // namespace foretell

// A folder of results and scenarios as a folder of pages with an index.
#pragma once

#include <string>

#include "model/app/terminal/session.hpp"

namespace foretell {

// Writes a page for every *.yaml, *.yml, *.sqlite, *.jsonl and *.json of `input` into `output`,
// which is made when it is not there, in `jobs` processes, and index.html. A file without a report
// is listed with its reason and makes the exit code 1. UserError when there is nothing to report.
int report_batch(const std::string& input, const std::string& output, int jobs,
                 const Session& session);

}  // namespace foretell

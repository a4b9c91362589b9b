// The help of a command with many options, under headings.
#pragma once

#include <CLI/CLI.hpp>

namespace foretell {

// Lists the options of a service, or of a plan of one, under the same headings in the same order;
// those that no heading names come last, as further options.
// `searched`: the heading of those that say how a service is set up.
void group_service_help(CLI::App& command, const char* searched);

}  // namespace foretell

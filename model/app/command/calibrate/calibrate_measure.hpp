// `foretell calibrate measure`: starts the program that measures a kind of machine.
#pragma once

#include <string>
#include <vector>

#include "model/app/terminal/session.hpp"

namespace CLI {
class App;
}

namespace foretell {

void add_measure_command(CLI::App& calibrate, Session& session);

// Runs foretell_measure_<device>, from the folder of this program or from PATH, with the arguments
// and returns its exit code. UserError that says how it is built when it is not there.
int run_measuring_program(const std::string& device, const std::vector<std::string>& arguments);

}  // namespace foretell

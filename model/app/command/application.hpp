// The program around the commands: parses the command line, prints errors, chooses the exit code.
#pragma once

#include <string>
#include <vector>

#include "model/app/terminal/session.hpp"

namespace CLI {
class App;
}

namespace foretell {

// `arguments` without the name of the program. The result goes where the command says (standard
// output by default), everything else to session.messages. Never throws.
int run_application(std::vector<std::string> arguments, Session& session);

// Adds all commands and the options that they share.
void add_commands(CLI::App& app, Session& session);

}  // namespace foretell

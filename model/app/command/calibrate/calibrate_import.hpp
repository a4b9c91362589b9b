// `foretell calibrate import`: measurements of others as tables of this project.
#pragma once

#include "model/app/terminal/session.hpp"

namespace CLI {
class App;
}

namespace foretell {

void add_calibrate_import_command(CLI::App& calibrate, Session& session);

}  // namespace foretell

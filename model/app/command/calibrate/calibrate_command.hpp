// `foretell calibrate`: measure, import, fit.
#pragma once

#include "model/app/terminal/session.hpp"

namespace CLI {
class App;
}

namespace foretell {

void add_calibrate_command(CLI::App& app, Session& session);

}  // namespace foretell

// `foretell calibrate area`: how far published dies predict one another.
#pragma once

#include <CLI/CLI.hpp>

#include "model/app/terminal/session.hpp"

namespace foretell {

void add_area_command(CLI::App& calibrate, Session& session);

}  // namespace foretell

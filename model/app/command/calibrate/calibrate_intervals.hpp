// `foretell calibrate intervals`: how far predictions of unmeasured networks are off.
#pragma once

#include <CLI/CLI.hpp>

#include "model/app/terminal/session.hpp"

namespace foretell {

void add_intervals_command(CLI::App& calibrate, Session& session);

}  // namespace foretell

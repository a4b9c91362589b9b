// `foretell calibrate transfer`: how far predictions are on GPUs that were not measured.
#pragma once

#include <CLI/CLI.hpp>

#include "model/app/terminal/session.hpp"

namespace foretell {

void add_transfer_command(CLI::App& calibrate, Session& session);

}  // namespace foretell

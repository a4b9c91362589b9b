// The commands below `foretell calibrate`.
#pragma once

#include "model/app/terminal/session.hpp"

namespace CLI {
class App;
}

namespace foretell {

// `measure`: starts the program that measures a kind of machine.
void add_measure_command(CLI::App& calibrate, Session& session);

// `import`: measurements of others as tables of this project.
void add_calibrate_import_command(CLI::App& calibrate, Session& session);

// `intervals`: how far predictions of unmeasured networks are off.
void add_intervals_command(CLI::App& calibrate, Session& session);

// `transfer`: how far predictions are on GPUs that were not measured.
void add_transfer_command(CLI::App& calibrate, Session& session);

// `area`: how far published dies predict one another.
void add_area_command(CLI::App& calibrate, Session& session);

}  // namespace foretell

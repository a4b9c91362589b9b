// The commands of this folder; model/app/command/calibrate and model/app/command/report have one
// each. Each adds itself to the command line and sets session.action when it is called. The list in
// application.cpp is the order in which help shows them.
#pragma once

#include "model/app/terminal/session.hpp"

namespace CLI {
class App;
}

namespace foretell {

void add_run_command(CLI::App& app, Session& session);
void add_compare_command(CLI::App& app, Session& session);
void add_explain_command(CLI::App& app, Session& session);
void add_explore_command(CLI::App& app, Session& session);
void add_serve_command(CLI::App& app, Session& session);
void add_plan_command(CLI::App& app, Session& session);
void add_predict_command(CLI::App& app, Session& session);
void add_validate_command(CLI::App& app, Session& session);
void add_sweep_command(CLI::App& app, Session& session);
void add_diff_command(CLI::App& app, Session& session);
void add_list_command(CLI::App& app, Session& session);
void add_show_command(CLI::App& app, Session& session);
void add_import_command(CLI::App& app, Session& session);
void add_completion_command(CLI::App& app, Session& session);

}  // namespace foretell

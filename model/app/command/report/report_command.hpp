// `foretell report`: pages, Markdown and tables from results.
#pragma once

#include "model/app/terminal/session.hpp"

namespace CLI {
class App;
}

namespace foretell {

void add_report_command(CLI::App& app, Session& session);

}  // namespace foretell

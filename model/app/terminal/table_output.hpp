// A plain table as the result of a command, in the form that --format names.
#pragma once

#include "model/app/terminal/output.hpp"
#include "reports/render/table.hpp"

namespace foretell {

void write_table(const Table& table, const OutputOptions& options, int max_width);

}  // namespace foretell

// A plain table as the result of a command, in the form that --format names.
#pragma once

#include "model/terminal/output.hpp"
#include "reports/render/table.hpp"

namespace foretell {

// JSON is a list of objects, one per row, with the column titles as keys and text as values.
std::string table_text(const Table& table, Format format, int max_width);

void write_table(const Table& table, const OutputOptions& options, int max_width);

}  // namespace foretell

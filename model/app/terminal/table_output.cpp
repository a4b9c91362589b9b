#include "model/app/terminal/table_output.hpp"

namespace foretell {
void write_table(const Table& table, const OutputOptions& options, int max_width) {
  write_text(options.output, table_text(table, parse_format(options.format), max_width));
}

}  // namespace foretell

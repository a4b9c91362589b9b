// Options of the commands that read tables of kernels.
#pragma once

#include "calib/validate/table_kind.hpp"
#include "model/app/request/prediction.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/app/terminal/request_options.hpp"

namespace CLI {
class App;
}

namespace foretell {

// What every row of a table starts from. UserError for --power-limit of a table whose rows are no
// networks or services.
Request defaults_of_table(const RequestOptions& options, const TableLayout& layout);

// --l2, --launch, --clock and --without-factors-of.
void add_kernel_options(CLI::App& command, KernelOptions& options);

}  // namespace foretell

// Options of the commands that read tables of kernels.
#pragma once

#include "model/app/tables/kernel_rows.hpp"

namespace CLI {
class App;
}

namespace foretell {

// --l2, --launch, --clock and --without-factors-of.
void add_kernel_options(CLI::App& command, KernelOptions& options);

}  // namespace foretell

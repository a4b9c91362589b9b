#include "model/app/command/kernel_options.hpp"

#include <CLI/CLI.hpp>

namespace foretell {

void add_kernel_options(CLI::App& command, KernelOptions& options) {
  command
      .add_option("--l2", options.l2,
                  "what kernels find in L2: warm, or rotate:N for N copies of the weights in turn "
                  "(default: as the tables were measured)")
      ->type_name("STATE");
  command
      .add_option("--launch", options.launch,
                  "how kernels are launched: graph or stream (default: graph)")
      ->type_name("KIND");
  command
      .add_option("--clock", options.clock,
                  "clocks of a short burst, or sustained under the power limit (default: burst)")
      ->type_name("KIND");
  command
      .add_option("--without-factors-of", options.factors.held_out_device,
                  "predict this GPU from its neighbours, as one that was never measured")
      ->type_name("GPU");
}

}  // namespace foretell

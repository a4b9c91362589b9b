#include "model/app/command/kernel_options.hpp"

#include "model/app/terminal/options.hpp"

namespace foretell {

void add_kernel_options(CLI::App& command, KernelOptions& options) {
  add_option(command, "--l2", options.l2, "STATE",
             "what kernels find in L2: warm, or rotate:N for N copies of the weights in turn "
             "(default: as the tables were measured)");
  add_option(command, "--launch", options.launch, "KIND",
             "how kernels are launched: graph or stream (default: graph)");
  add_option(command, "--clock", options.clock, "KIND",
             "clocks of a short burst, or sustained under the power limit (default: burst)");
  add_option(command, "--without-factors-of", options.factors.held_out_device, "GPU",
             "predict this GPU from its neighbours, as one that was never measured");
}

}  // namespace foretell

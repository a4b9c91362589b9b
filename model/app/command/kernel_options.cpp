#include "model/app/command/kernel_options.hpp"

#include "model/app/terminal/options.hpp"
#include "model/base/errors.hpp"

namespace foretell {

Request defaults_of_table(const RequestOptions& options, const TableLayout& layout) {
  const Request defaults = stated_request(options);
  const bool takes_limit = layout.kind == TableKind::kModels || layout.kind == TableKind::kServing;
  if (defaults.power_limit.empty() || takes_limit) return defaults;
  throw UserError(
      "--power-limit: is that of the boards of tables of models and of services; rows of this "
      "table, of kind " +
      layout.name + ", were measured as they are: leave it out");
}

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

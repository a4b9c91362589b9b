#include "model/program/device_streams.hpp"

#include <utility>

#include "model/base/errors.hpp"

namespace foretell {

std::vector<Stream> gpu_streams(bool host) {
  std::vector<Stream> streams = {{"kernels", std::vector<Grid>{}},
                                 {"collectives", std::vector<Collective>{}},
                                 {"beside", std::vector<Grid>{}}};
  if (host) streams.push_back({"host", std::vector<HostCall>{}});
  return streams;
}

Deps emit_grid(ProgramBuilder& builder, Grid grid, const Deps& after, std::size_t stream) {
  if (grid.exchange.ranks == 0) return builder.emit_to(stream, std::move(grid), after);
  FORETELL_CHECK(grid.ctas.empty() && grid.stretch == 1, "a collective takes launch and exchange");
  Collective collective;
  collective.name = std::move(grid.name);
  collective.exchange = std::move(grid.exchange);
  collective.launch = grid.launch;
  collective.busy = grid.busy;
  return builder.emit_to(kGpuCollectives, std::move(collective), after);
}

Program grids_in_order(const std::vector<Grid>& grids, const std::string& name) {
  ProgramBuilder builder(name, gpu_streams(false));
  Deps before;
  for (const Grid& grid : grids) before = emit_grid(builder, grid, before);
  return std::move(builder).finish();
}

std::vector<Stream> cpu_streams() { return {{"loops", std::vector<Loop>{}}}; }

}  // namespace foretell

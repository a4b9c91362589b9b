// Rows of energy tables about networks that make images and videos: what `network/diffusion` rows
// say of a run, as a request.
//
// Columns: model, device, dtype, n_devices, batch_or_concurrency, tp ("ulysses4 ring2": devices
// that divide the heads, times those that keys go around), scenario ("text-to-video 480x832 steps50
// frames81": height and width in pixels, steps of the removal of noise, frames).
#pragma once

#include <string>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/served_cells.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/base/units.hpp"
#include "model/config/document.hpp"

namespace foretell {

struct DiffusionRuns {
  ServedNames networks;  // of the table -> ours
  ServedNames systems;
  ServedNames nodes;  // for rows of several devices
  ServedNames precisions;
  std::string library;  // whose kernels the framework runs
  Seconds picture_per_pixel;
};

// Section `diffusion` of a recipe; UserError with file:line.
DiffusionRuns read_diffusion_runs(const Node& section);

// UserError for a name that is not known, and for shares that do not make up the devices.
Request diffusion_request(const DiffusionRuns& runs, const NamedCells& cells, const CsvRow& row,
                          const Request& defaults);

// How long the host makes pictures of what a request for rows leaves on the board.
Seconds pictures_on_host(const DiffusionRuns& runs, const Request& request);

}  // namespace foretell

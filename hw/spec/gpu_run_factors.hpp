// What the host and the power limit do to kernels, on any GPU (calib/factors/gpu/run.yaml).
#pragma once

#include "hw/spec/catalog.hpp"
#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct GpuRunFactors {
  Seconds stream_gap;          // between two kernels of a stream, beyond that in a graph
  Seconds stream_issue;        // that the host takes to launch a kernel into a stream
  double sustained_clock = 1;  // of the boost clock, where the matrix pipe is always at work
};

void fields(FieldList& list, GpuRunFactors& factors);

// UserError when the file is missing or wrong.
GpuRunFactors load_gpu_run_factors(const CatalogPaths& paths = default_catalog_paths());

}  // namespace foretell

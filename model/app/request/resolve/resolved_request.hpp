// A request to NeuronCores with its names looked up and its defaults filled in: all that the
// simulation needs.
#pragma once

#include <memory>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"

namespace foretell {

struct ResolvedRequest : ResolvedWorkload {
  CalibratedSystem system;  // overrides and factors applied
};

// UserError for unknown names (with the nearest), values out of range, and parallelism that does
// not fit the cores of the system.
ResolvedRequest resolve(const Request& request);

// That of hw/, read once while inputs are kept (model/base/kept_inputs.hpp).
std::shared_ptr<const Catalog> kept_catalog();

}  // namespace foretell

// What the library that runs a network makes of its operators and types on a chip.
#pragma once

#include <string>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/request/resolve/gpu_request.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

FusionRules fusion_of(const KernelLibrary& library, const PrecisionPolicy& precision,
                      const std::string& architecture);

// Products in 8 bits of an engine that may run them in 16, where these are faster; a note says so.
void take_fastest_type(GpuRequest& resolved);

}  // namespace foretell

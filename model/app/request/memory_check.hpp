// Does the network fit the device memory, and where would it? The same for every family.
#pragma once

#include "model/app/request/resolved_device.hpp"

namespace foretell {

// Parts of the fullest device that take part, where `copies` of groups of `ranks` fill device after
// device.
int used_parts(const MemoryPlace& place, int ranks, int copies);

// Memory that the request needs on its fullest device: for a generation, that of the prefill and of
// the step with the longest cache, of the stage that needs most. UserError when it is more than
// there is, with the smallest system and tensor parallelism that hold it.
MemoryUse check_memory(const ResolvedDevice& device);

}  // namespace foretell

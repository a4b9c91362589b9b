// Does the network fit the device memory, and where would it?
#pragma once

#include "model/app/request/resolved_request.hpp"

namespace foretell {

// Cores of the fullest device that take part: copies and their shards fill device after device.
int cores_per_device(const ResolvedRequest& resolved);

// Device memory that the request needs on its fullest device: for a generation, that of the
// prefill and of the step with the longest cache. UserError when it is more than there is, with the
// smallest system and tensor parallelism that hold it.
MemoryUse check_memory(const ResolvedRequest& resolved);

}  // namespace foretell

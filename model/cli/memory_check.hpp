// Does the network fit the device memory, and where would it?
#pragma once

#include "model/cli/resolved_request.hpp"

namespace foretell {

// Cores of the fullest device that take part: copies and their shards fill device after device.
int cores_per_device(const ResolvedRequest& resolved);

// Device memory that the request needs on its fullest device.
Bytes memory_needed(const ResolvedRequest& resolved);

// UserError with what is needed, what there is, and the smallest system and tensor parallelism that
// hold it.
void check_memory(const ResolvedRequest& resolved);

}  // namespace foretell

// The data types of a request: as typed, as the file of the network stores its weights, or default.
#pragma once

#include <string>

#include "model/app/request/resolve/resolved_workload.hpp"

namespace foretell {

// Sets the precision of a workload whose model and pipes are known, and notes what is taken.
// UserError for an unknown type.
void resolve_dtype(const std::string& default_dtype, ResolvedWorkload& resolved);

}  // namespace foretell

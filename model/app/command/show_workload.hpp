// `foretell show WORKLOAD`: what a network consists of, does and needs, without any machine.
#pragma once

#include <string>

#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/app/terminal/output.hpp"

namespace foretell {

// Operators with flops, bytes and operational intensity, and the sums; of a pipeline, its networks.
// JSON is one object, CSV one row per operator and one of the sums.
std::string workload_text(const ResolvedWorkload& resolved, Format format, int max_width);

}  // namespace foretell

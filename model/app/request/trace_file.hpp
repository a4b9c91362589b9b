#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/app/request/resolve/resolved_device.hpp"

namespace foretell {

// Calls one after the other; a name may be empty when there is only one. UserError when the file
// cannot be written, a full disk included.
void write_shown(const std::string& path, const KernelTraceWords& words,
                 const std::vector<std::pair<std::string, const ShownCall*>>& calls);

}  // namespace foretell

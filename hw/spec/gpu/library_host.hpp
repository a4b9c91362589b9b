// What the host of a kernel library takes: `host` of a file of hw/kernels.
#pragma once

#include <string>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/base/units.hpp"
#include "model/config/document.hpp"

namespace foretell {

// `text`, found at `key` of `host`. UserError for what is no time from 0 to `most`.
Seconds read_host_time(const Node& host, const char* key, const std::string& text,
                       Seconds most = Seconds(1e-3));

void read_host_of_library(const Node& host, KernelLibrary& library);

}  // namespace foretell

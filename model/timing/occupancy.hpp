// How many thread blocks of a kernel an SM holds at a time.
#pragma once

#include <string>

#include "hw/spec/gpu_spec.hpp"

namespace foretell {

// What one thread block asks for.
struct CtaResources {
  int threads = 0;
  int registers_per_thread = 0;
  Bytes shared_memory;
};

// The least of what threads, registers, shared memory and the limit on thread blocks allow [CUDAPG,
// technical specifications per compute capability]. UserError that names the limit when not even
// one fits; `kernel` is how the message calls it.
int ctas_per_sm(const GpuDeviceSpec& device, const CtaResources& cta, const std::string& kernel);

}  // namespace foretell

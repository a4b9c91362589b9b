// How many thread blocks of a kernel an SM holds at a time.
#pragma once

#include <string>
#include <vector>

#include "hw/spec/gpu/gpu_spec.hpp"

namespace foretell {

// What one thread block asks for.
struct CtaResources {
  int threads = 0;
  int registers_per_thread = 0;
  Bytes shared_memory;
};

// A limit of an SM that is less than what a thread block asks for.
struct SmShortage {
  std::string text;   // "65536 registers, of which an SM gives it 32768 (device.sm.registers)"
  std::string least;  // the setting with which the thread block fits: "device.sm.registers=65536"
};

// Every limit that the thread block exceeds; none when an SM holds it. Limits: [CUDAPG, technical
// specifications per compute capability].
std::vector<SmShortage> shortages(const GpuDeviceSpec& device, const CtaResources& cta);

// The least of what threads, registers, shared memory and the limit on thread blocks allow.
// UserError that names every limit, what is needed and what would do when not even one fits;
// `kernel` is how the message calls it.
int ctas_per_sm(const GpuDeviceSpec& device, const CtaResources& cta, const std::string& kernel);

// The error of a kernel that fits no SM.
[[noreturn]] void refuse_kernel(const GpuDeviceSpec& device, const std::string& kernel,
                                const std::vector<SmShortage>& shortages);

}  // namespace foretell

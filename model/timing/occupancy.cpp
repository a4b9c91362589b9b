#include "model/timing/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {

int ctas_per_sm(const GpuDeviceSpec& device, const CtaResources& cta, const std::string& kernel) {
  const GpuSmSpec& sm = device.sm;
  const auto refuse = [&](const std::string& what, double wanted, double available) {
    throw UserError(
        fmt::format("{}: a thread block needs {:.0f} {}, an SM of {} has {:.0f}; "
                    "choose a smaller tile",
                    kernel, wanted, what, device.name, available));
  };
  const int registers = cta.threads * cta.registers_per_thread;
  if (cta.threads > sm.max_threads) refuse("threads", cta.threads, sm.max_threads);
  if (registers > sm.registers) refuse("registers", registers, sm.registers);
  if (cta.shared_memory > sm.shared_memory_per_cta) {
    refuse("bytes of shared memory", cta.shared_memory.value(), sm.shared_memory_per_cta.value());
  }
  int fitting = std::min(sm.max_ctas, sm.max_threads / std::max(1, cta.threads));
  if (registers > 0) fitting = std::min(fitting, sm.registers / registers);
  if (cta.shared_memory > Bytes(0)) {
    fitting = std::min(fitting, static_cast<int>(std::floor(sm.shared_memory / cta.shared_memory)));
  }
  return fitting;
}

}  // namespace foretell

#include "model/timing/gpu/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr Bytes kKiB(1024);

}  // namespace

std::vector<SmShortage> shortages(const GpuDeviceSpec& device, const CtaResources& cta) {
  const GpuSmSpec& sm = device.sm;
  std::vector<SmShortage> found;
  const auto note = [&](const char* path, double needed, const char* unit, const char* what,
                        double available) {
    if (!(needed > available)) return;
    found.push_back({fmt::format("{:.6g}{} {}, of which an SM gives it {:.6g}{} ({})", needed, unit,
                                 what, available, unit, path),
                     fmt::format("{}={:.6g}{}", path, needed, unit)});
  };
  note("device.sm.max_threads", cta.threads, "", "threads", sm.max_threads);
  note("device.sm.registers", cta.threads * cta.registers_per_thread, "", "registers",
       sm.registers);
  note("device.sm.shared_memory_per_cta", std::ceil(cta.shared_memory / kKiB), "KiB",
       "of shared memory", sm.shared_memory_per_cta / kKiB);
  return found;
}

void refuse_kernel(const GpuDeviceSpec& device, const std::string& kernel,
                   const std::vector<SmShortage>& shortages) {
  std::vector<std::string> needs;
  std::vector<std::string> settings;
  for (const SmShortage& shortage : shortages) {
    needs.push_back(shortage.text);
    settings.push_back("--set " + shortage.least);
  }
  throw UserError(
      fmt::format("{}: fits no SM of {}: a thread block needs {}; the least that works: {}", kernel,
                  device.name, join(needs, ", and "), join(settings, " ")));
}

int ctas_per_sm(const GpuDeviceSpec& device, const CtaResources& cta, const std::string& kernel) {
  const GpuSmSpec& sm = device.sm;
  const std::vector<SmShortage> lacking = shortages(device, cta);
  if (!lacking.empty()) refuse_kernel(device, kernel, lacking);
  int fitting = std::min(sm.max_ctas, sm.max_threads / std::max(1, cta.threads));
  const int registers = cta.threads * cta.registers_per_thread;
  if (registers > 0) fitting = std::min(fitting, sm.registers / registers);
  if (cta.shared_memory > Bytes(0)) {
    fitting = std::min(fitting, static_cast<int>(std::floor(sm.shared_memory / cta.shared_memory)));
  }
  return fitting;
}

}  // namespace foretell

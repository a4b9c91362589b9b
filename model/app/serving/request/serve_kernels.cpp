// Whose kernels a service calls.
#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/kernel_rules.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/serving/request/serve_parts.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

// A release whose kernels are known to differ from others; "1.2.0rc6" counts as the newest.
bool has_release(const KernelLibrary& library, const std::string& release) {
  if (library.first_release.empty() || release.empty() ||
      release.find_first_not_of("0123456789.") != std::string::npos) {
    return false;
  }
  return compare_releases(release, library.first_release) >= 0 &&
         compare_releases(release, library.last_release) < 0;
}

}  // namespace

void take_kernels(const std::string& engine_name, const EngineSpec& engine, Request& machine) {
  if (!machine.library.empty() || !gpu_family().has_system(machine.system)) return;
  const KernelLibrary* const found = kernel_libraries().find(engine.library);
  if (!engine.library.empty() && (found == nullptr || !found->runs_networks)) {
    throw UserError("--engine " + engine_name + ": has no kernels for GPUs, which " +
                    machine.system + " has; leave --engine out, or name a system that it serves");
  }
  machine.library = engine.library;
  const std::size_t at = engine_name.find('@');
  if (!machine.library_release.empty() || at == std::string::npos) return;
  const std::string release = engine_name.substr(at + 1);
  if (has_release(kernel_libraries().of_networks(machine.library), release))
    machine.library_release = release;
}

}  // namespace foretell

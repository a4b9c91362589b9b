#include "calib/fitted/shared/factors_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"

namespace foretell {

std::filesystem::path factors_folder() {
  const char* const stated = std::getenv("FORETELL_FACTORS");
  if (stated == nullptr || *stated == '\0') return data_root() / "calib" / "factors";
  std::error_code error;
  if (!std::filesystem::is_directory(stated, error)) {
    throw UserError(fmt::format(
        "{}: no such folder; FORETELL_FACTORS names a folder as calib/factors is one", stated));
  }
  return stated;
}

std::filesystem::path factors_file(const std::string& request, const std::filesystem::path& name) {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::path(request) / name;
  return !request.empty() && std::filesystem::exists(own, error) ? own : factors_folder() / name;
}

}  // namespace foretell

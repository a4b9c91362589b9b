#include "calib/fitted/shared/factors_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

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

namespace {

bool holds_a_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return true;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) return true;
  }
  return false;
}

// A folder that holds no file under the names of calib/factors changes no factor.
void check_own_folder(const std::filesystem::path& own) {
  std::error_code error;
  if (!std::filesystem::is_directory(own, error)) return;
  std::vector<std::string> known;
  for (const auto& entry : std::filesystem::directory_iterator(factors_folder(), error)) {
    known.push_back(entry.path().filename().string());
    if (holds_a_file(own / known.back())) return;
  }
  std::sort(known.begin(), known.end());
  throw UserError(fmt::format("--factors {}: holds no factors; a folder of factors has some of {}",
                              own.string(), join(known, ", ")));
}

}  // namespace

std::filesystem::path factors_file(const std::string& request, const std::filesystem::path& name) {
  std::error_code error;
  if (!request.empty()) check_own_folder(request);
  const std::filesystem::path own = std::filesystem::path(request) / name;
  return !request.empty() && std::filesystem::exists(own, error) ? own : factors_folder() / name;
}

}  // namespace foretell

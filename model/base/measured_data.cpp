#include "model/base/measured_data.hpp"

#include <cstdlib>
#include <system_error>

#include "model/base/data_root.hpp"

namespace foretell {

namespace fs = std::filesystem;

fs::path measured_data_folder() {
  if (const char* named = std::getenv("FORETELL_DATA"); named != nullptr) return named;
  std::error_code error;
  fs::path beside = (data_root() / ".." / "shared" / "data").lexically_normal();
  return fs::is_directory(beside, error) ? beside : fs::path();
}

std::string measured_table(const std::string& given) {
  std::error_code error;
  const fs::path path(given);
  const fs::path folder = measured_data_folder();
  if (given.empty() || path.has_parent_path() || folder.empty() || fs::exists(path, error)) {
    return given;
  }
  const fs::path measured = folder / path;
  return fs::is_regular_file(measured, error) ? measured.string() : given;
}

}  // namespace foretell

// Tables of published measurements: in the folder FORETELL_DATA, else in shared/data beside the
// project.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace foretell {

// "" where the table is not: the test says "skipped, no data".
inline std::string published_table(const std::string& name) {
  const char* folder = std::getenv("FORETELL_DATA");
  const std::filesystem::path path =
      folder != nullptr ? std::filesystem::path(folder) / name
                        : std::filesystem::path(FORETELL_SOURCE_DIR) / "../shared/data" / name;
  return std::filesystem::exists(path) ? path.lexically_normal().string() : "";
}

}  // namespace foretell

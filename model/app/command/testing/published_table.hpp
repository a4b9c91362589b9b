// Tables of published measurements, see measured_data.hpp.
#pragma once

#include <filesystem>
#include <string>

#include "model/base/measured_data.hpp"

namespace foretell {

// "" where the table is not: the test says "skipped, no data".
inline std::string published_table(const std::string& name) {
  const std::filesystem::path folder = measured_data_folder();
  return !folder.empty() && std::filesystem::exists(folder / name) ? (folder / name).string() : "";
}

}  // namespace foretell

#include "hw/spec/data_folder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".yaml";

}  // namespace

std::vector<std::string> ids_in(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> ids;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == kExtension) ids.push_back(entry.path().stem().string());
  }
  if (error) throw UserError(fmt::format("{}: cannot be listed", folder.string()));
  std::sort(ids.begin(), ids.end());
  return ids;
}

fs::path file_of(const fs::path& folder, std::string_view id) {
  return folder / (std::string(id) + kExtension);
}

std::string text_of(const Node& root, std::string_view key) {
  return root.required(key, "").as_text(key);
}

void check_id(const Node& root, const fs::path& path) {
  const std::string id = text_of(root, "id");
  if (id != path.stem().string()) {
    throw UserError(
        fmt::format("{}: id: '{}' has to be the name of the file", root.find("id")->where(), id));
  }
}

}  // namespace foretell

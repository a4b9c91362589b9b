// Folders of hardware data: one YAML file per thing, named by its id.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/document.hpp"

namespace foretell {

// The ids of the YAML files in a folder, sorted. UserError when it cannot be listed.
std::vector<std::string> ids_in(const std::filesystem::path& folder);

// The file of an id.
std::filesystem::path file_of(const std::filesystem::path& folder, std::string_view id);

// The text at a key that has to be there; UserError with file:line.
std::string text_of(const Node& root, std::string_view key);

// UserError when a file does not hold the id that it is named by.
void check_id(const Node& root, const std::filesystem::path& path);

}  // namespace foretell

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

// A system or a device may be named by its file, "./mine.yaml", wherever that is.
bool is_file_name(std::string_view id);
// What stands in the file: "./mine.yaml" is mine.
std::string name_in_file(std::string_view id);
// A file that another one names is looked for from there.
std::string beside(const std::filesystem::path& file, const std::string& id);

// Does a file describe a GPU by itself, in full or as one that is like another?
bool is_gpu_device(const Node& root);

// Whose system a file describes: the family that has the key, which every system of it has, or that
// of the GPU that it is like.
enum class SystemFileKind { kNeuron, kGpu, kCpu };
// Does a name mean a file of this family? False for an id. UserError when the file is not there.
bool is_system_file(std::string_view id, SystemFileKind kind);
// What is wrong with a file that names none of the keys that tell its family, but nearly one:
// "x.yaml:3: smss: no such parameter; nearest is 'sms'"; "" without such a key.
std::string misspelt_kind_key(const std::string& file);
// The bytes of the file and of those that it names as files; "" for an id.
std::string bytes_of_system_files(const std::string& id);

// The file of an id, or the file that is named.
std::filesystem::path file_of(const std::filesystem::path& folder, std::string_view id);

// The text at a key that has to be there; UserError with file:line.
std::string text_of(const Node& root, std::string_view key);

// UserError when a file does not hold the id that it is named by.
void check_id(const Node& root, const std::filesystem::path& path);

}  // namespace foretell

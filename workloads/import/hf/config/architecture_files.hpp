// Which architectures are described as data, and what is in such a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretell {

inline constexpr std::string_view kArchitectureFile = "architecture.yaml";  // beside a config.json

// The names of the described architectures, sorted.
std::vector<std::string> described_architectures();
// The file of one; "" for others.
std::string file_of_architecture(std::string_view model_type);

struct ArchitectureKey {
  std::string path;       // "sizes.hidden"
  std::string allowed;    // "whole number 0 .. 1048576"
  std::string otherwise;  // "0": the value of an architecture that leaves it out
  std::string meaning;
};
std::vector<ArchitectureKey> architecture_keys();

}  // namespace foretell

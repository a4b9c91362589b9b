// How a deployment is started: the engines' own commands, as data (hw/engines/launch).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "hw/spec/shared/catalog.hpp"

namespace foretell {

// One worker of a service.
struct LaunchedWorker {
  std::string engine;   // "vllm", or the id of its file: "vllm-0.14"
  std::string network;  // as the engine loads it
  std::string dtype;
  std::string kv_dtype;
  std::int64_t tp = 1;  // of a rank
  std::int64_t max_batch = 0;
  std::int64_t max_tokens = 0;
  std::int64_t attention_dp = 1;  // ranks
  std::int64_t ep = 1;            // groups of devices, each with some of the experts
  std::int64_t pp = 1;            // stages
};

class LaunchCommands {
 public:
  // UserError with file:line for what is missing or unknown in the file.
  static LaunchCommands load(const std::filesystem::path& hw = hw_folder());

  // "" for an engine without a command in the file, such as one of the user's own.
  std::string command_of(const LaunchedWorker& worker) const;
  // Whether an engine ("vllm", "vllm@0.14" or the id of its file) has an option for the number of
  // groups of experts; true for one without a command in the file.
  bool states_groups(const std::string& engine) const;

 private:
  struct Template {
    std::string command;
    std::map<std::string, std::string> types;
    std::map<std::string, std::string> kv_types;
    std::string experts;  // where they lie apart
    std::string ranks;    // where attention is done by ranks
    std::string stages;   // where there are several
  };
  const Template* find(const std::string& engine) const;
  std::map<std::string, Template> engines_;
};

}  // namespace foretell

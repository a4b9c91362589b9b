#include "hw/engines/launch_commands.hpp"

#include <utility>

#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

constexpr const char* kLaunchFile = "hw/engines/launch/commands.yaml";

std::map<std::string, std::string> texts_of(const Node& engine, const char* key) {
  std::map<std::string, std::string> texts;
  for (const MapEntry& entry : engine.required(key, "").entries) {
    texts[entry.key] = entry.value.as_text(entry.key);
  }
  return texts;
}

std::string of_type(const std::map<std::string, std::string>& types, const std::string& type) {
  const auto found = types.find(type);
  return found == types.end() ? "" : found->second;
}

void replace_all(std::string& text, std::string_view name, const std::string& value) {
  for (std::size_t at = text.find(name); at != std::string::npos;
       at = text.find(name, at + value.size())) {
    text.replace(at, name.size(), value);
  }
}

}  // namespace

LaunchCommands LaunchCommands::load(const std::filesystem::path& hw) {
  LaunchCommands commands;
  const Node root = load_document(hw / "engines/launch/commands.yaml", kLaunchFile);
  for (const MapEntry& engine : root.entries) {
    engine.value.only_keys({"source", "command", "types", "kv_types", "experts", "ranks", "stages"},
                           engine.key);
    engine.value.required("source", engine.key);
    commands.engines_[engine.key] = {
        engine.value.required("command", engine.key).as_text("command"),
        texts_of(engine.value, "types"),
        texts_of(engine.value, "kv_types"),
        engine.value.required("experts", engine.key).as_text("experts"),
        engine.value.required("ranks", engine.key).as_text("ranks"),
        engine.value.required("stages", engine.key).as_text("stages")};
  }
  return commands;
}

const LaunchCommands::Template* LaunchCommands::find(const std::string& engine) const {
  const std::string name = engine.substr(0, engine.find('@'));
  auto found = engines_.find(name);
  if (found == engines_.end()) found = engines_.find(name.substr(0, name.rfind('-')));
  return found == engines_.end() ? nullptr : &found->second;
}

bool LaunchCommands::states_groups(const std::string& engine) const {
  const Template* found = find(engine);
  return found == nullptr || found->experts.find("{ep}") != std::string::npos;
}

std::string LaunchCommands::command_of(const LaunchedWorker& worker) const {
  const Template* found = find(worker.engine);
  if (found == nullptr) return "";
  std::string text = found->command;
  const std::pair<const char*, std::string> values[] = {
      {"{experts}", worker.ep > 1 ? found->experts : ""},
      {"{ranks}", worker.attention_dp > 1 ? found->ranks : ""},
      {"{stages}", worker.pp > 1 ? found->stages : ""},
      {"{pp}", std::to_string(worker.pp)},
      {"{devices}", std::to_string(worker.tp * worker.attention_dp)},
      {"{attention_dp}", std::to_string(worker.attention_dp)},
      {"{ep}", std::to_string(worker.ep)},
      {"{network}", worker.network},
      {"{tp}", std::to_string(worker.tp)},
      {"{max_batch}", std::to_string(worker.max_batch)},
      {"{max_tokens}", std::to_string(worker.max_tokens)},
      {"{type}", of_type(found->types, worker.dtype)},
      {"{kv_type}", of_type(found->kv_types, worker.kv_dtype)}};
  for (const auto& [name, value] : values) replace_all(text, name, value);
  return text;
}

}  // namespace foretell

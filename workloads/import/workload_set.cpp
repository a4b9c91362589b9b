#include "workloads/import/workload_set.hpp"

#include <cstdint>
#include <map>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/unit_text.hpp"
#include "workloads/import/hf/config_readers.hpp"

namespace foretell {
namespace {

constexpr std::string_view kPrefix = "workload.";

struct Setting {
  std::int64_t least;
  std::int64_t most;
  void (*apply)(std::int64_t value, ModelConfig& config);
};

void set_context(std::int64_t value, ModelConfig& config) {
  if (config.positions > 0) config.positions += value - config.max_seq_len;
  config.max_seq_len = value;
}

const std::map<std::string, Setting>& settings() {
  static const std::map<std::string, Setting> kSettings = {
      {"workload.layers",
       {1, kMaxLayers, [](std::int64_t value, ModelConfig& config) { config.layers = value; }}},
      {"workload.decoder_layers",
       {1, kMaxLayers,
        [](std::int64_t value, ModelConfig& config) { config.decoder_layers = value; }}},
      {"workload.context", {1, kMaxPositions, set_context}},
      {"workload.window",
       {0, kMaxPositions, [](std::int64_t value, ModelConfig& config) { config.window = value; }}}};
  return kSettings;
}

void apply(const std::string& assignment, ModelConfig& config) {
  const std::size_t equals = assignment.find('=');
  const std::string path(trim(std::string_view(assignment).substr(0, equals)));
  const auto found = settings().find(path);
  if (found == settings().end()) {
    std::vector<std::string> known;
    for (const auto& entry : settings()) known.push_back(entry.first);
    throw unknown_name("parameter", path, known);
  }
  const std::string text(
      equals == std::string::npos ? "" : trim(std::string_view(assignment).substr(equals + 1)));
  const Setting& setting = found->second;
  const std::int64_t value = parse_integer(text);
  if (value < setting.least || value > setting.most) {
    throw UserError(path + ": " + text + " is not allowed; write a whole number from " +
                    std::to_string(setting.least) + " to " + std::to_string(setting.most));
  }
  setting.apply(value, config);
}

}  // namespace

bool is_workload_setting(std::string_view assignment) {
  return starts_with(trim(assignment), kPrefix);
}

void override_workload(const std::vector<std::string>& set, ModelConfig& config) {
  for (const std::string& assignment : set) {
    if (is_workload_setting(assignment)) apply(assignment, config);
  }
}

}  // namespace foretell

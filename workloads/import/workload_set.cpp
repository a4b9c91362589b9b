#include "workloads/import/workload_set.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/unit_text.hpp"
#include "workloads/import/hf/config/config_readers.hpp"

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

constexpr std::string_view kPadding = "workload.padding";

void set_padding(std::string_view text, ModelConfig& config) {
  const std::optional<double> share = to_number(text);
  if (!share || !(*share >= 0 && *share < 1)) {
    throw UserError(fmt::format(
        "{}: {} is not allowed; write a share from 0 to below 1 of the tokens", kPadding, text));
  }
  if (config.family != Family::kEncoder && *share > 0) {
    throw UserError(
        fmt::format("{}: {} is no encoder, of which padding can be left out; take it out", kPadding,
                    config.name));
  }
  config.padding = *share;
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
  const std::string text(
      equals == std::string::npos ? "" : trim(std::string_view(assignment).substr(equals + 1)));
  if (path == kPadding) return set_padding(text, config);
  const auto found = settings().find(path);
  if (found == settings().end()) {
    std::vector<std::string> known = {std::string(kPadding)};
    for (const auto& entry : settings()) known.push_back(entry.first);
    throw unknown_name("parameter", path, known);
  }
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

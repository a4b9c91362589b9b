#include "hw/engines/tuned_limits.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

constexpr const char* kLimitsFile = "engines/choice/tuned_limits.yaml";  // in hw
constexpr std::int64_t kMost = 1 << 20;

std::vector<RoundingStep> steps_of(const Node& root, const char* key) {
  std::vector<RoundingStep> steps;
  for (const Node& node : root.required(key, "").items) {
    node.only_keys({"below", "by"}, key);
    const Node* below = node.find("below");
    steps.push_back({below == nullptr ? 0 : below->as_integer("below", 1, kMost),
                     node.required("by", key).as_integer("by", 1, kMost)});
  }
  return steps;
}

double rounded_up(double value, const std::vector<RoundingStep>& steps) {
  for (const RoundingStep& step : steps) {
    if (step.below > 0 && value >= static_cast<double>(step.below)) continue;
    const auto unit = static_cast<double>(step.by);
    return unit * std::ceil(value / unit);
  }
  return value;
}

}  // namespace

TunedLimits TunedLimits::load(const std::filesystem::path& hw) {
  const Node root = load_document(hw / kLimitsFile, std::string("hw/") + kLimitsFile);
  root.only_keys({"source", "share", "most_sequences", "most_tokens", "least_sequences",
                  "least_tokens", "sequence_steps", "token_steps"},
                 "");
  const auto whole = [&](const char* key) {
    return std::int64_t{root.required(key, "").as_integer(key, 1, kMost)};
  };
  TunedLimits limits;
  const Node& share = root.required("share", "");
  limits.share = to_number(share.as_text("share")).value_or(0);
  if (!(limits.share > 0 && limits.share <= 1))
    throw UserError(share.where() + ": share: must be above 0 and at most 1");
  limits.most_sequences = whole("most_sequences");
  limits.most_tokens = whole("most_tokens");
  limits.least_sequences = whole("least_sequences");
  limits.least_tokens = whole("least_tokens");
  limits.sequence_steps = steps_of(root, "sequence_steps");
  limits.token_steps = steps_of(root, "token_steps");
  return limits;
}

StepLimits TunedLimits::of(double kv_tokens, double mean_input, double mean_output,
                           int stages) const {
  const double held = std::max(0.0, kv_tokens) * share / (mean_input + mean_output);
  const double sequences = std::min(held, static_cast<double>(most_sequences)) / stages;
  const double tokens =
      std::min(sequences * (1 + mean_input / mean_output), static_cast<double>(most_tokens));
  StepLimits limits;
  limits.sequences =
      std::max(least_sequences, static_cast<std::int64_t>(rounded_up(sequences, sequence_steps)));
  limits.tokens =
      std::max(least_tokens, static_cast<std::int64_t>(rounded_up(tokens, token_steps)));
  return limits;
}

}  // namespace foretell

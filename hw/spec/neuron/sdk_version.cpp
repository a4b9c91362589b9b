#include "hw/spec/neuron/sdk_version.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {

namespace {

using Version = std::vector<std::int64_t>;

Version parse_version(std::string_view text) {
  Version version;
  bool valid = true;
  for (const std::string& part : split(text, '.')) {
    const std::optional<std::int64_t> number = to_count(part);
    valid = valid && number;
    version.push_back(number.value_or(0));
  }
  if (!valid || version.size() < 2 || version.size() > 3) {
    throw UserError(
        fmt::format("'{}' is no SDK version; write for example '2.14' or '2.14.1'", text));
  }
  return version;
}

}  // namespace

void check_sdk_version(const std::string& version) { parse_version(version); }

namespace {

// The entry of the smallest release that is not older; null without one.
const double* covering_entry(const std::map<std::string, double>& table, std::string_view sdk) {
  const Version wanted = parse_version(trim(sdk));
  const double* multiplier = nullptr;
  std::optional<Version> best;
  for (const auto& [key, value] : table) {
    const Version release = parse_version(key);
    Version comparable = wanted;
    if (comparable.size() > release.size()) comparable.resize(release.size());
    const bool covers = comparable <= release;
    if (covers && (!best || release < *best)) {
      best = release;
      multiplier = &value;
    }
  }
  return multiplier;
}

}  // namespace

std::string newest_release(const std::vector<std::map<std::string, double>>& tables) {
  std::string newest;
  for (const auto& table : tables) {
    for (const auto& entry : table) {
      if (newest.empty() || parse_version(newest) < parse_version(entry.first))
        newest = entry.first;
    }
  }
  return newest;
}

int releases_before(std::string_view sdk, std::string_view newest) {
  if (trim(sdk).empty()) return 0;
  const Version of = parse_version(trim(sdk));
  const Version to = parse_version(trim(newest));
  if (of >= to) return 0;
  return static_cast<int>(of[0] == to[0] ? to[1] - of[1] : to[1]);
}

double sdk_multiplier(const std::map<std::string, double>& table, std::string_view sdk) {
  if (trim(sdk).empty()) return 1;
  const double* entry = covering_entry(table, sdk);
  return entry == nullptr ? 1 : *entry;
}

bool sdk_is_covered(const std::map<std::string, double>& table, std::string_view sdk) {
  return covering_entry(table, sdk) != nullptr;
}

}  // namespace foretell

#include "hw/spec/shared/overrides.hpp"

#include <fmt/format.h>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {

namespace {

constexpr std::string_view kUse = ".use";

// "device[3].hbm.bandwidth" → "device.hbm.bandwidth"; the same text without an index.
std::string without_index(const std::string& path) {
  const std::size_t open = path.find('[');
  const std::size_t close = path.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return path;
  return path.substr(0, open) + path.substr(close + 1);
}

void choose_alternative(FieldList& list, const std::string& path, const std::string& name,
                        std::map<std::string, Provenance>& provenance) {
  const Field& field = list.at(path);
  const auto found = provenance.find(path);
  if (found == provenance.end() || found->second.alternatives.empty()) {
    throw UserError(
        fmt::format("{}: only one value is published, there is nothing to choose", path));
  }
  std::vector<std::string> names;
  for (const Alternative& alternative : found->second.alternatives) {
    names.push_back(alternative.name);
    if (alternative.name != name) continue;
    field.assign(alternative.value.value);
    found->second.chosen = alternative.value;
    found->second.use = name;
    return;
  }
  throw UserError(fmt::format("{}: {}", path, unknown_name("alternative", name, names).what()));
}

struct Held {
  std::string text;
  double number = 0;
};

Held held_by(const Field& field) {
  if (!field.has_value()) return {};
  return {field.text(), field.is_text || field.is_list ? 0 : field.number()};
}

// Whether it had that value.
bool assign(FieldList& list, const std::string& path, const std::string& value) {
  const Field& field = list.at(path);
  const Held before = held_by(field);
  try {
    field.assign(value);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", path, error.what()));
  }
  const Held now = held_by(field);
  return now.text == before.text && now.number == before.number;
}

}  // namespace

std::set<std::string> apply_overrides(FieldList& list, const std::vector<std::string>& assignments,
                                      std::map<std::string, Provenance>& provenance,
                                      Problems& problems) {
  std::set<std::string> given;
  std::set<std::string> overridden;
  for (const std::string& assignment : assignments) {
    const std::string where = fmt::format("--set {}", assignment);
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.add(where, "", "expected PATH=VALUE, for example device.hbm.bandwidth=1.6TB/s");
      continue;
    }
    const std::string path(trim(std::string_view(assignment).substr(0, equals)));
    const std::string value(trim(std::string_view(assignment).substr(equals + 1)));
    const bool is_choice = ends_with(path, kUse);
    const std::string target = is_choice ? path.substr(0, path.size() - kUse.size()) : path;
    if (without_index(path) != path) {
      problems.add(where, "",
                   fmt::format("{}; '{}' sets every one of them",
                               starts_with(path, "device[")
                                   ? "only devices with NeuronCores can differ from each other"
                                   : "single parts cannot differ, all are equal",
                               without_index(path)));
      continue;
    }
    if (!given.insert(target).second) {
      problems.add(where, "", fmt::format("{} is set twice", target));
      continue;
    }
    try {
      if (is_choice) {
        choose_alternative(list, target, value, provenance);
      } else {
        const bool is_as_it_is = assign(list, target, value);
        if (const auto known = provenance.find(target); known != provenance.end())
          known->second.set_as_it_is = is_as_it_is;
        overridden.insert(target);
      }
    } catch (const UserError& error) {
      problems.add(where, "", error.what());
    }
  }
  return overridden;
}

}  // namespace foretell

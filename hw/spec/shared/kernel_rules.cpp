#include "hw/spec/shared/kernel_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/node_number.hpp"
#include "model/config/node_text.hpp"
#include "model/config/problems.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

[[noreturn]] void refuse(const Node& node, std::string_view path, const std::string& message) {
  throw UserError(fmt::format("{}: {}: {}", node.where(), path, message));
}

}  // namespace

std::pair<int, int> read_pair(const Node& node, std::string_view path) {
  const std::string& text = node.as_text(path);
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() != 2) {
    refuse(node, path, "'" + text + "' is no tile; write rows x columns, for example 128x256");
  }
  const auto side = [&](const std::string& part) {
    long long value = 0;
    try {
      value = parse_integer(part);
    } catch (const UserError& error) {
      refuse(node, path, error.what());
    }
    if (value < 1 || value > 65536) refuse(node, path, part + " is outside 1 .. 65536");
    return static_cast<int>(value);
  };
  return {side(parts[0]), side(parts[1])};
}

int compare_releases(std::string_view a, std::string_view b) {
  return strverscmp(std::string(a).c_str(), std::string(b).c_str());
}

RuleConditions RuleConditions::read(const Node& rule, const RuleDomain& domain) {
  RuleConditions conditions;
  const Node* when = rule.find("when");
  if (when == nullptr) return conditions;
  if (!when->is_map()) refuse(*when, "when", "expected a mapping of facts to what they must be");
  for (const MapEntry& entry : when->entries) {
    conditions.conditions_.push_back(read_condition(entry, domain));
  }
  return conditions;
}

RuleConditions::Condition RuleConditions::read_condition(const MapEntry& entry,
                                                         const RuleDomain& domain) {
  const std::string path = "when." + entry.key;
  Condition condition;
  const auto known = std::find_if(domain.begin(), domain.end(),
                                  [&](const FactName& fact) { return entry.key == fact.name; });
  if (known == domain.end()) {
    std::vector<std::string> names;
    for (const FactName& fact : domain) names.emplace_back(fact.name);
    refuse(entry.value, "when", unknown_name("fact", entry.key, names).what());
  }
  condition.fact = static_cast<std::size_t>(known - domain.begin());
  condition.kind = known->kind;
  if (known->kind == FactName::Kind::kText) {
    condition.words = texts_at(entry.value, path);
    if (condition.words.size() > 1 && condition.words.front() == "not") {
      condition.compare = Compare::kNoneOf;
      condition.words.erase(condition.words.begin());
    }
    return condition;
  }
  const std::string& text = entry.value.as_text(path);
  static const std::vector<std::pair<std::string, Compare>> kSigns = {{">=", Compare::kFrom},
                                                                      {"<=", Compare::kUpTo},
                                                                      {">", Compare::kAbove},
                                                                      {"<", Compare::kBelow}};
  std::string rest = text;
  condition.compare = Compare::kEqual;
  for (const auto& [sign, compare] : kSigns) {
    if (!starts_with(text, sign)) continue;
    condition.compare = compare;
    rest = text.substr(sign.size());
    break;
  }
  rest = std::string(trim(rest));
  if (known->kind == FactName::Kind::kNumber) {
    Node number = entry.value;
    number.text = rest;
    condition.number = number_at(number, path);
    return condition;
  }
  if (rest.empty() || rest.find_first_of("0123456789") == std::string::npos) {
    refuse(entry.value, path, "'" + text + "' names no release; write for example \"< 0.8\"");
  }
  if (condition.compare == Compare::kEqual && ends_with(rest, "*")) {
    condition.compare = Compare::kStart;
    rest.pop_back();
  }
  condition.words = {rest};
  return condition;
}

bool RuleConditions::holds(const Condition& condition, const RuleFact& fact) {
  if (condition.kind == FactName::Kind::kText) {
    const bool among = std::any_of(condition.words.begin(), condition.words.end(),
                                   [&](const std::string& word) { return word == fact.text; });
    return among == (condition.compare == Compare::kOneOf);
  }
  double difference = 0;
  if (condition.kind == FactName::Kind::kRelease) {
    if (fact.text.empty()) return false;  // not stated: the newest, which no rule asks for
    if (condition.compare == Compare::kStart) {
      return starts_with(fact.text, condition.words.front());
    }
    difference = compare_releases(fact.text, condition.words.front());
  } else {
    difference = fact.number - condition.number;
  }
  switch (condition.compare) {
    case Compare::kAbove:
      return difference > 0;
    case Compare::kFrom:
      return difference >= 0;
    case Compare::kBelow:
      return difference < 0;
    case Compare::kUpTo:
      return difference <= 0;
    default:
      return difference == 0;
  }
}

bool RuleConditions::hold(const std::vector<RuleFact>& facts) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
    return holds(condition, facts.at(condition.fact));
  });
}

RuleSection::RuleSection(const Node* section, const RuleDomain& domain) {
  if (section == nullptr) return;
  if (!section->is_list()) refuse(*section, "rules", "expected a list of rules");
  Problems problems;
  for (const Node& node : section->items) {
    problems.collect([&] { rules_.push_back({RuleConditions::read(node, domain), node}); });
  }
  problems.throw_if_any();
}

}  // namespace foretell

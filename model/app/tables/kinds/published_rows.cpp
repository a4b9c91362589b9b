#include "model/app/tables/kinds/published_rows.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/kernel_rules.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

// In hw, by the column of the tables that they are about.
constexpr std::pair<const char*, const char*> kRecipes[] = {
    {"software", "engines/recipes/published_networks.yaml"},
    {"sdk", "engines/recipes/neuron_networks.yaml"},
    {"phase_or_scenario", "engines/recipes/chips_never_fitted.yaml"}};
constexpr const char* kNot = "not";
constexpr std::int64_t kLargestFactor = 1024;

double share_of(const Node& node, const std::string& column) {
  return parse_positive(node.where() + ": share." + column, node.as_text("share." + column), 1);
}

// A whole number of tokens: a share of the stated ones.
std::string share_of_length(const std::string& column, const std::string& text, double share) {
  const double length = parse_positive(column, text, static_cast<double>(kMaxTokens));
  return fmt::format("{:.0f}", std::max(1.0, std::round(length * share)));
}

std::int64_t factor_of(const Node& node, const std::string& column) {
  return parse_count(node.where() + ": times." + column, node.as_text("times." + column), 2,
                     kLargestFactor);
}

std::string times_count(const std::string& column, const std::string& text, std::int64_t factor) {
  return std::to_string(factor * parse_count(column, text, 1, kMaxTokens));
}

// "BERT Large", "bert-large" and "BERT_large" are one name.
std::string spelt_alike(const std::string& name) {
  std::string spelt = to_lower(name);
  std::replace_if(
      spelt.begin(), spelt.end(), [](char letter) { return letter == '-' || letter == '_'; }, ' ');
  return spelt;
}

// The cells under a key of a rule.
CellMap cells_under(const Node& rule, const char* key) {
  CellMap cells;
  if (const Node* node = rule.find(key)) {
    for (const MapEntry& entry : node->entries)
      cells[entry.key] = entry.value.as_text(std::string(key) + "." + entry.key);
  }
  return cells;
}

// "{version}" is what the row states in that column.
std::string filled_in(const std::string& text, const CellMap& published) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return text;
  const auto cell = published.find(text.substr(1, text.size() - 2));
  return cell == published.end() ? "" : cell->second;
}

}  // namespace

std::optional<PublishedRows> PublishedRows::load(const std::vector<std::string>& columns) {
  for (const auto& [column, recipe] : kRecipes) {
    if (!has_column(columns, column)) continue;
    return read(load_document(hw_folder() / recipe, std::string("hw/") + recipe));
  }
  return std::nullopt;
}

PublishedRows PublishedRows::read(const Node& root) {
  root.only_keys({"source", "columns", "networks", "rules"}, "");
  PublishedRows rows;
  if (const Node* columns = root.find("columns")) {
    for (const MapEntry& entry : columns->entries)
      rows.columns_.emplace_back(entry.key, entry.value.as_text("columns." + entry.key));
  }
  for (const MapEntry& entry : root.required("networks", "").entries) {
    const std::string& network = entry.value.as_text("networks");
    const auto known = rows.networks_.try_emplace(spelt_alike(entry.key), network).first;
    if (known->second != network) {
      throw UserError(entry.value.where() + ": networks: '" + entry.key +
                      "' is spelt as a name that stands for " + known->second);
    }
  }
  for (const Node& rule : root.required("rules", "").items) rows.rules_.push_back(read_rule(rule));
  return rows;
}

PublishedRows::Rule PublishedRows::read_rule(const Node& node) {
  node.only_keys({"when", "set", "replace", "share", "times", "network", "refuse", "why"}, "rules");
  Rule rule;
  for (const MapEntry& entry : node.required("when", "rules").entries) {
    Condition condition{entry.key, texts_at(entry.value, "when." + entry.key)};
    if (!condition.patterns.empty() && condition.patterns.front() == kNot) {
      condition.negated = true;
      condition.patterns.erase(condition.patterns.begin());
    }
    rule.conditions.push_back(std::move(condition));
  }
  rule.set = cells_under(node, "set");
  rule.replace = cells_under(node, "replace");
  if (const Node* share = node.find("share")) {
    for (const MapEntry& entry : share->entries)
      rule.shares.emplace_back(entry.key, share_of(entry.value, entry.key));
  }
  if (const Node* times = node.find("times")) {
    for (const MapEntry& entry : times->entries)
      rule.factors.emplace_back(entry.key, factor_of(entry.value, entry.key));
  }
  if (const Node* network = node.find("network")) rule.network = network->as_text("network");
  if (const Node* refuse = node.find("refuse")) rule.refusal = refuse->as_text("refuse");
  return rule;
}

bool PublishedRows::holds(const Rule& rule, const CellMap& published) {
  return std::all_of(
      rule.conditions.begin(), rule.conditions.end(), [&published](const Condition& condition) {
        const auto cell = published.find(condition.column);
        const std::string text = cell == published.end() ? "" : cell->second;
        const bool any = std::any_of(condition.patterns.begin(), condition.patterns.end(),
                                     [&text](const std::string& pattern) {
                                       return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
                                     });
        return any != condition.negated;
      });
}

void PublishedRows::complete(CellMap& cells) const {
  const CellMap published = cells;
  for (const auto& [theirs, ours] : columns_) {
    if (cells[ours].empty()) cells[ours] = cells[theirs];
  }
  const auto named = networks_.find(spelt_alike(cells["workload"]));
  if (named != networks_.end()) cells["workload"] = named->second;
  for (const Rule& rule : rules_) {
    if (!holds(rule, published)) continue;
    if (!rule.refusal.empty()) throw UserError(rule.refusal);
    if (!rule.network.empty()) cells["workload"] = rule.network;
    for (const auto& [column, share] : rule.shares) {
      if (!cells[column].empty()) cells[column] = share_of_length(column, cells[column], share);
    }
    for (const auto& [column, factor] : rule.factors) {
      if (!cells[column].empty()) cells[column] = times_count(column, cells[column], factor);
    }
    for (const auto& [column, text] : rule.replace) cells[column] = filled_in(text, published);
    for (const auto& [column, text] : rule.set) {
      if (cells[column].empty()) cells[column] = filled_in(text, published);
    }
  }
}

}  // namespace foretell

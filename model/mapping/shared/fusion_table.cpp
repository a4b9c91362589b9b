#include "model/mapping/shared/fusion_table.hpp"

#include <algorithm>
#include <utility>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/kernel_rules.hpp"
#include "model/base/errors.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

template <class Meaning>
using Words = std::vector<std::pair<const char*, Meaning>>;

const Words<FusionCondition>& condition_words() {
  static const Words<FusionCondition> kWords = {
      {"elementwise", FusionCondition::kElementwise},
      {"activation", FusionCondition::kActivation},
      {"binary", FusionCondition::kBinary},
      {"weighted", FusionCondition::kWeighted},
      {"one_matrix", FusionCondition::kOneMatrix},
      {"four_axes", FusionCondition::kFourAxes},
      {"last_axis", FusionCondition::kLastAxis},
      {"axis_before_last", FusionCondition::kAxisBeforeLast},
      {"made_once", FusionCondition::kMadeOnce},
      {"roll", FusionCondition::kRoll},
      {"image", FusionCondition::kImage},
      {"grouped", FusionCondition::kGrouped},
      {"read_in_pieces", FusionCondition::kReadInPieces},
      {"strided", FusionCondition::kStrided}};
  return kWords;
}

const Words<FusionTakes>& takes_words() {
  static const Words<FusionTakes> kWords = {
      {"scale", FusionTakes::kScale},       {"activation", FusionTakes::kActivation},
      {"epilogue", FusionTakes::kEpilogue}, {"readers", FusionTakes::kReaders},
      {"heads", FusionTakes::kHeads},       {"sum_of_rows", FusionTakes::kSumOfRows}};
  return kWords;
}

const Words<EpiloguePart>& part_words() {
  static const Words<EpiloguePart> kWords = {{"norm", EpiloguePart::kNorm},
                                             {"bias", EpiloguePart::kBias},
                                             {"activation", EpiloguePart::kActivation},
                                             {"residual", EpiloguePart::kResidual}};
  return kWords;
}

template <class Meaning>
Meaning meaning_of(const Node& node, const char* key, const Words<Meaning>& words) {
  const std::string& text = node.as_text(key);
  std::vector<std::string> names;
  for (const auto& [name, meaning] : words) {
    if (text == name) return meaning;
    names.emplace_back(name);
  }
  throw UserError(node.where() + ": " + unknown_name(key, text, names).what());
}

EpilogueRules read_epilogue(const Node& node, const std::string& path) {
  node.only_keys({"steps", "bias", "formulas"}, path);
  EpilogueRules rules;
  for (const Node& step : node.required("steps", path).items) {
    EpilogueStep& read = rules.steps.emplace_back();
    for (const Node& part : step.items) {
      if (part.as_text("steps") == "repeats") {
        read.repeats = true;
      } else {
        read.parts.insert(meaning_of(part, "steps", part_words()));
      }
    }
  }
  if (const Node* bias = node.find("bias"))
    rules.bias_on_either_side = meaning_of(*bias, "bias", Words<bool>{{"either_side", true}});
  if (const Node* formulas = node.find("formulas"))
    rules.formulas = meaning_of(*formulas, "formulas", Words<bool>{{"yes", true}, {"no", false}});
  return rules;
}

FusionRule read_rule(const Node& node, const std::vector<std::string>& kernels) {
  node.only_keys({"operators", "when", "kernel", "takes", "weights"}, "rules");
  FusionRule rule;
  if (const Node* when = node.find("when")) {
    for (const Node& word : when->items)
      rule.when.push_back(meaning_of(word, "when", condition_words()));
  }
  const Node& kernel = node.required("kernel", "rules");
  rule.is_view = kernel.as_text("kernel") == "view";
  if (!rule.is_view) {
    Words<int> places;
    for (std::size_t i = 0; i < kernels.size(); ++i)
      places.emplace_back(kernels[i].c_str(), static_cast<int>(i));
    rule.kernel = meaning_of(kernel, "kernel", places);
  }
  if (const Node* takes = node.find("takes"))
    rule.takes = meaning_of(*takes, "takes", takes_words());
  if (const Node* weights = node.find("weights")) {
    constexpr long long kMaxInput = 64;
    for (const Node& place : weights->items)
      rule.weights.push_back(static_cast<std::size_t>(place.as_integer("weights", 0, kMaxInput)));
  }
  return rule;
}

}  // namespace

FusionTable::FusionTable(const std::filesystem::path& path,
                         const std::vector<std::string>& kernels) {
  const Node root = load_document(path, shown_path(path));
  root.only_keys({"source", "unmapped", "classes", "epilogues", "rules"}, "");
  unmapped_ = root.required("unmapped", "").as_text("unmapped");
  for (const MapEntry& one : root.required("classes", "").entries) {
    for (const std::string& kind : texts_at(one.value, "classes." + one.key))
      classes_[one.key].insert(kind);
  }
  for (const MapEntry& one : root.required("epilogues", "").entries)
    epilogues_[one.key] = read_epilogue(one.value, "epilogues." + one.key);
  read_rules(root.required("rules", ""), kernels);
}

std::vector<std::string> FusionTable::kinds(const Node& operators) const {
  std::vector<std::string> all;
  for (const std::string& word : texts_at(operators, "operators")) {
    const auto found = classes_.find(word);
    if (found == classes_.end()) {
      all.push_back(word);
    } else {
      all.insert(all.end(), found->second.begin(), found->second.end());
    }
  }
  return all;
}

void FusionTable::read_rules(const Node& list, const std::vector<std::string>& kernels) {
  for (const Node& node : list.items) {
    if (const Node* operators = node.find("operators")) {
      for (const std::string& kind : kinds(*operators)) rules_[kind];
    }
  }
  for (const Node& node : list.items) {
    const FusionRule rule = read_rule(node, kernels);
    if (const Node* operators = node.find("operators")) {
      for (const std::string& kind : kinds(*operators)) rules_[kind].push_back(rule);
      continue;
    }
    for (auto& [kind, rules] : rules_) rules.push_back(rule);
    of_others_.push_back(rule);
  }
}

const std::vector<FusionRule>& FusionTable::rules(std::string_view kind) const {
  const auto found = rules_.find(kind);
  return found == rules_.end() ? of_others_ : found->second;
}

bool FusionTable::is(const char* name, std::string_view kind) const {
  const auto found = classes_.find(name);
  FORETELL_CHECK(found != classes_.end(), "a class of operators");
  return found->second.count(kind) > 0;
}

const EpilogueRules& FusionTable::epilogue(const std::string& name) const {
  const auto found = epilogues_.find(name);
  FORETELL_CHECK(found != epilogues_.end(), "an epilogue");
  return found->second;
}

}  // namespace foretell

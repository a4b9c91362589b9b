// The study file: reading and checking.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "model/app/study/study.hpp"
#include "model/base/errors.hpp"
#include "model/base/limited_text.hpp"
#include "model/base/seed.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/problems.hpp"
#include "reports/record/json_text.hpp"
#include "reports/record/summary.hpp"

namespace foretell {
namespace {

constexpr long long kMaxEvaluations = 1'000'000;

bool is_formula(const Node& node) {
  return node.is_scalar() && node.text.find("${") != std::string::npos;
}

class StudyReader {
 public:
  explicit StudyReader(const Node& root) : root_(root) {}

  Study read() {
    problems_.collect([&] {
      root_.only_keys({"study", "base", "vary", "zip", "random", "derive", "define", "where",
                       "objectives", "search", "best_of", "also"},
                      "");
    });
    problems_.collect([&] { study_.name = root_.required("study", "").as_text("study"); });
    if (study_.name.empty()) problems_.add(root_, "study", "the study needs a name");
    with("base", [&](const Node& node) { read_base(node); });
    with("vary", [&](const Node& node) { read_vary(node); });
    with("zip", [&](const Node& node) { read_zips(node); });
    with("random", [&](const Node& node) { add_axis(read_random(node, problems_), node); });
    with("also", [&](const Node& node) { read_base(node); });
    with("derive", [&](const Node& node) { read_formulas(node, "derive", study_.derived); });
    with("define", [&](const Node& node) { read_definitions(node); });
    with("where", [&](const Node& node) { read_constraints(node); });
    with("search", [&](const Node& node) { read_search(node); });
    read_objectives(root_.find("objectives"));
    with("best_of", [&](const Node& node) { read_best_of(node); });
    problems_.throw_if_any();
    return std::move(study_);
  }

 private:
  template <class Read>
  void with(const char* key, const Read& read) {
    const Node* node = root_.find(key);
    if (node != nullptr) read(*node);
  }

  bool is_mapping(const Node& node, const char* name) {
    if (node.is_map()) return true;
    problems_.add(node, name, fmt::format("expected a mapping; here is {}", describe(node.kind)));
    return false;
  }

  // What varies takes the place of a value of the base; every other key is stated once.
  void note_key(const std::string& key, const Node& node) {
    const auto [found, is_new] = study_.stated_at.emplace(key, node.where());
    if (is_new) return;
    if (!reads_base_ && study_.base.erase(key) > 0) {
      found->second = node.where();
      return;
    }
    problems_.add(node, key, fmt::format("is stated already at {}", found->second));
  }

  void read_base(const Node& base) {
    if (!is_mapping(base, "base")) return;
    reads_base_ = true;
    for (const MapEntry& entry : base.entries) {
      const std::string key = canonical_key(entry.key);
      if (is_formula(entry.value)) {
        add_formula(key, entry.value, study_.derived);
      } else if (entry.value.is_scalar()) {
        note_key(key, entry.value);
        study_.base[key] = entry.value.text;
      } else {
        problems_.add(entry.value, entry.key,
                      "the base has single values; what varies stands below vary");
      }
    }
    reads_base_ = false;
  }

  void read_vary(const Node& vary) {
    if (!is_mapping(vary, "vary")) return;
    for (const MapEntry& entry : vary.entries) {
      if (is_formula(entry.value)) {
        add_formula(canonical_key(entry.key), entry.value, study_.derived);
        continue;
      }
      StudyAxis axis;
      axis.keys = {canonical_key(entry.key)};
      for (std::string& value : read_values(entry.value, entry.key, problems_))
        axis.rows.push_back({std::move(value)});
      add_axis(std::move(axis), entry.value);
    }
    if (vary.entries.empty())
      problems_.add(vary, "vary", "nothing varies; give at least one key, or leave it out");
  }

  void read_zips(const Node& node) {
    if (node.is_map()) return add_axis(read_zip(node, problems_), node);
    if (!node.is_list()) return problems_.add(node, "zip", "expected a list of mappings");
    for (const Node& item : node.items) add_axis(read_zip(item, problems_), item);
  }

  void add_axis(StudyAxis axis, const Node& node) {
    for (const std::string& key : axis.keys) note_key(key, node);
    if (!axis.rows.empty()) study_.axes.push_back(std::move(axis));
  }

  void add_formula(const std::string& key, const Node& node, std::vector<StudyFormula>& formulas) {
    problems_.collect([&] {
      const std::string& text = node.as_text(key);
      if (!key.empty()) note_key(key, node);
      formulas.push_back({key, text, node.where()});
    });
  }

  void read_formulas(const Node& node, const char* name, std::vector<StudyFormula>& formulas) {
    if (!is_mapping(node, name)) return;
    for (const MapEntry& entry : node.entries)
      add_formula(canonical_key(entry.key), entry.value, formulas);
  }

  void read_definitions(const Node& node) {
    read_formulas(node, "define", study_.defined);
    for (const StudyFormula& formula : study_.defined) {
      if (is_study_metric(formula.key))
        problems_.add(formula.where, formula.key, "is the name of a result; choose another one");
      if (formula.key.find('.') != std::string::npos) {
        problems_.add(formula.where, formula.key,
                      "a definition has a name of its own, without dots; what sets a parameter "
                      "stands below derive");
      }
    }
  }

  void read_constraints(const Node& node) {
    if (node.is_scalar()) return add_formula("", node, study_.constraints);
    if (!node.is_list()) return problems_.add(node, "where", "expected a list of conditions");
    for (const Node& item : node.items) add_formula("", item, study_.constraints);
  }

  void read_search(const Node& node) {
    problems_.collect([&] {
      node.only_keys({"evaluations", "seed"}, "search");
      StudySearch search;
      search.evaluations = node.required("evaluations", "search")
                               .as_integer("search.evaluations", 1, kMaxEvaluations);
      if (const Node* seed = node.find("seed"))
        search.seed = static_cast<std::uint64_t>(seed->as_integer("search.seed", 0, kMaxSeed));
      study_.search = search;
      if (study_.axes.empty()) {
        throw UserError(node.where() +
                        ": search: there is nothing to search in; add `vary:` with a list of "
                        "values for each parameter that may change");
      }
    });
  }

  void read_best_of(const Node& node) {
    if (!node.is_list() || node.items.empty())
      return problems_.add(node, "best_of", "expected a list of keys that vary: [on, dtype]");
    const std::vector<std::string> keys = study_.keys();
    for (const Node& item : node.items) {
      problems_.collect([&] {
        const std::string& key = item.as_text("best_of");
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
          throw UserError(fmt::format("{}: best_of: {}", item.where(),
                                      unknown_name("key that varies", key, keys).what()));
        }
        study_.best_of.push_back(key);
      });
    }
  }

  void read_objectives(const Node* node) {
    if (node == nullptr) {
      study_.objectives = {{"latency", false}, {"throughput", true}};
      study_.costs_by_default = !has_another_price();
      if (study_.costs_by_default) study_.objectives.push_back({"usd_per_million", false});
      return;
    }
    if (!node->is_list() || node->items.empty()) {
      return problems_.add(*node, "objectives",
                           "expected a list such as [latency, throughput, usd_per_million]");
    }
    for (const Node& item : node->items)
      problems_.collect([&] { read_objective(item.as_text("objectives"), item); });
  }

  // Whether machines are made up that no price is given for: then there is no cost to be least.
  bool has_another_price() const {
    bool is_made_up = false;
    bool is_priced = false;
    for (const auto& [key, place] : study_.stated_at) {
      is_made_up = is_made_up || starts_with(key, "device") || starts_with(key, "core.") ||
                   starts_with(key, "link.") || starts_with(key, "system.");
      is_priced = is_priced || starts_with(key, "system.price.");
    }
    return is_made_up && !is_priced;
  }

  // "throughput", or "min area", "max area" for a definition.
  void read_objective(const std::string& text, const Node& node) {
    const std::size_t space = text.find(' ');
    const std::string direction = space == std::string::npos ? "" : text.substr(0, space);
    StudyObjective objective{std::string(trim(text.substr(space + 1))), direction == "max"};
    if (space == std::string::npos) objective.name = text;
    std::vector<std::string> known;
    for (const SummaryMetric& metric : summary_metrics()) {
      known.emplace_back(metric.name);
      if (direction.empty() && objective.name == metric.name) objective.maximise = metric.maximise;
    }
    const bool is_metric = is_study_metric(objective.name);
    for (const StudyFormula& formula : study_.defined) known.push_back(formula.key);
    if (std::find(known.begin(), known.end(), objective.name) == known.end()) {
      throw UserError(fmt::format("{}: objectives: {}", node.where(),
                                  unknown_name("objective", objective.name, known).what()));
    }
    if (!direction.empty() && direction != "min" && direction != "max")
      throw UserError(fmt::format("{}: objectives: '{}': write min or max", node.where(), text));
    if (direction.empty() && !is_metric) {
      throw UserError(fmt::format("{}: objectives: say 'min {}' or 'max {}'", node.where(),
                                  objective.name, objective.name));
    }
    study_.objectives.push_back(std::move(objective));
  }

  const Node& root_;
  bool reads_base_ = false;
  Problems problems_;
  Study study_;
};

std::string with_commas(long double count) {
  std::string text = fmt::format("{:.0f}", count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

void check_count(const Study& study, const std::string& shown_as) {
  long double count = 1;
  std::vector<std::string> factors;
  for (const StudyAxis& axis : study.axes) {
    count *= static_cast<long double>(axis.rows.size());
    factors.push_back(
        fmt::format("{} {}", axis.rows.size(), axis.keys.size() == 1 ? axis.keys[0] : "of zip"));
  }
  const bool countable = count < 9e18L;
  if (countable && (study.search || count <= static_cast<long double>(kMaxPoints))) return;
  throw UserError(fmt::format(
      "{}: the study has {} points ({}), more than the {} that one study may have; narrow it, draw "
      "from it with `random: {{points: N, vary: …}}`{}",
      shown_as, with_commas(count), join(factors, " x "), with_commas(kMaxPoints),
      countable ? ", or look for its best points with `search: {evaluations: N}`" : ""));
}

}  // namespace

Study parse_study(const std::string& text, const std::string& shown_as) {
  const Node root = parse_document(text, shown_as);
  if (!root.is_map()) {
    throw UserError(shown_as +
                    ": is no study; it begins with `study: NAME` and has `base:` and `vary:`");
  }
  Study study = StudyReader(root).read();
  study.text = text;
  check_count(study, shown_as);
  return study;
}

Study load_study(const std::string& path, const std::map<std::string, std::string>& also) {
  const bool is_piped = path == "-";
  const std::string shown_as = is_piped ? "standard input" : path;
  std::string text = is_piped ? read_limited(std::cin, shown_as) : read_text_file(path);
  const char* before = "\nalso: {";
  for (const auto& [key, value] : also) {
    text += before + key + ": " + json_text(value);
    before = ", ";
  }
  if (!also.empty()) text += "}\n";
  return parse_study(text, shown_as);
}

}  // namespace foretell

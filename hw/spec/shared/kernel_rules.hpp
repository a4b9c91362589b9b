// Rules of the files in hw/kernels/: what holds when the facts of a call are such.
//
//   - when: {architecture: [hopper], head_dim: "> 256"}
//     max_split: 8
//
// Conditions of one `when` hold together; a rule without `when` always holds. A text is compared
// with one word or a list of words ("not" as the first one turns the list round), a number with
// "> 256", ">= 64", "< 2", "<= 128" or "1", a release with "< 0.8" or with its start, "1.0.*".
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/config/document.hpp"

namespace foretell {

// What rules of one kind may ask for, in the order in which callers state it.
struct FactName {
  enum class Kind { kText, kNumber, kRelease };
  const char* name;
  Kind kind;
};
using RuleDomain = std::vector<FactName>;

// One fact of a call; a release is a text.
struct RuleFact {
  RuleFact(double value) : number(value) {}            // NOLINT(google-explicit-constructor)
  RuleFact(const std::string& value) : text(value) {}  // NOLINT(google-explicit-constructor)
  RuleFact(const char* value) : text(value) {}         // NOLINT(google-explicit-constructor)
  double number = 0;
  std::string_view text;  // outlives the comparison
};

class RuleConditions {
 public:
  // The `when` of a rule. UserError with file:line for facts and comparisons that there are not.
  static RuleConditions read(const Node& rule, const RuleDomain& domain);

  // `facts` are those of the domain, in its order.
  bool hold(const std::vector<RuleFact>& facts) const;

 private:
  enum class Compare { kOneOf, kNoneOf, kEqual, kAbove, kFrom, kBelow, kUpTo, kStart };
  struct Condition {
    std::size_t fact = 0;
    FactName::Kind kind = FactName::Kind::kText;
    Compare compare = Compare::kOneOf;
    double number = 0;
    std::vector<std::string> words;
  };
  static Condition read_condition(const MapEntry& entry, const RuleDomain& domain);
  static bool holds(const Condition& condition, const RuleFact& fact);

  std::vector<Condition> conditions_;
};

// Is release `a` older (below 0), equal (0) or newer (above 0) than `b`? Numbers inside the texts
// count as numbers: "0.5.10" is newer than "0.5.9".
int compare_releases(std::string_view a, std::string_view b);

// The rules of one section of a file.
class RuleSection {
 public:
  RuleSection() = default;
  // `section` may be null: no rules. UserError with file:line.
  RuleSection(const Node* section, const RuleDomain& domain);

  struct Rule {
    RuleConditions conditions;
    Node node;
  };
  const std::vector<Rule>& rules() const { return rules_; }

 private:
  std::vector<Rule> rules_;
};

// "128x256".
std::pair<int, int> read_pair(const Node& node, std::string_view path);

}  // namespace foretell

// Whole-number arithmetic in the numbers of a program file: `rows: 2 * tile_k`, `bank: k % 8`.
//
// The grammar is that of model/config/expression_tree.hpp, as far as it has a meaning here: + - * /
// % with their usual precedence, parentheses, names, and decimal numbers that may carry B, KiB, MiB
// or GiB. Division has to leave no remainder. Everything is 64 bit; overflow is an error.
// UserErrors say what is wrong in the text; the caller adds the place.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

// What the names in an expression mean.
struct ExpressionNames {
  std::map<std::string, std::int64_t> constants;
  std::vector<std::string> indices;  // of the enclosing loops, outermost first
};

class Expression {
 public:
  Expression() = default;  // 0
  static Expression parse(std::string_view text, const ExpressionNames& names);

  // Does its value depend on a loop index?
  bool is_constant() const { return steps_.size() == 1 && steps_[0].kind == Step::kNumber; }
  // `indices`: the values of ExpressionNames::indices, as far as the expression was given them.
  std::int64_t value(const std::vector<std::int64_t>& indices) const;

 private:
  friend class ExpressionParser;
  struct Step {  // reverse Polish notation
    enum Kind : char {
      kNumber,
      kIndex,
      kAdd = '+',
      kSubtract = '-',
      kMultiply = '*',
      kDivide = '/',
      kRemainder = '%'
    };
    Kind kind = kNumber;
    std::int64_t value = 0;  // of a number; position of an index
  };

  std::vector<Step> steps_ = {Step{}};
};

}  // namespace foretell

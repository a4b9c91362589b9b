// The one grammar of arithmetic that people write, in studies and in program files.
//
//   either     = both ("or" both)*
//   both       = negated ("and" negated)*
//   negated    = "not" negated | comparison
//   comparison = sum [("<=" | ">=" | "==" | "!=" | "<" | ">") sum]
//   sum        = product (("+" | "-") product)*
//   product    = factor (("*" | "/" | "%") factor)*
//   factor     = "-" factor | "(" either ")" | number [unit] | 'word' | "word" | ${NAME} | NAME
//              | FUNCTION "(" either ("," either)* ")"
//
// What operators, names, units and functions mean, and which there are, is up to the evaluator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretell {

struct ExpressionNode {
  enum class Kind {
    kNumber,     // `text` as written, without its unit
    kWord,       // between quotes
    kReference,  // ${NAME}
    kName,
    kOperation,  // "<=", "and", …; "-" and "not" may have one operand
    kCall
  };
  Kind kind = Kind::kNumber;
  std::string text;
  std::string unit = {};  // of a number: "GB/s"
  std::vector<ExpressionNode> operands = {};
};

// UserErrors say what is wrong in the text; `expected` ends those of what has no place in it: "",
// or "; expected a whole number". Nesting is limited to 100 levels.
ExpressionNode parse_expression(std::string_view text, std::string_view expected = "");

}  // namespace foretell

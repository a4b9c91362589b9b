#include "model/program/file/expression.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/config/expression_tree.hpp"

namespace foretell {
namespace {

using Kind = ExpressionNode::Kind;

UserError overflow() { return UserError("the number is too large; it has to fit 64 bits"); }

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw overflow();
  return result;
}

std::int64_t calculate(char operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (operation) {
    case '+':
      if (__builtin_add_overflow(a, b, &result)) throw overflow();
      return result;
    case '-':
      if (__builtin_sub_overflow(a, b, &result)) throw overflow();
      return result;
    case '*':
      return multiply(a, b);
    default:
      break;
  }
  if (b == 0) throw UserError("division by zero");
  if (b == -1) return operation == '%' ? 0 : calculate('-', 0, a);
  if (operation == '%') return a % b;
  if (a % b != 0) {
    throw UserError(
        fmt::format("{} / {} leaves a remainder; only exact division makes sense here", a, b));
  }
  return a / b;
}

}  // namespace

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const ExpressionNames& names)
      : text_(text), names_(names) {}

  Expression parse() {
    expression_.steps_.clear();
    add(parse_expression(text_, "; expected a whole number or arithmetic with names"));
    return std::move(expression_);
  }

 private:
  void add(const ExpressionNode& node) {
    switch (node.kind) {
      case Kind::kNumber:
        return push({Expression::Step::kNumber, multiply(number(node.text), unit(node.unit))});
      case Kind::kName:
        return name(node.text);
      case Kind::kOperation:
        break;
      default:
        throw unexpected(node.text);
    }
    static constexpr std::string_view kSigns = "+-*/%";
    if (node.text.size() != 1 || kSigns.find(node.text) == std::string_view::npos)
      throw unexpected(node.text);
    if (node.operands.size() == 1) push({Expression::Step::kNumber, 0});
    for (const ExpressionNode& operand : node.operands) add(operand);
    combine(node.text.front());
  }

  std::int64_t number(const std::string& text) const {
    if (const std::optional<std::int64_t> value = to_count(text)) return *value;
    if (text.find_first_not_of("0123456789") == std::string::npos) throw overflow();
    throw UserError(fmt::format("'{}' is not a whole number", text_));
  }

  std::int64_t unit(const std::string& word) const {
    if (word.empty() || word == "B") return 1;
    if (word == "KiB") return std::int64_t{1} << 10;
    if (word == "MiB") return std::int64_t{1} << 20;
    if (word == "GiB") return std::int64_t{1} << 30;
    throw UserError(
        fmt::format("'{}': no such unit '{}'; there are B, KiB, MiB and GiB", text_, word));
  }

  void name(const std::string& word) {
    const auto index = std::find(names_.indices.begin(), names_.indices.end(), word);
    if (index != names_.indices.end()) {
      push({Expression::Step::kIndex, index - names_.indices.begin()});
      return;
    }
    const auto constant = names_.constants.find(word);
    if (constant == names_.constants.end()) throw unknown(word);
    push({Expression::Step::kNumber, constant->second});
  }

  UserError unknown(const std::string& word) const {
    std::vector<std::string> known = names_.indices;
    for (const auto& constant : names_.constants) known.push_back(constant.first);
    if (known.empty()) {
      return UserError(
          fmt::format("'{}' is not a whole number, and the file has no parameters", word));
    }
    return unknown_name("parameter", word, known);
  }

  // Puts an operation after its two operands, or its result in their place.
  void combine(char operation) {
    auto& steps = expression_.steps_;
    const auto size = steps.size();
    const bool known = size >= 2 && steps[size - 1].kind == Expression::Step::kNumber &&
                       steps[size - 2].kind == Expression::Step::kNumber;
    if (!known) {
      steps.push_back({static_cast<Expression::Step::Kind>(operation), 0});
      return;
    }
    const std::int64_t result = calculate(operation, steps[size - 2].value, steps[size - 1].value);
    steps.pop_back();
    steps.back().value = result;
  }

  void push(Expression::Step step) { expression_.steps_.push_back(step); }

  UserError unexpected(const std::string& what) const {
    return UserError(fmt::format(
        "'{}': '{}' is not expected here; expected a whole number or arithmetic with names", text_,
        what));
  }

  std::string_view text_;
  const ExpressionNames& names_;
  Expression expression_;
};

Expression Expression::parse(std::string_view text, const ExpressionNames& names) {
  return ExpressionParser(text, names).parse();
}

std::int64_t Expression::value(const std::vector<std::int64_t>& indices) const {
  if (is_constant()) return steps_[0].value;
  std::vector<std::int64_t> stack;
  for (const Step& step : steps_) {
    if (step.kind == Step::kNumber) {
      stack.push_back(step.value);
    } else if (step.kind == Step::kIndex) {
      stack.push_back(indices.at(static_cast<std::size_t>(step.value)));
    } else {
      const std::int64_t right = stack.back();
      stack.pop_back();
      stack.back() = calculate(static_cast<char>(step.kind), stack.back(), right);
    }
  }
  FORETELL_CHECK(stack.size() == 1, "an expression that leaves more than one value");
  return stack.back();
}

}  // namespace foretell

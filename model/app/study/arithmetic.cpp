#include "model/app/study/arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/expression_tree.hpp"

namespace foretell {
namespace {

constexpr double kEqual = 1e-12;  // relative difference that rounding may leave

StudyValue number(double value, Dimension dimension = {}) { return {true, value, dimension, {}}; }
StudyValue truth(bool value) { return number(value ? 1 : 0); }

Dimension scaled(Dimension a, int sign, Dimension b) {
  return {a.time + sign * b.time,   a.data + sign * b.data,   a.work + sign * b.work,
          a.cycle + sign * b.cycle, a.money + sign * b.money, a.energy + sign * b.energy};
}

using Kind = ExpressionNode::Kind;

const std::vector<std::string> kFunctions = {"min",   "max",  "floor", "ceil",
                                             "round", "sqrt", "log2"};

class Calculator {
 public:
  Calculator(std::string_view text, const StudyNames& names) : text_(text), names_(names) {}

  StudyValue result() { return value_of(parse_expression(text_)); }

 private:
  StudyValue value_of(const ExpressionNode& node) {
    switch (node.kind) {
      case Kind::kNumber:
        return literal(node);
      case Kind::kWord:
        return {false, 0, {}, node.text};
      case Kind::kReference:
        return names_(node.text);
      case Kind::kName:
        throw no_function(node.text);
      case Kind::kCall:
        return call(node);
      case Kind::kOperation:
        break;
    }
    StudyValue left = value_of(node.operands.front());
    if (node.operands.size() == 1) {
      if (node.text == "not") return truth(!is_true(left));
      require_number(left);
      left.number = -left.number;
      return left;
    }
    return combined(left, node.text, value_of(node.operands.back()));
  }

  StudyValue combined(const StudyValue& left, const std::string& sign, const StudyValue& right) {
    if (sign == "or" || sign == "and") {
      const bool first = is_true(left);
      const bool second = is_true(right);
      return truth(sign == "or" ? first || second : first && second);
    }
    if (sign == "+" || sign == "-") {
      require_equal(left, sign, right);
      const double number = sign == "+" ? left.number + right.number : left.number - right.number;
      return foretell::number(number, left.dimension);
    }
    if (sign == "*" || sign == "/") return product(left, sign == "*", right);
    if (sign == "%")
      throw UserError(fmt::format("'{}': '%' is not expected here; there are + - * and /", text_));
    return compared(left, sign, right);
  }

  StudyValue product(const StudyValue& left, bool multiplies, const StudyValue& right) {
    require_number(left);
    require_number(right);
    if (!multiplies && !(std::abs(right.number) > 0))
      throw UserError(fmt::format("'{}' divides by zero", text_));
    return number(multiplies ? left.number * right.number : left.number / right.number,
                  scaled(left.dimension, multiplies ? 1 : -1, right.dimension));
  }

  StudyValue compared(const StudyValue& left, std::string_view sign, const StudyValue& right) {
    if (!left.is_number || !right.is_number) {
      const bool same = left.is_number == right.is_number && left.word == right.word;
      if (sign == "==") return truth(same);
      if (sign == "!=") return truth(!same);
      throw UserError(fmt::format("'{}': words can be compared by == and != only", text_));
    }
    require_equal(left, sign, right);
    const double margin = kEqual * std::max(std::abs(left.number), std::abs(right.number));
    const bool equal = std::abs(left.number - right.number) <= margin;
    if (sign == "==") return truth(equal);
    if (sign == "!=") return truth(!equal);
    if (sign == "<") return truth(!equal && left.number < right.number);
    if (sign == ">") return truth(!equal && left.number > right.number);
    return truth(equal || (sign == "<=" ? left.number < right.number : left.number > right.number));
  }

  StudyValue literal(const ExpressionNode& node) {
    const std::optional<AnyQuantity> value = parse_any_quantity(node.text);
    if (!value) throw UserError(fmt::format("'{}': '{}' is not expected here", text_, node.text));
    if (node.unit.empty()) return number(value->value);
    const std::optional<AnyQuantity> unit = find_unit(node.unit);
    if (!unit) {
      throw UserError(
          fmt::format("'{}': no such unit '{}'; for example 820 GB/s, 24 MiB, 5 ms, 0.76 USD/h",
                      text_, node.unit));
    }
    return number(value->value * unit->value, unit->dimension);
  }

  UserError no_function(const std::string& name) const {
    return UserError(
        fmt::format("'{}': '{}' is no function ({}); names are written ${{{}}}, words in quotes",
                    text_, name, join(kFunctions, ", "), name));
  }

  StudyValue call(const ExpressionNode& node) {
    if (std::find(kFunctions.begin(), kFunctions.end(), node.text) == kFunctions.end())
      throw no_function(node.text);
    std::vector<StudyValue> arguments;
    for (const ExpressionNode& operand : node.operands) arguments.push_back(value_of(operand));
    return call(node.text, arguments);
  }

  StudyValue call(const std::string& name, const std::vector<StudyValue>& arguments) {
    StudyValue value = arguments.front();
    require_number(value);
    if (name == "min" || name == "max") {
      for (const StudyValue& other : arguments) {
        require_equal(value, name, other);
        value.number = name == "min" ? std::min(value.number, other.number)
                                     : std::max(value.number, other.number);
      }
      return value;
    }
    if (arguments.size() > 1) throw UserError(fmt::format("'{}': {} takes one value", text_, name));
    if (!(value.dimension == Dimension{})) {
      throw UserError(
          fmt::format("'{}': {} takes a number without unit; divide by one of them", text_, name));
    }
    if (name == "floor") return number(std::floor(value.number));
    if (name == "ceil") return number(std::ceil(value.number));
    if (name == "round") return number(std::round(value.number));
    const double result = name == "sqrt" ? std::sqrt(value.number) : std::log2(value.number);
    if (!std::isfinite(result))
      throw UserError(fmt::format("'{}': {} of {}", text_, name, value.number));
    return number(result);
  }

  void require_number(const StudyValue& value) const {
    if (value.is_number) return;
    throw UserError(fmt::format("'{}': '{}' is a word, expected a number", text_, value.word));
  }

  void require_equal(const StudyValue& left, std::string_view sign, const StudyValue& right) const {
    require_number(left);
    require_number(right);
    if (left.dimension == right.dimension) return;
    throw UserError(fmt::format("'{}': {} of a {} and a {}", text_, sign, unit_of(left.dimension),
                                unit_of(right.dimension)));
  }

  static std::string unit_of(Dimension dimension) {
    return has_unit(dimension) ? describe(dimension) : "quantity without a unit of its own";
  }

  bool is_true(const StudyValue& value) const {
    require_number(value);
    return std::abs(value.number) > 0;
  }

  std::string_view text_;
  const StudyNames& names_;
};

void check_alike(const StudyValue& value, const StudyValue& other) {
  FORETELL_CHECK(value.is_number && other.is_number && value.dimension == other.dimension,
                 "values of one dimension");
}

}  // namespace

double ratio_of(const StudyValue& value, const StudyValue& other) {
  check_alike(value, other);
  return value.number / other.number;
}

bool is_less(const StudyValue& value, const StudyValue& other) {
  check_alike(value, other);
  return value.number < other.number;
}

StudyValue scaled(StudyValue value, double factor) {
  FORETELL_CHECK(value.is_number, "a word has no multiples");
  value.number *= factor;
  return value;
}

StudyValue parse_study_value(std::string_view text) {
  if (const std::optional<AnyQuantity> quantity = parse_any_quantity(text))
    return number(quantity->value, quantity->dimension);
  StudyValue value;
  value.word = std::string(trim(text));
  return value;
}

std::string to_study_text(const StudyValue& value) {
  if (!value.is_number) return value.word;
  if (!std::isfinite(value.number)) throw UserError("the result is not a finite number");
  if (!has_unit(value.dimension))
    throw UserError("the result has no unit that a parameter could have; check the arithmetic");
  return short_quantity(value.number, value.dimension);
}

StudyValue evaluate(std::string_view text, const StudyNames& names) {
  return Calculator(text, names).result();
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at)) {
    const std::size_t close = text.find('}', at);
    if (close == std::string_view::npos) break;
    const std::string name(trim(text.substr(at + 2, close - at - 2)));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    at = close;
  }
  return names;
}

}  // namespace foretell

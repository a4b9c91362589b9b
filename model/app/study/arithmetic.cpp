#include "model/app/study/arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr int kDeepestNesting = 100;
constexpr double kEqual = 1e-12;  // relative difference that rounding may leave

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

StudyValue number(double value, Dimension dimension = {}) { return {true, value, dimension, {}}; }
StudyValue truth(bool value) { return number(value ? 1 : 0); }

Dimension scaled(Dimension a, int sign, Dimension b) {
  return {a.time + sign * b.time, a.data + sign * b.data, a.work + sign * b.work,
          a.cycle + sign * b.cycle, a.money + sign * b.money};
}

class Calculator {
 public:
  Calculator(std::string_view text, const StudyNames& names) : text_(text), names_(names) {}

  StudyValue result() {
    StudyValue value = either();
    if (!at_end()) throw unexpected();
    return value;
  }

 private:
  StudyValue either() {
    StudyValue value = both();
    while (take_word("or")) {
      const bool right = is_true(both());
      value = truth(is_true(value) || right);
    }
    return value;
  }

  StudyValue both() {
    StudyValue value = negated();
    while (take_word("and")) {
      const bool right = is_true(negated());
      value = truth(is_true(value) && right);
    }
    return value;
  }

  StudyValue negated() {
    if (take_word("not")) return truth(!is_true(negated()));
    return comparison();
  }

  StudyValue comparison() {
    const StudyValue left = sum();
    for (const char* sign : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (take(sign)) return compared(left, sign, sum());
    }
    return left;
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

  StudyValue sum() {
    StudyValue value = product();
    for (char sign = peek(); sign == '+' || sign == '-'; sign = peek()) {
      ++at_;
      const StudyValue right = product();
      require_equal(value, sign == '+' ? "+" : "-", right);
      value.number += sign == '+' ? right.number : -right.number;
    }
    return value;
  }

  StudyValue product() {
    StudyValue value = factor();
    for (char sign = peek(); sign == '*' || sign == '/'; sign = peek()) {
      ++at_;
      const StudyValue right = factor();
      require_number(value);
      require_number(right);
      if (sign == '/' && !(std::abs(right.number) > 0))
        throw UserError(fmt::format("'{}' divides by zero", text_));
      value.number = sign == '*' ? value.number * right.number : value.number / right.number;
      value.dimension = scaled(value.dimension, sign == '*' ? 1 : -1, right.dimension);
    }
    return value;
  }

  StudyValue factor() {
    if (++depth_ > kDeepestNesting) throw UserError("the expression is nested too deeply");
    StudyValue value = atom();
    --depth_;
    return value;
  }

  StudyValue atom() {
    const char c = peek();
    if (c == '-') {
      ++at_;
      StudyValue value = factor();
      require_number(value);
      value.number = -value.number;
      return value;
    }
    if (c == '(') {
      ++at_;
      StudyValue value = either();
      expect(')');
      return value;
    }
    if (c == '$') return reference();
    if (c == '\'' || c == '"') return quoted(c);
    if (is_digit(c) || c == '.') return literal();
    if (is_letter(c)) return function();
    throw unexpected();
  }

  StudyValue reference() {
    const std::size_t close = text_.find('}', at_);
    if (at_ + 1 >= text_.size() || text_[at_ + 1] != '{' || close == std::string_view::npos)
      throw UserError(fmt::format("'{}': a name is written ${{device.cores}}", text_));
    const std::string name(trim(text_.substr(at_ + 2, close - at_ - 2)));
    at_ = close + 1;
    return names_(name);
  }

  StudyValue quoted(char quote) {
    const std::size_t close = text_.find(quote, at_ + 1);
    if (close == std::string_view::npos)
      throw UserError(fmt::format("'{}': a closing quote is missing", text_));
    StudyValue value;
    value.word = std::string(text_.substr(at_ + 1, close - at_ - 1));
    at_ = close + 1;
    return value;
  }

  StudyValue literal() {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) throw unexpected();
    at_ = static_cast<std::size_t>(end - text_.data());
    const std::size_t behind_number = at_;
    skip_space();
    const std::string name = unit_name();
    if (name.empty() || is_operator(name)) {
      at_ = behind_number;
      return number(value);
    }
    const std::optional<AnyQuantity> unit = find_unit(name);
    if (!unit) {
      throw UserError(
          fmt::format("'{}': no such unit '{}'; for example 820 GB/s, 24 MiB, 5 ms, "
                      "0.76 USD/h",
                      text_, name));
    }
    return number(value * unit->value, unit->dimension);
  }

  static bool is_operator(const std::string& word) {
    return word == "and" || word == "or" || word == "not";
  }

  // "GB/s" as far as it is a unit, "GB" of "GB/x".
  std::string unit_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    std::string name(text_.substr(begin, at_ - begin));
    if (name.empty() || at_ >= text_.size() || text_[at_] != '/') return name;
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    const std::string rate(text_.substr(begin, end - begin));
    if (!find_unit(rate)) return name;
    at_ = end;
    return rate;
  }

  StudyValue function() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    static const std::vector<std::string> kFunctions = {"min",   "max",  "floor", "ceil",
                                                        "round", "sqrt", "log2"};
    if (std::find(kFunctions.begin(), kFunctions.end(), name) == kFunctions.end()) {
      throw UserError(
          fmt::format("'{}': '{}' is no function ({}); names are written ${{{}}}, words in quotes",
                      text_, name, join(kFunctions, ", "), name));
    }
    expect('(');
    std::vector<StudyValue> arguments = {either()};
    while (peek() == ',') {
      ++at_;
      arguments.push_back(either());
    }
    expect(')');
    return call(name, arguments);
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

  bool take(std::string_view sign) {
    skip_space();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }

  bool take_word(std::string_view word) {
    skip_space();
    const std::size_t end = at_ + word.size();
    const bool ends = end >= text_.size() || !(is_letter(text_[end]) || is_digit(text_[end]));
    return ends && take(word);
  }

  void expect(char c) {
    if (peek() != c) {
      throw UserError(
          at_end() ? fmt::format("'{}': '{}' is missing at the end", text_, c)
                   : fmt::format("'{}': '{}' is missing before '{}'", text_, c, text_.substr(at_)));
    }
    ++at_;
  }

  UserError unexpected() {
    if (trim(text_).empty()) return UserError("nothing is stated; expected arithmetic");
    if (at_end()) return UserError(fmt::format("'{}' ends too early", text_));
    return UserError(fmt::format("'{}': '{}' is not expected here", text_, text_.substr(at_)));
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }
  char peek() { return at_end() ? '\0' : text_[at_]; }

  std::string_view text_;
  const StudyNames& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

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

#include "model/program/file/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr int kDeepestNesting = 100;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

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
    sum();
    skip_space();
    if (at_ < text_.size()) throw unexpected();
    return std::move(expression_);
  }

 private:
  void sum() {
    product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      ++at_;
      product();
      combine(c);
    }
  }

  void product() {
    factor();
    for (char c = peek(); c == '*' || c == '/' || c == '%'; c = peek()) {
      ++at_;
      factor();
      combine(c);
    }
  }

  void factor() {
    if (++depth_ > kDeepestNesting) throw UserError("the expression is nested too deeply");
    const char c = peek();
    if (c == '-') {
      ++at_;
      push({Expression::Step::kNumber, 0});
      factor();
      combine('-');
    } else if (c == '(') {
      ++at_;
      sum();
      if (peek() != ')')
        throw UserError(fmt::format("'{}': a closing parenthesis is missing", text_));
      ++at_;
    } else if (is_digit(c)) {
      number();
    } else if (is_name_start(c)) {
      name();
    } else {
      throw unexpected();
    }
    --depth_;
  }

  void number() {
    std::int64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      value = calculate('+', multiply(value, 10), text_[at_] - '0');
    }
    if (at_ < text_.size() && (text_[at_] == '.' || is_name_start(text_[at_]))) {
      throw UserError(fmt::format("'{}' is not a whole number", text_));
    }
    push({Expression::Step::kNumber, multiply(value, unit())});
  }

  // The factor of a unit that follows a number, or 1.
  std::int64_t unit() {
    skip_space();
    const std::size_t begin = at_;
    const std::string word = read_name();
    if (word.empty()) return 1;
    if (word == "B") return 1;
    if (word == "KiB") return std::int64_t{1} << 10;
    if (word == "MiB") return std::int64_t{1} << 20;
    if (word == "GiB") return std::int64_t{1} << 30;
    at_ = begin;
    throw UserError(
        fmt::format("'{}': no such unit '{}'; there are B, KiB, MiB and GiB", text_, word));
  }

  void name() {
    const std::string word = read_name();
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

  std::string read_name() {
    const std::size_t begin = at_;
    if (at_ < text_.size() && is_name_start(text_[at_])) {
      while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  // Puts an operation behind its two operands, or its result in their place.
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

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  UserError unexpected() const {
    if (trim(text_).empty()) return UserError("nothing is stated; expected a whole number");
    if (at_ >= text_.size()) return UserError(fmt::format("'{}' ends too early", text_));
    return UserError(fmt::format(
        "'{}': '{}' is not expected here; expected a whole number or arithmetic with names", text_,
        text_.substr(at_, 1)));
  }

  std::string_view text_;
  const ExpressionNames& names_;
  Expression expression_;
  std::size_t at_ = 0;
  int depth_ = 0;
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

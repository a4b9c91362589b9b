#include "model/config/expression_tree.hpp"

#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

using Kind = ExpressionNode::Kind;

constexpr int kMaxNesting = 100;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name_part(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, std::string_view expected)
      : text_(text), expected_(expected) {}

  ExpressionNode whole() {
    if (trim(text_).empty()) {
      throw UserError(fmt::format("nothing is stated{}",
                                  expected_.empty() ? "; expected arithmetic" : expected_));
    }
    ExpressionNode node = either();
    if (!at_end()) throw unexpected();
    return node;
  }

 private:
  ExpressionNode either() {
    ExpressionNode node = both();
    while (take_word("or")) node = operation("or", {std::move(node), both()});
    return node;
  }

  ExpressionNode both() {
    ExpressionNode node = negated();
    while (take_word("and")) node = operation("and", {std::move(node), negated()});
    return node;
  }

  ExpressionNode negated() {
    const Nesting nesting(*this);
    if (take_word("not")) return operation("not", {negated()});
    return comparison();
  }

  ExpressionNode comparison() {
    ExpressionNode left = sum();
    for (const char* sign : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (take(sign)) return operation(sign, {std::move(left), sum()});
    }
    return left;
  }

  ExpressionNode sum() {
    ExpressionNode node = product();
    for (char sign = peek(); sign == '+' || sign == '-'; sign = peek()) {
      ++at_;
      node = operation(std::string(1, sign), {std::move(node), product()});
    }
    return node;
  }

  ExpressionNode product() {
    ExpressionNode node = factor();
    for (char sign = peek(); sign == '*' || sign == '/' || sign == '%'; sign = peek()) {
      ++at_;
      node = operation(std::string(1, sign), {std::move(node), factor()});
    }
    return node;
  }

  ExpressionNode factor() {
    const Nesting nesting(*this);
    const char c = peek();
    if (c == '-') {
      ++at_;
      return operation("-", {factor()});
    }
    if (c == '(') {
      ++at_;
      ExpressionNode node = either();
      expect(')');
      return node;
    }
    if (c == '$') return reference();
    if (c == '\'' || c == '"') return quoted(c);
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c) || c == '_') return name();
    throw unexpected();
  }

  ExpressionNode reference() {
    const std::size_t close = text_.find('}', at_);
    if (at_ + 1 >= text_.size() || text_[at_ + 1] != '{' || close == std::string_view::npos)
      throw UserError(fmt::format("'{}': a name is written ${{device.cores}}", text_));
    ExpressionNode node{Kind::kReference,
                        std::string(trim(text_.substr(at_ + 2, close - at_ - 2)))};
    at_ = close + 1;
    return node;
  }

  ExpressionNode quoted(char quote) {
    const std::size_t close = text_.find(quote, at_ + 1);
    if (close == std::string_view::npos)
      throw UserError(fmt::format("'{}': a closing quote is missing", text_));
    ExpressionNode node{Kind::kWord, std::string(text_.substr(at_ + 1, close - at_ - 1))};
    at_ = close + 1;
    return node;
  }

  ExpressionNode number() {
    const LeadingNumber number = leading_number(text_.substr(at_));
    if (!number.is_number) throw unexpected();
    const std::size_t after = text_.size() - number.rest.size();
    ExpressionNode node{Kind::kNumber, std::string(text_.substr(at_, after - at_))};
    at_ = after;
    skip_space();
    node.unit = unit();
    if (node.unit.empty()) at_ = after;
    return node;
  }

  // "GB/s" as far as it is a unit, "GB" of "GB/x"; nothing where an operator follows.
  std::string unit() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    const bool is_word = at_ > begin;
    while (is_word && at_ < text_.size() && is_name_part(text_[at_])) ++at_;  // "mm2"
    std::string name(text_.substr(begin, at_ - begin));
    if (name == "and" || name == "or" || name == "not") return "";
    if (name.empty() || at_ >= text_.size() || text_[at_] != '/') return name;
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    std::string rate(text_.substr(begin, end - begin));
    if (!find_unit(rate)) return name;
    at_ = end;
    return rate;
  }

  ExpressionNode name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    ExpressionNode node{Kind::kName, std::string(text_.substr(begin, at_ - begin))};
    if (peek() != '(') return node;
    node.kind = Kind::kCall;
    do {
      ++at_;
      node.operands.push_back(either());
    } while (peek() == ',');
    expect(')');
    return node;
  }

  static ExpressionNode operation(std::string sign, std::vector<ExpressionNode> operands) {
    return {Kind::kOperation, std::move(sign), "", std::move(operands)};
  }

  // Depth of what calls itself, so that no text overflows the stack.
  class Nesting {
   public:
    explicit Nesting(TreeBuilder& builder) : depth_(builder.depth_) {
      if (++depth_ > 2 * kMaxNesting) throw UserError("the expression is nested too deeply");
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --depth_; }

   private:
    int& depth_;
  };

  bool take(std::string_view sign) {
    skip_space();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }

  bool take_word(std::string_view word) {
    skip_space();
    const std::size_t end = at_ + word.size();
    const bool ends = end >= text_.size() || !is_name_part(text_[end]);
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
    if (at_end()) return UserError(fmt::format("'{}' ends too early", text_));
    const std::string_view rest = text_.substr(at_);
    return UserError(fmt::format("'{}': '{}' is not expected here{}", text_,
                                 rest.substr(0, rest.find(' ')), expected_));
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
  std::string_view expected_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

ExpressionNode parse_expression(std::string_view text, std::string_view expected) {
  return TreeBuilder(text, expected).whole();
}

}  // namespace foretell

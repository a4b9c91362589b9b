#include "workloads/import/hf/config/module_pattern.hpp"

#include <fnmatch.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMaxDigits = 5;           // of the number of a layer
constexpr std::int64_t kMaxMemory = 256 << 10;  // bytes of a compiled expression

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

// What stands before the layers of a decoder in names; other parts have layers, too.
bool is_before_layers(std::string_view word) {
  static const std::set<std::string_view> kWords = {
      "",           "*",       "model", "language_model", "backbone", "transformer", "thinker",
      "text_model", "decoder", "llm",   "module"};
  return kWords.count(word) > 0;
}

bool holds_parts(const std::string& name, const std::string& parts) {
  return ("." + name + ".").find("." + parts + ".") != std::string::npos;
}

bool fits(const std::string& glob, const std::string& name) {
  return fnmatch(glob.c_str(), name.c_str(), 0) == 0 ||
         fnmatch((glob + ".*").c_str(), name.c_str(), 0) == 0;
}

// nullptr where it cannot be read.
std::shared_ptr<const RE2> compiled(const std::string& text) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxMemory);
  auto expression = std::make_shared<const RE2>(text, options);
  return expression->ok() ? expression : nullptr;
}

// As Python's re.match: from the start, with any text after it.
bool begins_with(const std::string& text, const RE2& expression) {
  return expression.Match(text, 0, text.size(), RE2::ANCHOR_START, nullptr, 0);
}

// Where the group that begins at `open` ends; npos: nowhere.
std::size_t end_of_group(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && --depth == 0) {
      return i;
    }
  }
  return std::string::npos;
}

}  // namespace

ModulePattern::ModulePattern(const std::string& text) : text_(text) {
  if (starts_with(text, "re:")) {
    read_expression(text.substr(3));
    return;
  }
  is_class_ = !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) != 0 &&
              text.find_first_of(".*_") == std::string::npos;
  if (is_class_) return;
  while (!text_.empty() && text_.back() == '.') text_.pop_back();
  readable_ = !text_.empty();
  read_layer();
  is_glob_ = text_.find_first_of("*?[") != std::string::npos;
  has_digits_ = has_digits_ || (is_glob_ && has_digit(text_));
}

bool ModulePattern::is_of_class(bool routed_experts) const {
  if (text_ == "Linear") return true;
  const bool experts =
      text_.find("Expert") != std::string::npos || text_.find("MoE") != std::string::npos;
  return experts && routed_experts;
}

bool ModulePattern::is_about(const std::string& place, const std::string& name) const {
  if (layer_) return text_.empty() || is_at_start(name);
  const std::string whole = (begins_with_layers_ ? "" : prefix_) + place + name;
  if (expression_) return begins_with(whole, *expression_);
  return is_glob_ ? fits(text_, whole) : holds_parts(whole, text_);
}

bool ModulePattern::refuses(const std::string& place, const std::string& name) const {
  return std::any_of(refused_.begin(), refused_.end(),
                     [&](const auto& one) { return begins_with(prefix_ + place + name, *one); });
}

bool ModulePattern::is_at_start(const std::string& name) const {
  if (is_glob_) return fits(text_, name);
  return starts_with(name, text_) && (name.size() == text_.size() || name[text_.size()] == '.');
}

// In time that grows with the lengths of expression and name alone, which leaves look-around out,
// but for what the whole name must not begin with: "^(?!.*experts).*".
void ModulePattern::read_expression(const std::string& text) {
  has_digits_ = has_digit(text);
  std::string plain = text;
  plain.erase(std::remove(plain.begin(), plain.end(), '\\'), plain.end());
  for (const char* prefix : {"model.language_model.", "language_model.model.", "backbone."}) {
    if (plain.find(prefix) != std::string::npos) prefix_ = prefix;
  }
  std::string rest = text.substr(starts_with(text, "^") ? 1 : 0);
  readable_ = false;
  constexpr std::size_t kOpen = 3;  // characters of "(?!"
  while (starts_with(rest, "(?!")) {
    const std::size_t end = end_of_group(rest, 0);
    if (end == std::string::npos) return;
    refused_.push_back(compiled(rest.substr(kOpen, end - kOpen)));
    if (refused_.back() == nullptr) return;
    rest.erase(0, end + 1);
  }
  expression_ = compiled(rest);
  readable_ = expression_ != nullptr;
}

// "model.layers.3.mlp" is "mlp" of layer 3; "model.layers.*.mlp" stays "layers.*.mlp".
void ModulePattern::read_layer() {
  const std::vector<std::string> words = split(text_, '.');
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool layers = words[i] == "layers" || words[i] == "h" || words[i] == "blocks";
    const std::string& number = words[i + 1];
    const bool one = is_number(number) && number.size() <= kMaxDigits;
    if (!layers || (!one && number.find_first_of("*?[") == std::string::npos)) continue;
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    elsewhere_ = !std::all_of(words.begin(), at, is_before_layers);
    text_ = join({at + 2, words.end()}, ".");
    if (one) {
      layer_ = to_count(number);
      return;
    }
    begins_with_layers_ = true;
    has_digits_ = has_digit(number);
    text_ = "layers." + number + (text_.empty() ? "" : "." + text_);
    return;
  }
}

}  // namespace foretell

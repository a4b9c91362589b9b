#include "calib/validate/left_out_rows.hpp"

#include <fmt/format.h>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::size_t kShownReasons = 20;
constexpr std::size_t kShownLines = 8;

// "call_ms" is in "ms".
std::string unit_of(const std::string& column) {
  const std::size_t end = column.rfind('_');
  const std::string unit = end == std::string::npos ? "" : column.substr(end + 1);
  return unit == "ms" || unit == "us" ? " in " + unit + ", without the unit" : "";
}

// "line 4", "lines 4, 7 and 9", "lines 4, 7, … and 90 more".
std::string lines_text(const std::vector<std::size_t>& lines, std::size_t count) {
  std::string text = count == 1 ? "line " : "lines ";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_last = i + 1 == count;
    if (i > 0) text += is_last ? " and " : ", ";
    text += std::to_string(lines[i]);
  }
  if (count > lines.size()) text += fmt::format(" and {} more", count - lines.size());
  return text;
}

}  // namespace

void LeftOutRows::add(const std::string& reason, std::size_t line) {
  const auto [place, is_new] = places_.emplace(reason, reasons_.size());
  if (is_new) reasons_.push_back({reason, 0, {}});
  Reason& known = reasons_[place->second];
  ++known.count;
  if (known.lines.size() < kShownLines) known.lines.push_back(line);
  ++count_;
}

std::vector<std::string> LeftOutRows::texts() const {
  std::vector<std::string> texts;
  std::size_t shown = 0;
  for (const Reason& reason : reasons_) {
    if (texts.size() == kShownReasons) break;
    texts.push_back(lines_text(reason.lines, reason.count) + ": " + reason.text);
    shown += reason.count;
  }
  if (shown < count_) texts.push_back(fmt::format("and {} rows more", count_ - shown));
  return texts;
}

std::optional<double> read_measurement(const std::string& column, const std::string& cell) {
  const std::string_view text = trim(cell);
  if (text.empty()) return std::nullopt;
  const std::optional<double> value = to_number(text);
  if (!value || !(*value > 0)) {
    throw UserError(fmt::format("{}: '{}' is no measurement; expected a number above 0{}", column,
                                text, unit_of(column)));
  }
  return value;
}

bool is_below_clock(const std::string& column, const std::string& cell) {
  return column == "latency_us" && to_number(trim(cell)) == 0.0;
}

}  // namespace foretell

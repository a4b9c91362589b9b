#include "model/app/request/resolve/distribution_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr std::string_view kUniform = "uniform:";
constexpr std::string_view kHistogram = "histogram:";
constexpr std::string_view kList = "list:";

UserError wrong_form(std::string_view name, std::string_view text) {
  return UserError(fmt::format(
      "{}: '{}' is not allowed; a distribution is uniform:LOW..HIGH, uniform:LOW..HIGH:STEP, "
      "list:A/B/C or histogram:FILE (CSV with the columns length and weight)",
      name, text));
}

void check_count_of_values(std::string_view name, double values) {
  if (values <= static_cast<double>(kMaxLengths)) return;
  throw UserError(fmt::format(
      "{}: {:.0f} different values; {} are possible, take every n-th: uniform:LOW..HIGH:STEP", name,
      values, kMaxLengths));
}

Distribution parse_uniform(std::string_view name, std::string_view text, std::int64_t low,
                           std::int64_t high) {
  const std::string_view range = text.substr(kUniform.size());
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) throw wrong_form(name, text);
  const std::size_t colon = range.find(':', dots);
  const std::string_view last =
      range.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2);
  const std::int64_t first = parse_count(name, range.substr(0, dots), low, high);
  const std::int64_t end = parse_count(name, last, low, high);
  const std::int64_t step =
      colon == std::string_view::npos
          ? 1
          : parse_count(std::string(name) + ", step", range.substr(colon + 1), 1, high);
  if (first > end) {
    throw UserError(
        fmt::format("{}: '{}' is not allowed; {} is above {}, swap them", name, text, first, end));
  }
  const auto from = static_cast<double>(first);
  const auto to = static_cast<double>(end);
  check_count_of_values(name, std::floor((to - from) / static_cast<double>(step)) + 1);
  return Distribution::uniform(from, to, static_cast<double>(step));
}

Distribution parse_list(std::string_view name, std::string_view text, std::int64_t low,
                        std::int64_t high) {
  std::vector<Distribution::Point> points;
  for (const std::string& one : split(text.substr(kList.size()), '/')) {
    points.push_back({static_cast<double>(parse_count(name, one, low, high)), 1});
    check_count_of_values(name, static_cast<double>(points.size()));
  }
  return Distribution(std::move(points));
}

double parse_weight(const std::string& where, const std::string& text) {
  const std::optional<double> value = to_number(trim(text));
  if (value && *value >= 0) return *value;
  throw UserError(fmt::format("{}: weight '{}' is not allowed; it must be a number, 0 or above",
                              where, trim(text)));
}

Distribution parse_histogram(std::string_view name, std::string_view text, std::int64_t low,
                             std::int64_t high) {
  CsvReader file(std::string(trim(text.substr(kHistogram.size()))));
  const auto length = file.column("length");
  const auto weight = file.column("weight");
  if (!length || !weight) {
    throw UserError(
        fmt::format("{}: {}: a histogram has the columns length and weight; this has {}", name,
                    file.path(), join(file.header(), ", ")));
  }
  std::vector<Distribution::Point> points;
  CsvRow row;
  while (file.next(row)) {
    const std::string where = fmt::format("{}: {}:{}", name, file.path(), file.line());
    const std::int64_t value = parse_count(where + ": length", row[*length], low, high);
    points.push_back({static_cast<double>(value), parse_weight(where, row[*weight])});
    check_count_of_values(name, static_cast<double>(points.size()));
  }
  if (points.empty())
    throw UserError(fmt::format("{}: {}: the histogram has no rows", name, file.path()));
  try {
    return Distribution(std::move(points));
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}: {}", name, file.path(), error.what()));
  }
}

}  // namespace

bool is_distribution(std::string_view text) { return text.find(':') != std::string_view::npos; }

Distribution parse_distribution(std::string_view name, std::string_view text, std::int64_t low,
                                std::int64_t high) {
  const std::string_view word = trim(text);
  if (starts_with(word, kUniform)) return parse_uniform(name, word, low, high);
  if (starts_with(word, kList)) return parse_list(name, word, low, high);
  if (starts_with(word, kHistogram)) return parse_histogram(name, word, low, high);
  if (is_distribution(word)) throw wrong_form(name, word);
  return Distribution::certain(static_cast<double>(parse_count(name, word, low, high)));
}

}  // namespace foretell

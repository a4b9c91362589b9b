#include "hw/engines/size_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxSizes = 100'000;

[[noreturn]] void refuse_sizes(std::string_view text) {
  throw UserError(fmt::format(
      "'{}': sizes ascend and look like 1,2,4,8..256/8: numbers, or first..last/step", text));
}

std::int64_t size_in(std::string_view number, std::string_view text) {
  const std::int64_t value = to_count(trim(number)).value_or(0);
  if (value < 1) refuse_sizes(text);
  return value;
}

}  // namespace

std::vector<std::int64_t> parse_size_list(std::string_view text) {
  std::vector<std::int64_t> sizes;
  if (trim(text).empty() || trim(text) == "none") return sizes;
  for (const std::string& part : split(text, ',')) {
    const std::size_t dots = part.find("..");
    const std::size_t slash = part.find('/');
    if (dots == std::string::npos) {
      sizes.push_back(size_in(part, text));
      continue;
    }
    if (slash == std::string::npos || slash < dots) refuse_sizes(text);
    const std::int64_t last = size_in(part.substr(dots + 2, slash - dots - 2), text);
    const std::int64_t step = size_in(part.substr(slash + 1), text);
    const std::int64_t first = size_in(part.substr(0, dots), text);
    if ((last - first) / step > kMaxSizes) refuse_sizes(text);
    for (std::int64_t size = first; size <= last; size += step) sizes.push_back(size);
  }
  const bool ascends =
      std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end();
  if (!ascends) refuse_sizes(text);
  return sizes;
}

std::int64_t padded_size(const std::vector<std::int64_t>& sizes, std::int64_t count) {
  const auto place = std::lower_bound(sizes.begin(), sizes.end(), count);
  return place == sizes.end() ? 0 : *place;
}

}  // namespace foretell

#include "model/base/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {

LeadingNumber leading_number(std::string_view text) {
  LeadingNumber number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  number.is_number = error != std::errc::invalid_argument;
  number.fits = error != std::errc::result_out_of_range;
  number.rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<double> to_number(std::string_view text) {
  const LeadingNumber number = leading_number(text);
  if (!number.is_number || !number.fits || !number.rest.empty() || !std::isfinite(number.value))
    return std::nullopt;
  return number.value;
}

std::optional<std::int64_t> to_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-')
    return std::nullopt;
  return value;
}

double written_number(std::string_view text) {
  const LeadingNumber number = leading_number(text);
  FORETELL_CHECK(number.is_number && number.fits && number.rest.empty(),
                 "'" + std::string(text) + "' should be a number");
  return number.value;
}

double rounded_to(double value, int digits) {
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::general, digits);
  return written_number({buffer.data(), static_cast<std::size_t>(result.ptr - buffer.data())});
}

}  // namespace foretell

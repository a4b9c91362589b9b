#include "reports/render/si_format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"

namespace foretell {
namespace {

struct Prefix {
  int exponent;
  const char* symbol;
};

constexpr std::array<Prefix, 11> kPrefixes = {{{18, "E"},
                                               {15, "P"},
                                               {12, "T"},
                                               {9, "G"},
                                               {6, "M"},
                                               {3, "k"},
                                               {0, ""},
                                               {-3, "m"},
                                               {-6, "u"},
                                               {-9, "n"},
                                               {-12, "p"}}};

// The power of ten of the first digit after rounding to `significant` digits.
int exponent_of(double value, int significant) {
  const std::string text = fmt::format("{:.{}e}", std::abs(value), significant - 1);
  const std::size_t sign = text.find('e') + 1;
  const auto exponent = static_cast<int>(written_number(text.substr(sign + 1)));
  return text[sign] == '-' ? -exponent : exponent;
}

std::string fixed_digits(double value, int exponent, int significant) {
  const int decimals = std::max(0, significant - 1 - exponent);
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string si_format(double value, std::string_view unit) {
  FORETELL_CHECK(std::isfinite(value), "a number that is shown must be finite");
  constexpr int kSignificant = 3;
  const std::string suffix = unit.empty() ? "" : fmt::format(" {}", unit);
  if (std::fpclassify(value) == FP_ZERO) return "0" + suffix;
  const int exponent = exponent_of(value, kSignificant);
  for (const Prefix& prefix : kPrefixes) {
    if (exponent < prefix.exponent) continue;
    if (exponent >= prefix.exponent + 3) break;  // above the largest prefix
    const double scaled = value / std::pow(10.0, prefix.exponent);
    const std::string number = fixed_digits(scaled, exponent - prefix.exponent, kSignificant);
    if (unit.empty() && *prefix.symbol == '\0') return number;
    return fmt::format("{} {}{}", number, prefix.symbol, unit);
  }
  return fmt::format("{:.2e}{}", value, suffix);
}

std::string memory_format(double bytes) {
  constexpr double kStep = 1024;
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= kStep && unit + 1 < kUnits.size()) {
    bytes /= kStep;
    ++unit;
  }
  return plain_format(bytes) + " " + kUnits[unit];
}

std::string plain_format(double value, int significant) {
  FORETELL_CHECK(std::isfinite(value), "a number that is shown must be finite");
  if (std::fpclassify(value) == FP_ZERO) return "0";
  constexpr int kMaxLeft = 6;
  constexpr int kMinExponent = -4;
  const int exponent = exponent_of(value, significant);
  if (exponent >= kMaxLeft || exponent < kMinExponent) {
    return fmt::format("{:.{}e}", value, significant - 1);
  }
  return fixed_digits(value, exponent, significant);
}

std::string percent_format(double share, bool with_sign) {
  FORETELL_CHECK(std::isfinite(share), "a share that is shown must be finite");
  const double percent = share * 100;
  return with_sign ? fmt::format("{:+.1f} %", percent) : fmt::format("{:.1f} %", percent);
}

std::string count_format(double count) {
  FORETELL_CHECK(std::isfinite(count), "a count that is shown must be finite");
  std::string digits = fmt::format("{:.0f}", count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (count < 0 ? 1 : 0);
       at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

}  // namespace foretell

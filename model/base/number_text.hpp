// Numbers from text: the one place of the project that reads them (a rule of the house refuses
// other readers). Quantities with units are read by model/config/unit_text.hpp with this.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace foretell {

// What a text begins with: "4.5 GB" with 4.5, "inf" and "nan" too. No white space before it, no
// plus sign, no hexadecimal digits.
struct LeadingNumber {
  double value = 0;
  std::string_view rest;  // what follows the number; all of the text without one
  bool is_number = false;
  bool fits = true;  // false: a number, but beyond a double; then value says nothing
};
LeadingNumber leading_number(std::string_view text);

// The finite number that the whole text is; nothing for any other text.
std::optional<double> to_number(std::string_view text);

// The whole number, 0 or above, whose decimal digits the text is; nothing for any other text, or
// beyond 64 bits.
std::optional<std::int64_t> to_count(std::string_view text);

// A number that this program wrote itself. InternalError for any other text.
double written_number(std::string_view text);

// To this many significant digits, as they are printed.
double rounded_to(double value, int digits);

}  // namespace foretell

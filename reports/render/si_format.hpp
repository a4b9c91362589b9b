// Numbers for people: three significant digits, a prefix that fits and the unit. For reading only;
// machines get CSV or JSON with every digit.
#pragma once

#include <string>
#include <string_view>

namespace foretell {

// si_format(0.0169, "s") is "16.9 ms", si_format(1.4e9, "B") "1.40 GB", si_format(0, "s") "0 s".
// Prefixes from pico to exa; beyond them and for tiny values the number is in scientific form.
std::string si_format(double value, std::string_view unit);

// Memory as it is sold: memory_format(34359738368) is "32.0 GiB". Prefixes from none to Ti.
std::string memory_format(double bytes);

// Significant digits without a prefix: "945", "12.3", "0.0123", "1.23e+06" from six digits on
// the left of the point.
std::string plain_format(double value, int significant = 3);

// percent_format(0.0412) is "4.1 %"; with_sign adds the plus.
std::string percent_format(double share, bool with_sign = false);

// "1,234,567" for counts.
std::string count_format(double count);

}  // namespace foretell

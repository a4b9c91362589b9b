// How the maximum of times is written where nothing is fitted.
#pragma once

namespace foretell {

inline constexpr double kHardMaximum = 100;  // exponent at which overlap is perfect

}  // namespace foretell

// The most that one transaction on a socket of a memory moves.
#pragma once

namespace foretell {

inline constexpr double kMaxPayload = 1 << 30;  // bytes: a payload counts them in 32 bits

}  // namespace foretell

// What one SM can move at best, before calibration says more.
#pragma once

namespace foretell {

inline constexpr double kSharedMemoryPort = 128;  // bytes per cycle of an SM [CUDAPG]
inline constexpr double kL2Port = 64;             // bytes per cycle of an SM [NVA100W]
inline constexpr double kHardMaximum = 100;       // exponent at which overlap is perfect

}  // namespace foretell

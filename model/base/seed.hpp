// What a seed may be.
#pragma once

#include <cstdint>

namespace foretell {

inline constexpr std::int64_t kMaxSeed = std::int64_t{1} << 53;  // exact in every JSON reader

}  // namespace foretell

// The most that one transaction on a socket of a memory moves.
#pragma once

#include <cstdint>

namespace foretell {

// Pieces in which a DMA engine and a collective pass the memory.
inline constexpr std::uint64_t kPayloadBytes = std::uint64_t{1} << 22U;

inline constexpr double kMaxPayload = 1 << 30;  // bytes: a payload counts them in 32 bits

}  // namespace foretell

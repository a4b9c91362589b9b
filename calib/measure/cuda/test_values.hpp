// Inputs of checks and of timed kernels, the same on the CPU and on the GPU: multiples of 1/8
// between -1/2 and 1/2, which every type holds exactly; int8 holds them times 8.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define FORETELL_ON_BOTH __host__ __device__
#else
#define FORETELL_ON_BOTH
#endif

namespace foretell {

// -4 … 4, by a hash of the place and the seed.
FORETELL_ON_BOTH inline int test_eighths(std::uint64_t place, std::uint32_t seed) {
  std::uint64_t bits = place * 0x9E3779B97F4A7C15ULL + seed * 0xD1B54A32D192ED03ULL;
  bits ^= bits >> 29U;
  bits *= 0xBF58476D1CE4E5B9ULL;
  bits ^= bits >> 32U;
  return static_cast<int>(bits % 9) - 4;
}

// A row of a table of `rows`.
FORETELL_ON_BOTH inline std::int32_t test_row(std::uint64_t place, std::uint32_t seed,
                                              std::int64_t rows) {
  std::uint64_t bits = (place + 1) * 0x9E3779B97F4A7C15ULL + seed;
  bits ^= bits >> 31U;
  bits *= 0x94D049BB133111EBULL;
  bits ^= bits >> 30U;
  return static_cast<std::int32_t>(bits % static_cast<std::uint64_t>(rows));
}

}  // namespace foretell

#include "calib/fit/row_division.hpp"

#include <algorithm>
#include <numeric>

#include "calib/fit/random.hpp"

namespace foretell {
bool is_held_out_family(std::int64_t n, std::int64_t k) {
  auto hash = static_cast<std::uint32_t>(n / 32) * 2654435761U ^
              static_cast<std::uint32_t>(k / 32) * 2246822519U;
  hash ^= hash >> 15U;
  hash *= 2654435761U;
  return (hash >> 28U) % 4 == 0;
}

bool is_held_out_heads(std::int64_t heads, std::int64_t key_heads, std::int64_t head_dim) {
  constexpr std::int64_t kResidues = 11;
  return (heads + 3 * key_heads + 7 * head_dim / 64) % kResidues < 3;
}

bool makes_interval(std::int64_t a, std::int64_t b, std::int64_t c) {
  // Mixed as by Steele et al. (2014), so that it has nothing to do with who is held out.
  auto bits = static_cast<std::uint64_t>(a) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(b);
  bits = bits * 0xd1b54a32d192ed03U + static_cast<std::uint64_t>(c);
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return ((bits ^ (bits >> 31U)) & 1U) == 0;
}

std::vector<std::size_t> draw_rows(std::size_t size, std::size_t wanted, std::uint64_t seed) {
  std::vector<std::size_t> places(size);
  std::iota(places.begin(), places.end(), std::size_t{0});
  Random random(seed);
  const std::size_t count = std::min(wanted, size);
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(places[i], places[i + random.index(size - i)]);
  }
  places.resize(count);
  return places;
}

}  // namespace foretell

// Which rows of measured kernels a fit sees: families that are held out, those of them that make
// intervals, and draws from what is left.
#pragma once

#include <cstdint>
#include <vector>

namespace foretell {

// Rows of products with the same columns and depth (n, k) are one family. A quarter of the
// families, chosen by this hash of n and k, is held out: no factor is fitted to any of their rows,
// on any device.
bool is_held_out_family(std::int64_t n, std::int64_t k);

// Head counts and widths that are held out: 3 of 11 residues of a sum of the three. No factor is
// fitted to a row of such a configuration, on any device, in any phase.
bool is_held_out_heads(std::int64_t heads, std::int64_t key_heads, std::int64_t head_dim);

// Intervals are made from one half of the families held out and judged on the other. Which half, by
// a hash of what shapes of a family share; the same for every device.
bool makes_interval(std::int64_t a, std::int64_t b, std::int64_t c = 0);

// `wanted` of `size` places, drawn without repetition, in the order of the draw.
std::vector<std::size_t> draw_rows(std::size_t size, std::size_t wanted, std::uint64_t seed);

}  // namespace foretell

// What is best by several objectives at once.
#pragma once

#include <cstddef>
#include <vector>

namespace foretell {

// Positions of the points that no other point beats: none is at least as good in everything and
// better in something. Of equal points the first counts. `maximise` has one entry per objective.
// O(n log n) for two objectives, O(n · front) for more.
std::vector<std::size_t> pareto_front(const std::vector<std::vector<double>>& points,
                                      const std::vector<bool>& maximise);

// The front without points that gain by noise alone: for each that is left out one is kept that is
// at least as good in everything but for this `share` of the value.
inline constexpr double kNoise = 1e-3;
std::vector<std::size_t> distinct_front(const std::vector<std::vector<double>>& points,
                                        const std::vector<bool>& maximise, double share = kNoise);

}  // namespace foretell

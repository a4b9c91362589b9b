// Finds the Pareto front of a grid in a fraction of its points: NSGA-II of the library pagmo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace foretell {

// One position per axis.
using GridPoint = std::vector<std::uint64_t>;

struct FrontSearch {
  std::vector<std::uint64_t> sizes;  // positions per axis, each at least 1
  std::size_t objectives = 0;        // all of them are minimised
  std::size_t evaluations = 0;       // different points that may be evaluated
  std::uint64_t seed = 0;
  // Objectives of points, in order; an empty entry is a point that cannot be had. Every point is
  // asked for once. What is returned short ends the search.
  std::function<std::vector<std::vector<double>>(const std::vector<GridPoint>&)> evaluate;
};

// Runs until the evaluations are used up, or nothing new comes any more. The same seed and the same
// objectives give the same points. (Deb et al., "A fast and elitist multiobjective genetic
// algorithm: NSGA-II", IEEE Trans. Evol. Comput. 6(2), 2002.)
void search_front(const FrontSearch& search);

}  // namespace foretell

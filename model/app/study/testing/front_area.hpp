// How much of the plane of two costs a front covers: what searches are judged by.
#pragma once

#include <algorithm>
#include <vector>

namespace foretell {

// The area of what is no better than some point and no worse than `worst`. Points of two costs, in
// any order; those beyond `worst` do not count.
inline double front_area(std::vector<std::vector<double>> points,
                         const std::vector<double>& worst) {
  std::sort(points.begin(), points.end());
  double area = 0;
  double top = worst[1];
  for (const std::vector<double>& point : points) {
    if (point[0] > worst[0] || point[1] > top) continue;
    area += (worst[0] - point[0]) * (top - point[1]);
    top = point[1];
  }
  return area;
}

}  // namespace foretell

// The 80 % interval of a chain of operators from those of its parts.
//
// The logarithm of measured / predicted of part i lies in [-below_i, above_i] in 80 of 100 cases.
// That of a chain is about the mean of those of its parts, weighted by their shares w_i of the
// time. Errors of two parts are equal in part and independent in part, with the correlation r:
//
//   above^2 = r (sum_i w_i above_i)^2 + (1 - r) sum_i (w_i above_i)^2,   likewise below.
//
// Parts of one name are one: their errors are the same. With r = 1 a chain is as uncertain as its
// parts, with r = 0 many small errors cancel; r is estimated from chains that were measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/base/units.hpp"

namespace foretell {

struct ChainPart {
  std::string name;  // parts of one name have the same interval
  Seconds time;
  std::pair<double, double> interval80{1, 1};  // measured / predicted; holds 1
};

// measured / predicted; 1 lies inside. {1, 1} of a chain that takes no time.
std::pair<double, double> chain_interval80(const std::vector<ChainPart>& parts, double correlation);

}  // namespace foretell

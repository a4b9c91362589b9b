#include "model/timing/shared/chain_interval.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace foretell {
namespace {

// Lengths above zero, of what lies below and above the prediction.
struct Lengths {
  double below = 0;
  double above = 0;
};

struct Distinct {
  Seconds time;
  Lengths lengths;
};

}  // namespace

std::pair<double, double> chain_interval80(const std::vector<ChainPart>& parts,
                                           double correlation) {
  Seconds all;
  std::map<std::string, Distinct> distinct;
  for (const ChainPart& part : parts) {
    all += part.time;
    Distinct& one = distinct[part.name];
    one.time += part.time;
    one.lengths = {std::max(0.0, -std::log(part.interval80.first)),
                   std::max(0.0, std::log(part.interval80.second))};
  }
  if (!(all > Seconds(0))) return {1, 1};
  Lengths together;
  Lengths squares;
  for (const auto& [name, one] : distinct) {
    const double below = one.time / all * one.lengths.below;
    const double above = one.time / all * one.lengths.above;
    together = {together.below + below, together.above + above};
    squares = {squares.below + below * below, squares.above + above * above};
  }
  const auto length = [correlation](double sum, double square) {
    return std::sqrt(correlation * sum * sum + (1 - correlation) * square);
  };
  return {std::exp(-length(together.below, squares.below)),
          std::exp(length(together.above, squares.above))};
}

}  // namespace foretell

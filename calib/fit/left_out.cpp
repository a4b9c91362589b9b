#include "calib/fit/left_out.hpp"

#include <set>

#include "calib/fit/minimise.hpp"
#include "calib/fit/uncertainty.hpp"
#include "model/base/errors.hpp"

namespace foretell {

std::vector<double> moved_without_group(const FitProblem& problem, const Point& at,
                                        const std::vector<std::string>& groups) {
  FORETELL_CHECK(groups.size() == problem.observations.size(),
                 "groups of another number of observations");
  const std::set<std::string> names(groups.begin(), groups.end());
  std::vector<double> moved(groups.size(), 0.0);
  if (names.size() < 2) return moved;
  const Linearisation line = linearise(problem, at, kSlopeStep, Differences::kForward);
  const Box box{lower_corner(problem), upper_corner(problem)};
  const Point centre(at.size(), 0.0);
  const Point of_all =
      minimise_linear(problem, line, weights_of(problem.observations), centre, box);
  for (const std::string& name : names) {
    std::vector<Observation> others;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i] != name) others.push_back(problem.observations[i]);
    }
    const std::vector<double> of_others = weights_of(others);
    std::vector<double> weights(groups.size(), 0.0);
    for (std::size_t i = 0, next = 0; i < groups.size(); ++i) {
      if (groups[i] != name) weights[i] = of_others[next++];
    }
    const Point without = minimise_linear(problem, line, weights, centre, box);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i] != name) continue;
      for (std::size_t j = 0; j < at.size(); ++j) {
        moved[i] += line.slope[i][j] * (without[j] - of_all[j]);
      }
    }
  }
  return moved;
}

}  // namespace foretell

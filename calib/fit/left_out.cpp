#include "calib/fit/left_out.hpp"

#include <set>

#include "calib/fit/minimise.hpp"
#include "calib/fit/uncertainty.hpp"
#include "model/base/errors.hpp"

namespace foretell {

std::vector<std::vector<double>> moved_without(const FitProblem& problem, const Point& at,
                                               const std::vector<std::vector<bool>>& left_out) {
  const std::size_t count = problem.observations.size();
  std::vector<std::vector<double>> moved;
  if (left_out.empty()) return moved;
  const Linearisation line = linearise(problem, at, kSlopeStep, Differences::kForward);
  const Box box = box_of(problem);
  const Point centre(at.size(), 0.0);
  const Point of_all =
      minimise_linear(problem, line, weights_of(problem.observations), centre, box);
  for (const std::vector<bool>& fold : left_out) {
    FORETELL_CHECK(fold.size() == count, "a fold of another number of observations");
    std::vector<Observation> others;
    for (std::size_t i = 0; i < count; ++i) {
      if (!fold[i]) others.push_back(problem.observations[i]);
    }
    FORETELL_CHECK(!others.empty(), "a fold that leaves nothing to fit to");
    const std::vector<double> of_others = weights_of(others);
    std::vector<double> weights(count, 0.0);
    for (std::size_t i = 0, next = 0; i < count; ++i) {
      if (!fold[i]) weights[i] = of_others[next++];
    }
    const Point without = minimise_linear(problem, line, weights, centre, box);
    std::vector<double>& of_fold = moved.emplace_back(count, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      if (!fold[i]) continue;
      for (std::size_t j = 0; j < at.size(); ++j) {
        of_fold[i] += line.slope[i][j] * (without[j] - of_all[j]);
      }
    }
  }
  return moved;
}

std::vector<double> moved_without_group(const FitProblem& problem, const Point& at,
                                        const std::vector<std::string>& groups) {
  FORETELL_CHECK(groups.size() == problem.observations.size(),
                 "groups of another number of observations");
  const std::set<std::string> names(groups.begin(), groups.end());
  std::vector<double> moved(groups.size(), 0.0);
  if (names.size() < 2) return moved;
  std::vector<std::vector<bool>> folds;
  for (const std::string& name : names) {
    std::vector<bool>& fold = folds.emplace_back();
    for (const std::string& group : groups) fold.push_back(group == name);
  }
  for (const std::vector<double>& of_fold : moved_without(problem, at, folds)) {
    for (std::size_t i = 0; i < groups.size(); ++i) moved[i] += of_fold[i];
  }
  return moved;
}

}  // namespace foretell

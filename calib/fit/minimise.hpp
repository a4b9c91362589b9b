// The minimisers that fits need, all inside a box and deterministic (NLopt).
#pragma once

#include <functional>
#include <vector>

namespace foretell {

struct Minimum {
  std::vector<double> at;
  double value = 0;
};

struct Box {
  std::vector<double> low;
  std::vector<double> high;
};

// Without derivatives (BOBYQA: quadratic models inside a trust region), for a simulator.
// `first_step` is the distance of the first trials from `start`. What `function` throws comes
// through.
Minimum minimise_blind(const std::function<double(const std::vector<double>&)>& function,
                       const Box& box, const std::vector<double>& start, double first_step,
                       int max_evaluations);

// The same for a function with kinks and many variables, as absolute errors have: a simplex in one
// subspace after another.
Minimum minimise_rough(const std::function<double(const std::vector<double>&)>& function,
                       const Box& box, const std::vector<double>& start,
                       const std::vector<double>& first_steps, int max_evaluations);

// With derivatives (SLSQP), for smooth closed forms: `function` fills `gradient`.
Minimum minimise_smooth(const std::function<double(const std::vector<double>& x,
                                                   std::vector<double>& gradient)>& function,
                        const Box& box, const std::vector<double>& start);

}  // namespace foretell

#include "calib/fit/minimise.hpp"

#include <exception>
#include <nlopt.hpp>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kBlindTolerance = 1e-3;  // of the function; a simulator moves in small steps
constexpr double kRoughTolerance = 1e-4;  // relative
constexpr double kSmoothTolerance = 1e-9;
constexpr int kSmoothEvaluations = 500;

using Function = std::function<double(const std::vector<double>&, std::vector<double>&)>;

// What the library calls back. An exception may not pass through its C code.
struct Callback {
  const Function* function;
  nlopt::opt* optimiser;
  std::exception_ptr failure;
  Minimum best;
  bool any = false;

  static double call(const std::vector<double>& x, std::vector<double>& gradient, void* data) {
    auto* self = static_cast<Callback*>(data);
    try {
      const double value = (*self->function)(x, gradient);
      if (!self->any || value < self->best.value) self->best = {x, value};
      self->any = true;
      return value;
    } catch (...) {
      self->failure = std::current_exception();
      self->optimiser->force_stop();
      return 0;
    }
  }
};

Minimum run(nlopt::opt& optimiser, const Function& function, const Box& box,
            std::vector<double> start) {
  Callback callback{&function, &optimiser, nullptr, {}};
  optimiser.set_lower_bounds(box.low);
  optimiser.set_upper_bounds(box.high);
  optimiser.set_min_objective(Callback::call, &callback);
  double value = 0;
  try {
    optimiser.optimize(start, value);
  } catch (const nlopt::roundoff_limited&) {
    // as good as the arithmetic allows: the best point so far stands
  } catch (const nlopt::forced_stop&) {
    FORETELL_CHECK(callback.failure != nullptr, "the optimiser stopped by itself");
  }
  if (callback.failure) std::rethrow_exception(callback.failure);
  return callback.best;
}

}  // namespace

Minimum minimise_blind(const std::function<double(const std::vector<double>&)>& function,
                       const Box& box, const std::vector<double>& start, double first_step,
                       int max_evaluations) {
  nlopt::opt optimiser(nlopt::LN_BOBYQA, static_cast<unsigned>(start.size()));
  optimiser.set_initial_step(first_step);
  optimiser.set_ftol_abs(kBlindTolerance);
  optimiser.set_maxeval(max_evaluations);
  const Function ignoring_gradient = [&](const std::vector<double>& x, std::vector<double>&) {
    return function(x);
  };
  return run(optimiser, ignoring_gradient, box, start);
}

Minimum minimise_rough(const std::function<double(const std::vector<double>&)>& function,
                       const Box& box, const std::vector<double>& start,
                       const std::vector<double>& first_steps, int max_evaluations) {
  nlopt::opt optimiser(nlopt::LN_SBPLX, static_cast<unsigned>(start.size()));
  optimiser.set_initial_step(first_steps);
  optimiser.set_ftol_rel(kRoughTolerance);
  optimiser.set_maxeval(max_evaluations);
  const Function ignoring_gradient = [&](const std::vector<double>& x, std::vector<double>&) {
    return function(x);
  };
  return run(optimiser, ignoring_gradient, box, start);
}

Minimum minimise_smooth(const std::function<double(const std::vector<double>& x,
                                                   std::vector<double>& gradient)>& function,
                        const Box& box, const std::vector<double>& start) {
  nlopt::opt optimiser(nlopt::LD_SLSQP, static_cast<unsigned>(start.size()));
  optimiser.set_ftol_abs(kSmoothTolerance);
  optimiser.set_maxeval(kSmoothEvaluations);
  return run(optimiser, function, box, start);
}

}  // namespace foretell

// A problem whose answer is known: work over a rate, plus a constant.
//   time_i = work_i / rate + overhead
#pragma once

#include <string>
#include <vector>

#include "calib/fit/fit_problem.hpp"

namespace foretell {

inline FreeFactor free_factor(const std::string& name, double prior, double width, double low,
                              double high) {
  FreeFactor factor;
  factor.name = name;
  factor.prior = prior;
  factor.width = width;
  factor.low = low;
  factor.high = high;
  factor.meaning = "Meaning of " + name + ".";
  factor.why = "a test";
  factor.devices = {"one"};
  return factor;
}

inline std::vector<double> rate_times(const std::vector<double>& work, double rate,
                                      double overhead) {
  std::vector<double> times;
  for (const double amount : work) times.push_back(amount / rate + overhead);
  return times;
}

// Ten configurations of two networks, measured without noise at the given truth.
inline FitProblem rate_problem(double true_rate, double true_overhead) {
  const std::vector<double> work = {1, 2, 4, 8, 16, 1, 3, 9, 27, 50};
  FitProblem problem;
  problem.noise = 0.05;
  problem.factors = {free_factor("rate", 1, 0.5, 0.1, 4), free_factor("overhead", 0, 2, 0, 20)};
  const std::vector<double> times = rate_times(work, true_rate, true_overhead);
  for (std::size_t i = 0; i < work.size(); ++i) {
    const std::string network = i < 5 ? "first" : "second";
    problem.observations.push_back({network, network + std::to_string(i), times[i]});
  }
  problem.forecast = [work](const std::vector<double>& values) {
    return rate_times(work, values[0], values[1]);
  };
  return problem;
}

}  // namespace foretell

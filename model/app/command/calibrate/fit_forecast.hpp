// Predictions of the simulator for rows of measurements at given values of the free factors.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "calib/fit/plan.hpp"
#include "model/app/command/calibrate/fit_rows.hpp"
#include "model/app/request/prediction.hpp"

namespace foretell {

class FitForecast {
 public:
  // `rows` have to outlive this. kOneNetwork simulates the first network of an architecture in
  // place of the others, whose operators are the same but for the length of the vocabulary.
  enum class Detail { kEveryNetwork, kOneNetwork };
  FitForecast(const FitPlan& plan, const std::vector<FitRow>& rows, Predictor predict, int jobs,
              Detail detail);

  // Times of a call in ms, as tables count it, one per row. What was simulated before is not
  // simulated again: rows that differ only in releases with the same effect, and rows on which a
  // changed factor has no effect. `values` are in the order of the plan's factors, in base units.
  // UserError when a row cannot be predicted; it names the row.
  std::vector<double> operator()(const std::vector<double>& values);
  // The same on published facts alone.
  std::vector<double> without_factors();

 private:
  using Setter = std::function<void(const FitRow&, Request&)>;
  std::vector<double> forecast(const Setter& set);
  std::vector<double> predict_calls(const std::vector<Request>& requests) const;

  const FitPlan& plan_;
  const std::vector<FitRow>& rows_;
  Predictor predict_;
  int jobs_;
  Detail detail_;
  std::unordered_map<std::string, double> calls_;  // what was simulated, in ms
};

}  // namespace foretell

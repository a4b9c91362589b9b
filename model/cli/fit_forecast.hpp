// Predictions of the simulator for rows of measurements at given values of the free factors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calib/fit/plan.hpp"
#include "model/cli/fit_rows.hpp"
#include "model/cli/prediction.hpp"

namespace foretell {

class FitForecast {
 public:
  // `rows` have to outlive this.
  FitForecast(const FitPlan& plan, const std::vector<FitRow>& rows, Predictor predict, int jobs);

  // Times of a call in ms, as tables count it, one per row. Rows that differ only in releases with
  // the same effect are simulated once. `values` are in the order of the plan's factors, in base
  // units. UserError when a row cannot be predicted; it names the row.
  std::vector<double> operator()(const std::vector<double>& values) const;
  // The same on published facts alone.
  std::vector<double> without_factors() const;

 private:
  using Setter = std::function<void(const FitRow&, Request&, std::string& key)>;
  std::vector<double> forecast(const Setter& set) const;

  const FitPlan& plan_;
  const std::vector<FitRow>& rows_;
  Predictor predict_;
  int jobs_;
};

}  // namespace foretell

// What a fit says about itself: the factors, and how far predictions are from the rows on both
// sides of the split.
#pragma once

#include <string>
#include <vector>

#include "calib/fit/fit.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/command/calibrate/fit_rows.hpp"

namespace foretell {

struct JudgedRow {
  FitRow row;
  double predicted_ms = 0;
  double unfitted_ms = 0;  // on published facts alone
};

// Predictions of every row with the factors of the fit and without any.
std::vector<JudgedRow> judge_rows(const FitPlan& plan, const FitResult& result,
                                  const std::vector<FitRow>& rows, const Predictor& predict,
                                  int jobs);

// "163 rows of bert-large-cased, gpt2 on inferentia2, trainium1"
std::string describe_fit_rows(const FitPlan& plan, const std::vector<FitRow>& rows);

// "Fit rows: 163, MAPE 3.9 %, median …" for each side that has rows.
std::vector<std::string> residual_lines(const std::vector<JudgedRow>& rows);

// Tables of the factors, of their correlations and of the accuracy by side and architecture.
void tell_fit(const std::string& device, const FitResult& result,
              const std::vector<JudgedRow>& rows, FitOutput& output);
std::string fit_report(const FitResult& result, const std::vector<JudgedRow>& rows, int max_width);

}  // namespace foretell

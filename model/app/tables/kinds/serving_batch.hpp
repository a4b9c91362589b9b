// Predictions for tables of served points: rows of one machine and network share what they execute,
// and are worked on by one process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/request/recipes.hpp"
#include "model/app/serving/request/served_runs.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

class ServingBatch {
 public:
  using Sink = BatchPredictor::Sink;
  using ProgressSink = BatchPredictor::ProgressSink;

  // `set`, `factors`, `exact`: what `defaults` says of them holds for every row.
  ServingBatch(const CsvRow& header, Predictor predict, Request defaults, int jobs, Sink sink,
               ProgressSink progress = {});

  // A row, with what is wrong with its shape ("" when nothing is).
  void add(CsvRow row, const std::string& problem);
  void finish();  // the rest; call it once, last

 private:
  struct PendingPoint {
    CsvRow row;
    ServeRequest request;
    std::string note;
    std::string error;
  };

  ServedCells cells_of(const CsvRow& row) const;
  RowPrediction predict(const PendingPoint& point, const ServeSummary& summary) const;

  CsvRow header_;
  Predictor predict_;
  Request defaults_;
  int jobs_;
  Sink sink_;
  ProgressSink progress_;
  Recipes recipes_;
  std::optional<ServedRuns> runs_;  // of a table with one figure a row
  std::vector<PendingPoint> rows_;
};

}  // namespace foretell

// Predictions for a stream of table rows: in forked workers, equal requests computed once, results
// in the order of the rows. Generations by an engine are services that all requests enter at once
// (engine_rows.hpp).
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/app/tables/row_prediction.hpp"
#include "model/app/tables/table_request.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

class BatchPredictor {
 public:
  using Sink = std::function<void(const CsvRow& row, const RowPrediction& prediction)>;
  // Share (0…1) of the rows at hand that are done.
  using ProgressSink = std::function<void(double)>;

  // Rows are worked on in blocks of kBlockRows; memory grows with the number of different
  // requests, not with the number of rows. `jobs` is at least 1.
  BatchPredictor(const RowReader& reader, Predictor predict, int jobs, Sink sink,
                 ProgressSink progress = {});

  // A row, with what is wrong with its shape ("" when nothing is).
  void add(CsvRow row, const std::string& problem);
  void finish();  // the rest; call it once, last

  static constexpr std::size_t kBlockRows = 4096;

 private:
  struct PendingRow {
    CsvRow row;
    std::string key;  // of the request; empty when there is none
    std::string error;
    double rate_scale = 1;  // of its published rate
    std::string assumed;    // beside what the prediction assumed
  };

  void flush();
  void predict_calls(const ProgressSink& progress);
  void predict_services(const ProgressSink& progress);

  const RowReader& reader_;
  Predictor predict_;
  int jobs_;
  Sink sink_;
  ProgressSink progress_;
  std::vector<PendingRow> rows_;
  std::vector<Request> requests_;       // calls of the block that are not known yet …
  std::vector<std::string> keys_;       // … and their keys
  std::vector<ServeRequest> services_;  // likewise
  std::vector<std::string> service_keys_;
  std::unordered_map<std::string, RowPrediction> known_;
};

}  // namespace foretell

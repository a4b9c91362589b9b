#include "model/app/tables/row_prediction.hpp"

#include <algorithm>
#include <vector>

#include "model/app/request/record/outcome_tag.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr char kRefused = '-';
constexpr char kNextField = '\t';
constexpr char kNextPart = '=';  // "pred_us=1.5", "latency_us=1.2=1.8"

}  // namespace

RowPrediction open_row() {
  RowPrediction row;
  row.is_open = true;
  return row;
}

std::string prediction_line(const RowPrediction& prediction) {
  std::string line = kRefused + prediction.error;
  if (prediction.error.empty()) {
    line = kGoodTag + prediction.parts + kNextField + prediction.note + kNextField +
           to_text(prediction.least_call_ms);
    for (const auto& [column, value] : prediction.values)
      line += kNextField + column + kNextPart + to_text(value);
    for (const auto& [column, interval] : prediction.intervals) {
      line += kNextField + column + kNextPart + to_text(interval.low) + kNextPart +
              to_text(interval.high);
    }
  }
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

RowPrediction prediction_of_line(const std::string& line) {
  RowPrediction prediction;
  if (line.empty() || line.front() != kGoodTag) {
    prediction.error = line.empty() ? "internal error: a worker sent nothing" : line.substr(1);
    return prediction;
  }
  const std::vector<std::string> fields = split(line.substr(1), kNextField);
  prediction.parts = fields.at(0);
  prediction.note = fields.at(1);
  prediction.least_call_ms = written_number(fields.at(2));
  for (std::size_t i = 3; i < fields.size(); ++i) {
    const std::vector<std::string> parts = split(fields[i], kNextPart);
    if (parts.size() == 2) {
      prediction.values[parts[0]] = written_number(parts[1]);
    } else {
      prediction.intervals[parts.at(0)] = {written_number(parts.at(1)),
                                           written_number(parts.at(2))};
    }
  }
  return prediction;
}

}  // namespace foretell

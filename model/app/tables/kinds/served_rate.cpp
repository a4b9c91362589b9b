#include "model/app/tables/kinds/served_rate.hpp"

#include <algorithm>

#include "calib/validate/left_out_rows.hpp"

namespace foretell {

std::optional<ServedRate> ServedRate::of_table(const CsvRow& header) {
  for (const char* column : {"concurrency", "osl", "gpus", "ttft_ms", "tpot_ms"}) {
    if (!has_column(header, column)) return std::nullopt;
  }
  return ServedRate({find_column(header, "concurrency"), find_column(header, "osl"),
                     find_column(header, "gpus"), find_column(header, "ttft_ms"),
                     find_column(header, "tpot_ms")});
}

std::optional<double> ServedRate::measured(const CsvRow& row) const {
  const auto ttft = read_measurement("ttft_ms", row[columns_.ttft]);
  const auto tpot = read_measurement("tpot_ms", row[columns_.tpot]);
  if (!ttft || !tpot) return std::nullopt;
  return of_times(row, *ttft, *tpot);
}

std::optional<double> ServedRate::of_times(const CsvRow& row, double ttft_ms,
                                           double tpot_ms) const {
  const auto clients = read_measurement("concurrency", row[columns_.concurrency]);
  const auto tokens = read_measurement("osl", row[columns_.osl]);
  const auto gpus = read_measurement("gpus", row[columns_.gpus]);
  if (!clients || !tokens || !gpus) return std::nullopt;
  constexpr double kMsOfOneSecond = 1e3;
  const double answer = ttft_ms + (std::max(*tokens, 1.0) - 1) * tpot_ms;
  return *clients * *tokens * kMsOfOneSecond / answer / *gpus;
}

}  // namespace foretell

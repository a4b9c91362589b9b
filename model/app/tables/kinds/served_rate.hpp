// Tokens of answers per second and GPU, where a table of served points states times alone. A client
// asks again as soon as it has its answer: `concurrency` of them get as many answers in the mean
// time of one (Little's law), which takes the first token and osl - 1 further ones,
//
//     tokens per second = concurrency osl / (ttft + (osl - 1) tpot) / gpus.
//
// Measured and predicted times go through the same formula: shorter answers than osl, as benchmarks
// draw them, change both nearly alike.
#pragma once

#include <cstddef>
#include <optional>

#include "reports/record/csv.hpp"

namespace foretell {

class ServedRate {
 public:
  static constexpr const char* kQuantity = "output_tokens_per_s_gpu";

  // None of a table without the columns concurrency, osl, gpus, ttft_ms and tpot_ms.
  static std::optional<ServedRate> of_table(const CsvRow& header);

  // By the measured times of a row; none where one of the cells is empty.
  std::optional<double> measured(const CsvRow& row) const;
  // By others, in ms.
  std::optional<double> of_times(const CsvRow& row, double ttft_ms, double tpot_ms) const;

 private:
  struct Columns {
    std::size_t concurrency = 0;
    std::size_t osl = 0;
    std::size_t gpus = 0;
    std::size_t ttft = 0;
    std::size_t tpot = 0;
  };
  explicit ServedRate(Columns columns) : columns_(columns) {}

  Columns columns_;
};

}  // namespace foretell

// From rows of a table of kernels to what the GPU models answer.
#pragma once

#include <map>
#include <string>

#include "model/predict/rows/attention_rows.hpp"
#include "model/predict/rows/collective_rows.hpp"
#include "model/predict/rows/gemm_rows.hpp"
#include "model/predict/rows/operator_rows.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// Raw text of the options that kernels depend on beside their row.
struct KernelOptions {
  std::string l2;      // "", "warm", "rotate:5"
  std::string launch;  // "", "graph", "stream"
  std::string clock;   // "", "burst", "sustained"
  RowFactors factors;
};

inline constexpr std::int64_t kMaxGemmSide = std::int64_t{1} << 24;
inline constexpr std::int64_t kMaxHeads = 4096;

// The cells of a row by the name of their column; columns that are not there are empty.
class NamedCells {
 public:
  explicit NamedCells(const CsvRow& header);
  bool has(const std::string& column) const { return columns_.count(column) > 0; }
  std::string text(const CsvRow& row, const std::string& column) const;
  // UserError that names the column unless the cell is a whole number from `low` to `high`.
  std::int64_t count(const CsvRow& row, const std::string& column, std::int64_t low,
                     std::int64_t high) const;

 private:
  std::map<std::string, std::size_t> columns_;
};

// UserError for a cell that is wrong.
GemmRow read_gemm_row(const NamedCells& cells, const CsvRow& row);

// UserError for a cell that is wrong.
AttentionRow read_attention_row(const NamedCells& cells, const CsvRow& row);

// UserError for a cell that is wrong. The number of GPUs stands in `n_ranks` or `n_gpus`.
CollectiveRow read_collective_row(const NamedCells& cells, const CsvRow& row);

// UserError for a cell that is wrong. What states the shape depends on the operator: m, n and k
// (and b) of products, b and conv of convolutions, rows and cols of all others, or m with the width
// of the model.
OperatorRow read_operator_row(const NamedCells& cells, const CsvRow& row);

}  // namespace foretell

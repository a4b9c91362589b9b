// Which rows of tables of kernels no factor was fitted to, and which of these make intervals.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "calib/validate/table_kind.hpp"
#include "model/predict/rows/operator_rows.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// No factor is fitted to a row of an operation on this many GPUs, on any device.
bool is_held_out_collective(std::int64_t ranks);

// For calls that are held out: is their interval made from it, rather than judged on it? By size.
bool collective_makes_interval(const GpuCollectiveShape& shape);

// The two lengths that rows of a family share.
std::pair<std::int64_t, std::int64_t> operator_family(const OperatorRow& row);

// Is the row one of a shape family that no factor was fitted to, on any device? Families are equal
// (n, k) of products, equal channels of convolutions, equal columns of passes.
bool is_held_out_operator(const OperatorRow& row);

// For rows that are held out: is their interval made from it, rather than judged on it?
bool operator_makes_interval(const OperatorRow& row);

// Is a row one that no factor was fitted to, on any device? UserError for a kind of table whose
// rows are not divided.
using RowTest = std::function<bool(const CsvRow&)>;
RowTest held_out_test(const TableLayout& layout, const CsvRow& header);

// Is the interval of a row judged fairly on it? Not when a factor was fitted to its family, or the
// interval was made from it. Always for kinds of tables whose rows are not divided.
RowTest judges_interval_test(const TableLayout& layout, const CsvRow& header);

}  // namespace foretell

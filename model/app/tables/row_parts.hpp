// To which part of its table a measured row belongs: what fitters read, what the form of a model is
// checked on, and the vault, which nothing opens by accident (calib/validate/part.hpp).
//
// Rows go by group: a network; the shape of a kernel; a configuration of serving. Of tables of
// which a quarter of the groups was held out before there was a vault, two in ten of that quarter
// are the vault, and the others of it judge: no factor was fitted to either.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "calib/fit/split.hpp"
#include "calib/validate/part.hpp"
#include "calib/validate/table_kind.hpp"
#include "model/predict/rows/operator_rows.hpp"
#include "model/timing/gpu/attention_library.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

Part gemm_part(std::int64_t n, std::int64_t k);
Part attention_part(const AttentionShape& shape);
Part collective_part(const GpuCollectiveShape& shape);
Part operator_part(const OperatorRow& row);

// A network that a fit names is in the fit part, everywhere; one that a fit names as held out
// judges: it was looked at before there was a vault. Others go by their name without owner and
// case.
Part network_part(const Split& split, const std::string& network);
Part network_part(const std::string& network);  // by the splits of all fits

// What networks share that are left out of an interval together: the architecture that a fit names,
// else the name without owner and case.
std::string network_group(const std::string& network);

// Throws UserError for a row whose group cannot be read.
using RowPart = std::function<Part(const CsvRow&)>;
RowPart row_part(const TableLayout& layout, const CsvRow& header);

// What rows share that are in one part: "4096 1024", "bert-large". As row_part.
using RowGroup = std::function<std::string(const CsvRow&)>;
RowGroup row_group(const TableLayout& layout, const CsvRow& header);

// Can the instrument tell what a row measured? Power only where meters resolve the kernel.
std::function<bool(const CsvRow&)> resolved_test(const TableLayout& layout, const CsvRow& header);

// Is a row in this part of its table, and resolved?
std::function<bool(const CsvRow&)> part_test(const TableLayout& layout, const CsvRow& header,
                                             Part part);

// Does the table lie in the folder that FORETELL_DATA names or among the data of the project, or is
// it a copy, name and bytes, of one that does? Only these have a vault that is closed unless it is
// named; own measurements count whole.
bool is_project_table(const std::string& path);

}  // namespace foretell

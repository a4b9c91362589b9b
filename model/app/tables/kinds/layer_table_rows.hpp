// From the cells of tables of the kernels of today's language models to rows.
#pragma once

#include <functional>
#include <string>

#include "calib/validate/table_kind.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/predict/rows/layer_rows.hpp"

namespace foretell {

// The cell of a column; "" where there is none.
using LayerCells = std::function<std::string(const std::string& column)>;
// UserError that names the column that is wrong.
LayerRow read_layer_row(LayerKind kind, const LayerCells& source);
LayerRow read_layer_row(LayerKind kind, const NamedCells& cells, const CsvRow& row);

// What rows share that are on one side of the split: the shape of the experts, the heads, the
// network. Reads no more of the row than that.
std::string layer_family(LayerKind kind, const NamedCells& cells, const CsvRow& row);

// The kind of kernels in a table of kind kLayerKernels.
LayerKind layer_kind_of(const TableLayout& layout);

}  // namespace foretell

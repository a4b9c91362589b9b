// From the cells of tables of the kernels of today's language models to rows.
#pragma once

#include <functional>
#include <string>

#include "model/predict/layer_rows.hpp"

namespace foretell {

// The cell of a column; "" where there is none.
using LayerCells = std::function<std::string(const std::string& column)>;
// UserError that names the column that is wrong.
LayerRow read_layer_row(LayerKind kind, const LayerCells& cells);

}  // namespace foretell

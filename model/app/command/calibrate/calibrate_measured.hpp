// `foretell calibrate fit --measurements`: the factors of a GPU from what one machine measured.
#pragma once

#include "model/app/command/calibrate/calibrate_gemm.hpp"

namespace foretell {

// `command.table` are records of calibrate measure or a table that calibrate import wrote. Products
// of matrices are fitted here, by library and type, around the factors of the nearest chip; tables
// of attention and of collectives go the way of published ones. UserError for measurements without
// provenance, that cannot be or contradict each other, and for too few of them.
int calibrate_measured(const GemmFitCommand& command, const Session& session);

}  // namespace foretell

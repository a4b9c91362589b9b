// Fits the energies per operation and byte of a GPU to measured board watts.
#pragma once

#include "model/app/command/calibrate/calibrate_gemm.hpp"

namespace foretell {

// The table is of kind power. Writes <output>/energy/<device>.yaml. Rows of families that judge
// make the interval (half of them) and are reported (the other half); those of the vault stay
// closed.
int calibrate_power(const GemmFitCommand& command, const Session& session);

}  // namespace foretell

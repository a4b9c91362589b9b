// `foretell calibrate fit` for the kernels of today's language models on a GPU: experts, latent
// attention, its absorbed products, state-space layers, the exchange between experts.
#pragma once

#include "calib/validate/table_kind.hpp"
#include "model/app/command/calibrate/calibrate_gemm.hpp"

namespace foretell {

// Fits every table of the device whose framework and type the command names, on the part that is
// for fitting; judges it on the part that is for judging; never reads the vault. Writes
// <output>/gpu/<kind>/<device>.yaml, in which tables that were not fitted stay.
int calibrate_layer(const TableLayout& layout, const GemmFitCommand& command,
                    const Session& session);

}  // namespace foretell

// `foretell calibrate fit` for single operators on a GPU.
#pragma once

#include "calib/import/read_measurements.hpp"
#include "model/app/command/calibrate/calibrate_gemm.hpp"
#include "model/predict/operator_rows.hpp"

namespace foretell {

// Fits every table (framework, family of operators, type) of the device, judges it on the families
// held out, and writes <output>/gpu/operator/<device>.yaml, in which tables that were not fitted
// stay.
int calibrate_operator(const GemmFitCommand& command, const Session& session);

// The same of measurements that were imported; fewer rows do for a table.
int calibrate_operator(const GemmFitCommand& command, const MeasuredTable& table,
                       const Session& session);

}  // namespace foretell

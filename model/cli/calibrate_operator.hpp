// `foretell calibrate fit` for single operators on a GPU.
#pragma once

#include "calib/import/read_measurements.hpp"
#include "model/cli/calibrate_gemm.hpp"
#include "model/predict/operator_rows.hpp"

namespace foretell {

// Is the row one of a shape family that no factor was fitted to, on any device? Families are equal
// (n, k) of products, equal channels of convolutions, equal columns of passes.
bool is_held_out_operator(const OperatorRow& row);

// Of rows that are held out: is their interval made from it, rather than judged on it?
bool operator_makes_interval(const OperatorRow& row);

// Fits every table (framework, family of operators, type) of the device, judges it on the families
// held out, and writes <output>/gpu/operator/<device>.yaml, in which tables that were not fitted
// stay.
int calibrate_operator(const GemmFitCommand& command, const Session& session);

// The same of measurements that were imported; fewer rows do for a table.
int calibrate_operator(const GemmFitCommand& command, const MeasuredTable& table,
                       const Session& session);

}  // namespace foretell

// `foretell calibrate fit` for the matrix products of a GPU.
#pragma once

#include <string>
#include <vector>

#include "calib/import/read_measurements.hpp"
#include "model/app/terminal/session.hpp"

namespace foretell {

class FitOutput;
struct PooledTasks;

// Raw text of the options; "" takes the default.
struct GemmFitCommand {
  std::string device;
  std::string table;
  std::string plan;
  std::string output;     // folder of factors
  std::string framework;  // "": all in the table
  std::string dtype;      // "": all in the table
  std::string seed;
  bool keep_factors = false;          // judge what is there again instead of fitting
  std::string jobs;                   // processes, each with a table; "": one per processor
  FitOutput* output_lines = nullptr;  // what is said; required
  bool only_sharing = false;          // only tables that are like another
  std::string pool = {};              // points that a table may lose; "": tables one by one
  std::string pool_mean = {};         // points that their mean may lose; "": none
  PooledTasks* pooled = nullptr;      // of all chips; required with `pool`
};

// Fits every table (framework and type) of the device, judges it on the families held out, and
// writes <output>/gpu/gemm/<device>.yaml, in which tables that were not fitted stay.
int calibrate_gemm(const GemmFitCommand& command, const Session& session);

// The same of the rows of tables that one machine measured, few of them: around the factors of the
// nearest kernels. UserError when no row is of the device.
int calibrate_gemm(const GemmFitCommand& command, const std::vector<MeasuredTable>& measured,
                   const Session& session);

}  // namespace foretell

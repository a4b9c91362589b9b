// The rows of a table of measurements that a fit of a device family uses, on both sides of the
// split.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "calib/fit/plan.hpp"
#include "calib/fit/split.hpp"
#include "model/app/request/prediction.hpp"

namespace foretell {

struct FitRow {
  Request request;
  std::string device;
  std::string network;
  NetworkSide side;
  std::string setting;     // " on trn1.2xlarge, batch 16, 128 tokens": all but network and release
  double measured_ms = 0;  // of one call, as tables count it
  std::size_t line = 0;    // of the table
};

struct FitRows {
  std::vector<FitRow> rows;
  std::size_t read = 0;      // rows of the table, whatever they are
  std::size_t in_vault = 0;  // of them, those that would count but are of networks of the vault
};

// Rows of networks of the split's family on devices of the plan that state what the plan compares,
// where the columns `use`, `family` and `phase`, if there are any, say so.
// UserError with file:line for a time that is not above zero, and when no row is left.
FitRows read_fit_rows(const std::string& path, const FitPlan& plan, const Split& split);

}  // namespace foretell

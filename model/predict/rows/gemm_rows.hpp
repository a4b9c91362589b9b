// Predictions of matrix products on GPUs, many at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calib/fitted/gpu/gemm_factors_choice.hpp"
#include "model/predict/rows/row_programs.hpp"
#include "model/timing/gpu/gemm_timing.hpp"

namespace foretell {

// One product, as a table states it.
struct GemmRow {
  std::string gpu;
  std::string framework;  // "": trtllm
  std::string version;    // "": the newest
  std::string dtype;
  GemmShape shape;
};

// What a kernel finds in L2.
struct L2Choice {
  enum class Kind { kAsCollected, kWarm, kRotate };
  Kind kind = Kind::kAsCollected;  // as the collector of the tables ran the framework of the row
  int copies = 1;                  // of kRotate
};
// "", "warm", "rotate:5"; UserError for anything else.
L2Choice parse_l2_choice(const std::string& text);

// "graph" or "stream": how kernels are launched; "burst" or "sustained": a short run, or clocks
// under the power limit. UserError with the nearest one otherwise.
LaunchKind parse_launch(const std::string& text);
bool parse_sustained(const std::string& text);

struct GemmRowOptions {
  L2Choice l2;
  LaunchKind launch = LaunchKind::kGraph;
  bool sustained = false;
  std::vector<std::string> set;  // overrides of every device
  RowFactors factors;
};

class GemmRowPredictor {
 public:
  explicit GemmRowPredictor(GemmRowOptions options);
  ~GemmRowPredictor();

  // One answer per row, in order: simulated, all rows of a device in one simulation. A row that
  // cannot be predicted has an error. At most one at a time in a process.
  std::vector<RowTime> predict(const std::vector<GemmRow>& rows);

 private:
  struct Kernels;  // of one device, framework and type

  Kernels& kernels_of(const GemmRow& row);
  GemmL2State l2_state(const GemmRow& row, const Kernels& kernels) const;

  GemmRowOptions options_;
  RowDevices devices_;
  KernelFactorsLibrary factors_;
  std::vector<std::string> frameworks_;  // that a row may name
  std::map<std::string, std::unique_ptr<Kernels>> kernels_;
};

}  // namespace foretell

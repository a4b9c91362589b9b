// Predictions of attention on GPUs, many at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calib/fitted/gpu/attention_factors_choice.hpp"
#include "model/predict/rows/row_programs.hpp"
#include "model/timing/gpu/attention_timing.hpp"

namespace foretell {

// One call, as a table states it.
struct AttentionRow {
  std::string gpu;
  std::string framework;    // "": trtllm
  std::string dtype;        // of the products: bf16, fp16, fp8
  std::string cache_dtype;  // "": the same
  AttentionShape shape;
};

// "context", "generation", "encoder"; UserError for anything else.
AttentionPhase attention_phase(const std::string& name);
// UserError that names the types that there are.
AttentionType attention_type(const std::string& dtype, const std::string& cache_dtype);
// The table that the kernels of a row are measured in: "sglang context bf16 fp8". Heads or windows
// for which a framework calls other kernels have a table of their own.
std::string attention_table(const AttentionRow& row, const std::string& architecture);

struct AttentionRowOptions {
  std::vector<std::string> set;  // overrides of every device
  RowFactors factors;
};

class AttentionRowPredictor {
 public:
  explicit AttentionRowPredictor(AttentionRowOptions options);
  ~AttentionRowPredictor();

  // One answer per row, in order: simulated, all rows of a device in one simulation. A row that
  // cannot be predicted has an error. At most one at a time in a process.
  std::vector<RowTime> predict(const std::vector<AttentionRow>& rows);

 private:
  struct Kernels;  // of one device and table

  const Kernels& kernels_of(const AttentionRow& row);

  AttentionRowOptions options_;
  RowDevices devices_;
  KernelFactorsLibrary factors_;
  std::map<std::string, std::unique_ptr<Kernels>> kernels_;
};

}  // namespace foretell

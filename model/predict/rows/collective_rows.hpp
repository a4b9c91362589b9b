// Predictions of collectives between the GPUs of a node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "model/predict/rows/row_programs.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"

namespace foretell {

struct CollectiveRow {
  std::string gpu;
  std::string library;  // "nccl", "vllm_custom", …; "": nccl
  std::string version;  // of the library; "": its newest
  std::string mode;     // "eager": launched by the host one at a time; else from a graph
  GpuCollectiveShape shape;
};

// "nccl", "vllm_custom graph", "vllm_custom eager". Custom all-reduces go by the kernel that the
// version of a library calls: SGLang took vLLM's (its pull request 5079) until its own became the
// default after 0.5.10 (24363).
std::string collective_table(const CollectiveRow& row);
// How that kernel chooses between one and two shots.
ShotRule shot_rule(const CollectiveRow& row);
// Does the library's own kernel serve the row? Otherwise NCCL does.
bool is_custom(const CollectiveRow& row);

class CollectiveRowPredictor {
 public:
  CollectiveRowPredictor(std::vector<std::string> set, const RowFactors& factors);

  // One answer per row, in order: simulated, all rows of a device in one simulation. A row that
  // cannot be predicted has an error. At most one at a time in a process.
  std::vector<RowTime> predict(const std::vector<CollectiveRow>& rows);

 private:
  struct Links {
    LinkFactors factors;
    double low = 1;
    double high = 1;
  };
  const Links& links(const GpuDeviceSpec& device, const std::string& table);
  void add(std::size_t index, const CollectiveRow& row, RowPrograms& programs);

  RowDevices devices_;
  KernelFactorsLibrary factors_;
  std::map<std::string, Links> links_;
};

}  // namespace foretell

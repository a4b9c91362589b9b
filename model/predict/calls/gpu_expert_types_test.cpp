// Layers of experts of networks are timed by measured kernels in every type that has tables, with
// scales of blocks as without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/gpu_precision.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/import/workload_set.hpp"

namespace foretell {
namespace {

struct ExpertTypeCase {
  const char* precision;
  const char* gpu;
  const char* library;
};

class ExpertTypes : public testing::TestWithParam<ExpertTypeCase> {};

TEST_P(ExpertTypes, TakeTheTablesOfTheirType) {
  const ExpertTypeCase& one = GetParam();
  const GpuSystemSpec system = GpuCatalog().load(one.gpu).spec;
  const GpuFactors factors(system.device, "", {}, one.library);
  const PrecisionPolicy precision = precision_on_gpu(find_precision(one.precision), system.device);
  ModelConfig model = WorkloadLibrary().load("MiniMax-M2");
  override_workload({"workload.layers=2"}, model);
  Binding binding;
  binding.batch = 16;
  binding.seq_len = 1;
  binding.phase = Phase::kDecode;
  binding.kv_len = 256;
  binding.tensor_parallel = 4;
  Graph graph = build_graph(model, binding);
  apply_precision(precision, &graph);
  const GpuCallResult result = run_gpu_call({{}, graph, precision, system, factors});
  const auto is_measured = [](const KernelRun& kernel) {
    return kernel.kernel.find(" of experts") != std::string::npos;
  };
  EXPECT_GE(std::count_if(result.kernels.begin(), result.kernels.end(), is_measured), 2)
      << "in each layer";
}

INSTANTIATE_TEST_SUITE_P(Types, ExpertTypes,
                         testing::Values(ExpertTypeCase{"bf16", "h200-sxm-x8", "vllm"},
                                         ExpertTypeCase{"fp8-block", "h200-sxm-x8", "vllm"},
                                         ExpertTypeCase{"fp8-block", "h100-sxm-x8", "sglang"},
                                         ExpertTypeCase{"fp8-block", "b200-sxm-x8", "trtllm"},
                                         ExpertTypeCase{"nvfp4", "b200-sxm-x8", "sglang"}));

}  // namespace
}  // namespace foretell

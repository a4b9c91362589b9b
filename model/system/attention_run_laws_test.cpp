// The simulator and the closed form agree on attention kernels of every library: what the factors
// were fitted with is what a simulation takes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/system/gpu_run.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "model/timing/gpu/attention_timing.hpp"

namespace foretell {
namespace {

constexpr double kRounding = 1e-12;  // servers take whole bytes

AttentionFactors factors() {
  AttentionFactors factors;
  factors.launch = Seconds(5e-6);
  factors.dram_efficiency = 0.9;
  factors.stages_ahead = 2.4;
  factors.l2_share = 0.6;
  factors.l2_feed = BytesPerCycle(40);
  factors.prologue = Cycles(1000);
  factors.sm_feed = BytesPerCycle(40);
  factors.mma_efficiency = 0.8;
  factors.score = Cycles(2);
  factors.masked_score = Cycles(7);
  factors.prepare_feed = BytesPerCycle(13);
  factors.step = Cycles(300);
  factors.split = Cycles(2000);
  factors.head = Cycles(30);
  factors.cold_stream = Seconds(8e-6);
  factors.cold_bytes = Bytes(2e7);
  return factors;
}

AttentionShape shape(AttentionPhase phase, std::int64_t tokens, std::int64_t window) {
  AttentionShape shape;
  shape.phase = phase;
  shape.batch = 3;
  shape.keys = tokens;
  shape.queries = phase == AttentionPhase::kGeneration ? 1 : tokens;
  shape.heads = 24;
  shape.key_heads = 8;
  shape.window = window;
  return shape;
}

class AttentionRunLaws : public ::testing::TestWithParam<const char*> {};

TEST_P(AttentionRunLaws, ASimulatedProgramTakesWhatTheClosedFormSays) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const AttentionLibrary library = attention_library("hopper", GetParam());
  std::vector<GridSequence> programs;
  for (const AttentionPhase phase :
       {AttentionPhase::kContext, AttentionPhase::kEncoder, AttentionPhase::kGeneration}) {
    for (const std::int64_t tokens : {1, 100, 1025, 5000, 40000}) {
      for (const std::int64_t window : {0, 512}) {
        programs.push_back(attention_program(gpu, library, {"bf16", 2, 2}, factors(),
                                             shape(phase, tokens, window)));
      }
    }
  }
  const std::vector<Seconds> simulated = simulate_gpu(gpu, programs);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const double formula = program_time(programs[i], gpu).value();
    EXPECT_NEAR(simulated[i].value(), formula, kRounding) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionRunLaws,
                         ::testing::Values("trtllm", "trtllm-one-head", "trtllm-fp8", "vllm",
                                           "sglang", "sglang-triton", "vllm-wide"));

}  // namespace
}  // namespace foretell

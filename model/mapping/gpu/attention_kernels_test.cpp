// Thread blocks and bounds of an attention kernel.
#include "model/mapping/gpu/attention_kernels.hpp"

#include <gtest/gtest.h>

#include "model/testing/gpu_exemplar.hpp"
#include "model/timing/cta_schedule.hpp"

namespace foretell {
namespace {

const AttentionDimensions kPrompt{2, 8, 8, 1024, 1024, 128, false};

struct Mapped {
  MappedOp op;
  double blocks = 0;
  double work = 0;  // SM seconds
};

Mapped map(const AttentionDimensions& attention) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const GemmType& type = gemm_type("bf16");
  const GemmLibrary library = gemm_library(gpu.architecture, "trtllm", "bf16");
  const GemmTiming timing(gpu, type, library, exemplar_gemm_factors());
  Mapped mapped;
  add_attention(gpu, timing, type, attention, Bytes(1e6), Bytes(2e6), mapped.op);
  for (const CtaRun& run : mapped.op.program.kernels.front().ctas) {
    mapped.blocks += static_cast<double>(run.count);
    mapped.work += static_cast<double>(run.count) * run.duration.value();
  }
  return mapped;
}

TEST(AttentionKernels, ATileOf128QueriesPerHeadIsAThreadBlock) {
  EXPECT_EQ(map(kPrompt).blocks, 2 * 8 * 8);
  AttentionDimensions odd = kPrompt;
  odd.queries = odd.keys = 1025;
  EXPECT_EQ(map(odd).blocks, 2 * 8 * 9);
}

TEST(AttentionKernels, ProductsTakeWhatTheirFlopsTakeAtTheReachedRate) {
  const double flops = 4.0 * 2 * 8 * 1024 * 1024 * 128;
  EXPECT_NEAR(map(kPrompt).op.bounds.at("tensor pipe").value(), flops / (0.8 * 100e12), 1e-12);
}

TEST(AttentionKernels, ACausalMaskHalvesTheStepsOfLongPrompts) {
  AttentionDimensions full = kPrompt;
  full.queries = full.keys = 16384;
  AttentionDimensions causal = full;
  causal.causal = true;
  const double share = map(causal).work / map(full).work;
  EXPECT_GT(share, 0.5);
  EXPECT_LT(share, 0.52);
  EXPECT_EQ(map(causal).op.program.kernels.front().ctas.size(), 128U);  // one run per tile
}

TEST(AttentionKernels, AQueryBehindALongCacheSeesAllOfIt) {
  AttentionDimensions causal{1, 8, 8, 1, 4096, 128, true};
  AttentionDimensions open = causal;
  open.causal = false;
  EXPECT_DOUBLE_EQ(map(causal).work, map(open).work);
}

TEST(AttentionKernels, FewSequencesAreCutIntoPartsAndManyAreNot) {
  const AttentionDimensions one{1, 8, 8, 1, 65536, 128, true};
  EXPECT_EQ(map(one).blocks, 64);
  const AttentionDimensions many{256, 8, 8, 1, 65536, 128, true};
  EXPECT_EQ(map(many).blocks, 256 * 8);
}

TEST(AttentionKernels, HeadsThatShareKeysAreOneTile) {
  const AttentionDimensions shared{256, 32, 4, 1, 1024, 128, true};
  EXPECT_EQ(map(shared).blocks, 256 * 4);
}

TEST(AttentionKernels, OccupancyIsTheShareOfSmsAtWork) {
  const Mapped mapped = map(kPrompt);  // 128 thread blocks on 100 SMs: two waves
  EXPECT_NEAR(mapped.op.waves, 1.28, 1e-12);
  EXPECT_NEAR(mapped.op.occupancy, 0.64, 1e-6);
}

}  // namespace
}  // namespace foretell

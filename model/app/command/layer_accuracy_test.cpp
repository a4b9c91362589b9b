// Layers of attention as the sum of their parts and kernels of experts on shape families that
// judge, and kernels of latent attention and experts on a GPU that is left out altogether, against
// thresholds.
// Skipped without the published tables.
#include <gtest/gtest.h>

#include "model/app/command/testing/published_limit.hpp"

namespace foretell {
namespace {

constexpr const char* kBlocks = "gpu_attention_blocks.csv.gz";
constexpr const char* kExperts = "gpu_experts.csv.gz";
constexpr const char* kLatent = "gpu_mla.csv.gz";

class LayerAccuracy : public ::testing::TestWithParam<PublishedLimit> {};

TEST_P(LayerAccuracy, FamiliesThatJudgeAreWithinTheLimit) {
  expect_within(GetParam(), /*left_out=*/false);
}

class LayerTransfer : public ::testing::TestWithParam<PublishedLimit> {};

TEST_P(LayerTransfer, AGpuThatWasNeverMeasuredIsWithinTheLimit) {
  expect_within(GetParam(), /*left_out=*/true);
}

INSTANTIATE_TEST_SUITE_P(
    Tables, LayerAccuracy,
    ::testing::Values(
        PublishedLimit{
            kBlocks, "h200_sxm", {"kind=mla", "framework=trtllm", "phase=generation"}, 6.5},
        PublishedLimit{kBlocks, "b200_sxm", {"kind=mla", "framework=trtllm", "phase=context"}, 8.5},
        PublishedLimit{kBlocks, "b200_sxm", {"kind=mla", "framework=vllm", "phase=context"}, 9},
        PublishedLimit{kBlocks, "h200_sxm", {"kind=mla", "framework=vllm", "phase=generation"}, 13},
        PublishedLimit{
            kBlocks, "h200_sxm", {"kind=dsa", "framework=trtllm", "phase=generation"}, 9},
        PublishedLimit{kBlocks, "h200_sxm", {"kind=dsa", "framework=trtllm", "phase=context"}, 5},
        PublishedLimit{kBlocks, "h200_sxm", {"kind=msa", "framework=vllm", "phase=context"}, 9},
        PublishedLimit{
            kBlocks, "h200_sxm", {"kind=msa", "framework=trtllm", "phase=generation"}, 15},
        PublishedLimit{kBlocks, "h200_sxm", {"kind=msa", "framework=vllm", "phase=generation"}, 13},
        PublishedLimit{kExperts, "h200_sxm", {"framework=vllm", "dtype=fp8"}, 10},
        PublishedLimit{kExperts, "h200_sxm", {"framework=sglang", "dtype=bf16"}, 10},
        PublishedLimit{kExperts, "h100_sxm", {"framework=vllm", "dtype=fp8_block"}, 5},
        PublishedLimit{kExperts, "b200_sxm", {"framework=vllm", "dtype=nvfp4"}, 11},
        PublishedLimit{kExperts, "b200_sxm", {"framework=trtllm", "dtype=nvfp4"}, 15}));

INSTANTIATE_TEST_SUITE_P(
    Tables, LayerTransfer,
    ::testing::Values(
        PublishedLimit{kLatent, "h200_sxm", {"framework=trtllm", "phase=context"}, 10},
        PublishedLimit{kLatent, "h200_sxm", {"framework=trtllm", "phase=generation"}, 12},
        PublishedLimit{kLatent, "h200_sxm", {"framework=vllm", "phase=context"}, 13},
        PublishedLimit{kLatent, "h200_sxm", {"framework=vllm", "phase=generation"}, 16},
        PublishedLimit{kLatent, "b200_sxm", {"framework=trtllm", "phase=context"}, 14},
        PublishedLimit{kExperts, "b200_sxm", {"framework=vllm", "dtype=bf16"}, 15}));

}  // namespace
}  // namespace foretell

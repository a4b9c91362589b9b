// Operators of networks that are timed by measured kernels: where factors are from, what falls back
// to products and passes, and laws of their times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/layer_kernels.hpp"
#include "model/mapping/gpu/network_kernels.hpp"
#include "model/timing/gpu/attention_timing.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

class LayerKernelsOfNetworks : public testing::Test {
 protected:
  explicit LayerKernelsOfNetworks(const std::string& name = "h200-sxm",
                                  const std::string& which = "")
      : system(GpuCatalog().load(name).spec),
        device(system.device),
        factors(device, which),
        layers(system, factors, Bytes(10e9)) {}

  static ExpertShape experts(std::int64_t rows_of_each) {
    ExpertShape shape;
    shape.hidden = 7168;
    shape.intermediate = 2048;
    shape.top_k = 8;
    shape.experts = 256;
    shape.held = 32;
    shape.tokens = rows_of_each * shape.experts / shape.top_k;
    shape.rows.assign(32, rows_of_each);
    return shape;
  }

  static AttentionDimensions latents(std::int64_t batch, std::int64_t keys) {
    AttentionDimensions attention;
    attention.batch = batch;
    attention.queries = 1;
    attention.keys = keys;
    attention.heads = 16;
    attention.kv_heads = 1;
    attention.head_dim = 576;
    attention.value_dim = 512;
    return attention;
  }

  double time_of(const MappedOp& op) const { return program_time(op.program, device).value(); }

  GpuSystemSpec system;
  GpuDeviceSpec device;
  GpuFactors factors;
  LayerKernels layers;
};

TEST_F(LayerKernelsOfNetworks, ExpertsReadTheirWeightsOnceAndHaveAnInterval) {
  MappedOp op;
  ASSERT_TRUE(layers.add_experts(experts(4), DType::kFp8, DType::kFp8, op));
  const double weights = 32.0 * 3 * 7168 * 2048;
  EXPECT_GT(op.dram().value(), weights);
  EXPECT_LT(op.dram().value(), 1.1 * weights);
  ASSERT_EQ(op.intervals80.size(), op.program.kernels.size());
  for (const auto& [low, high] : op.intervals80) {
    EXPECT_LT(low, 1);
    EXPECT_GT(high, 1);
  }
  EXPECT_GT(time_of(op), weights / device.hbm.bandwidth.value());
  EXPECT_EQ(op.note, "") << "fitted on this chip to the library's own table";
}

// vLLM on Hopper, FP8 in blocks: other kernels where GPUs hold some of the experts than where each
// has a share of all, whatever was asked before.
TEST_F(LayerKernelsOfNetworks, KernelsOfExpertsFollowHowTheyAreDivided) {
  const GpuFactors of_vllm(device, "", {}, "vllm");
  LayerKernels kernels(system, of_vllm, Bytes(10e9));
  const auto note_of = [&](std::int64_t held) {
    ExpertShape shape = experts(4);
    shape.held = held;
    shape.rows.assign(static_cast<std::size_t>(held), 4);
    MappedOp op;
    EXPECT_TRUE(kernels.add_experts(shape, DType::kFp8, DType::kFp8Block, op));
    return op.note;
  };
  EXPECT_THAT(note_of(256), HasSubstr("fp8moe_triton"));
  EXPECT_THAT(note_of(32), HasSubstr("fp8moe_flashinfer_cutlass"));
  EXPECT_THAT(note_of(256), HasSubstr("fp8moe_triton"));
}

// Kernels of TensorRT-LLM for FP8 in blocks on B200 stand last in its list, those for FP8 with one
// scale before them: the type counts first.
TEST_F(LayerKernelsOfNetworks, KernelsOfTheTypeComeBeforeThoseOfOneLikeIt) {
  const GpuSystemSpec b200 = GpuCatalog().load("b200-sxm").spec;
  const GpuFactors of_trtllm(b200.device, "", {}, "trtllm");
  LayerKernels kernels(b200, of_trtllm, Bytes(10e9));
  const auto note_of = [&](bool exchanged) {
    ExpertShape shape = experts(4);
    shape.exchanged = exchanged;
    MappedOp op;
    EXPECT_TRUE(kernels.add_experts(shape, DType::kFp8, DType::kFp8Block, op));
    return op.note;
  };
  EXPECT_THAT(note_of(false), HasSubstr("flashinfer_trtllm_moe fp8_block"));
  EXPECT_THAT(note_of(true), HasSubstr("deepgemm fp8_block"));
}

TEST_F(LayerKernelsOfNetworks, MoreRowsAndMoreKeysTakeNoLessTime) {
  double before = 0;
  for (const std::int64_t rows : {1, 8, 64, 512, 4096}) {
    MappedOp op;
    ASSERT_TRUE(layers.add_experts(experts(rows), DType::kBf16, DType::kBf16, op));
    EXPECT_GE(time_of(op), before);
    before = time_of(op);
  }
  before = 0;
  for (const std::int64_t keys : {128, 1024, 8192, 65536}) {
    MappedOp op;
    ASSERT_TRUE(layers.add_latent(latents(32, keys), 2, op));
    EXPECT_GE(time_of(op), before);
    before = time_of(op);
  }
}

// A prompt whose queries ask the latents of a cache multiplies 576 + 512 columns for every pair of
// query and key; no chip does that faster than its pipes do, and a longer cache takes no less.
TEST_F(LayerKernelsOfNetworks, PromptsThatAskLatentsHaveAKernelOfTheirOwn) {
  constexpr double kQueries = 2048;
  double before = 0;
  for (const std::int64_t keys : {2048, 4096, 8192, 32768}) {
    AttentionDimensions prompt = latents(1, keys);
    prompt.queries = static_cast<std::int64_t>(kQueries);
    prompt.causal = true;
    MappedOp op;
    ASSERT_TRUE(layers.add_latent(prompt, 2, op));
    const double pairs = kQueries * (static_cast<double>(keys) - kQueries / 2);
    const double flops = 2 * 16 * pairs * (576 + 512);
    const double least = flops / device.matrix_rate.at("bf16");
    EXPECT_GT(time_of(op), least) << keys;
    EXPECT_LT(time_of(op), 4 * least) << keys;
    EXPECT_GT(time_of(op), before);
    before = time_of(op);
  }
}

TEST_F(LayerKernelsOfNetworks, WhatWasNeverMeasuredIsLeftToProductsAndPasses) {
  MappedOp op;
  EXPECT_FALSE(layers.add_experts(experts(4), DType::kFp32, DType::kFp32, op));
  AttentionDimensions other = latents(1, 128);
  other.head_dim = 320;
  EXPECT_FALSE(layers.add_latent(other, 2, op));
  StateSpace scan;
  scan.function = "rwkv7";
  EXPECT_FALSE(layers.add_scan(scan, op));
  EXPECT_TRUE(op.program.kernels.empty());
}

TEST_F(LayerKernelsOfNetworks, AnExchangeMovesNoLessWithMoreTokens) {
  double before = 0;
  for (const std::int64_t tokens : {1, 64, 128, 1024, 16384}) {
    MappedOp op;
    ASSERT_TRUE(layers.add_exchange({"dispatch", 8, tokens, 7168, 8, 256}, op));
    if (tokens != 1024) {  // where another kernel takes over
      EXPECT_GE(time_of(op), before);
    }
    before = time_of(op);
  }
}

class LayerKernelsOfAnotherChip : public LayerKernelsOfNetworks {
 protected:
  LayerKernelsOfAnotherChip() : LayerKernelsOfNetworks("l40s") {}
};

TEST_F(LayerKernelsOfAnotherChip, SayWhoseFactorsTheyTook) {
  MappedOp op;
  ASSERT_TRUE(layers.add_experts(experts(4), DType::kBf16, DType::kBf16, op));
  EXPECT_THAT(op.note, HasSubstr("experts: factors of "));
}

class LayerKernelsWithoutFactors : public LayerKernelsOfNetworks {
 protected:
  LayerKernelsWithoutFactors() : LayerKernelsOfNetworks("h200-sxm", "none") {}
};

TEST_F(LayerKernelsWithoutFactors, AreNotUsed) {
  MappedOp op;
  EXPECT_FALSE(layers.add_experts(experts(4), DType::kBf16, DType::kBf16, op));
  EXPECT_FALSE(layers.add_latent(latents(32, 1024), 2, op));
}

}  // namespace
}  // namespace foretell

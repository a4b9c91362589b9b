// Attention of graphs: the kernels and factors of the tables, without what a graph has elsewhere.
#include "model/mapping/gpu/attention_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

const AttentionDimensions kPrompt{2, 32, 8, 1024, 1024, 128, true, 0};
const AttentionDimensions kToken{8, 32, 8, 1, 4096, 128, true, 0};
constexpr Seconds kLaunch(2e-6);
const AttentionType kBf16{"bf16", 2, 2};

struct Setting {
  std::string gpu = "h100-sxm";
  std::string factors;
  std::vector<std::string> set;
  AttentionType type = kBf16;
  Bytes dram{1e6};
};

MappedOp map(const AttentionDimensions& attention, const Setting& setting = {}) {
  const GpuDeviceSpec gpu = GpuCatalog().load(setting.gpu).spec.device;
  const GpuFactors factors(gpu, setting.factors, setting.set);
  MappedOp op;
  AttentionKernels(gpu, factors, kLaunch).add(attention, setting.type, setting.dram, op);
  return op;
}

double blocks_of(const MappedOp& op) {
  double blocks = 0;
  for (const CtaRun& run : op.program.kernels.back().ctas) blocks += static_cast<double>(run.count);
  return blocks;
}

// What a table of attention predicts for the same call.
GridSequence row_of(const AttentionDimensions& attention, const std::string& table,
                    const std::string& id) {
  const GpuDeviceSpec gpu = GpuCatalog().load(id).spec.device;
  const KernelFactorsLibrary library(kernel_factors_folder("attention"));
  const ChosenAttentionFactors chosen = choose_attention(library, gpu, {table});
  return attention_program(gpu, library_of_table(gpu.architecture, table), kBf16, chosen.factors,
                           shape_of(attention));
}

void expect_same_blocks(const Grid& mapped, const Grid& row) {
  ASSERT_EQ(mapped.ctas.size(), row.ctas.size());
  for (std::size_t i = 0; i < row.ctas.size(); ++i) {
    EXPECT_EQ(mapped.ctas[i].count, row.ctas[i].count);
    EXPECT_EQ(mapped.ctas[i].duration, row.ctas[i].duration);
  }
  EXPECT_EQ(mapped.ctas_per_sm, row.ctas_per_sm);
  EXPECT_EQ(mapped.stages_ahead, row.stages_ahead);
  EXPECT_EQ(mapped.tail, row.tail);
  EXPECT_EQ(mapped.dram_rate, row.dram_rate);
  EXPECT_EQ(mapped.l2_bytes, row.l2_bytes);
  EXPECT_EQ(mapped.memory_latency, row.memory_latency);
}

TEST(AttentionKernels, TheKernelIsThatOfTheTableButForItsLaunchAndItsNeighbours) {
  for (const char* id : {"h100-sxm", "h200-sxm", "b200-sxm"}) {
    Setting setting;
    setting.gpu = id;
    for (const auto& [attention, table] : {std::pair{kPrompt, "trtllm context bf16 bf16"},
                                           {kToken, "trtllm generation bf16 bf16"}}) {
      const MappedOp op = map(attention, setting);
      ASSERT_EQ(op.program.kernels.size(), 1U);  // none that writes the cache
      const Grid& kernel = op.program.kernels.front();
      const Grid row = row_of(attention, table, id).kernels.back();
      expect_same_blocks(kernel, row);
      EXPECT_EQ(kernel.launch, kLaunch);
      EXPECT_GT(row.launch, kLaunch);
      EXPECT_EQ(kernel.dram_bytes, Bytes(1e6));  // what L2 does not hold is the graph's to know
      EXPECT_EQ(op.note, "");
    }
  }
}

TEST(AttentionKernels, WhatIsNotFittedComesFromTheNearestAndIsNoted) {
  Setting setting;
  setting.gpu = "a100-sxm";
  EXPECT_EQ(map(kPrompt, setting).note, "");
  EXPECT_THAT(map(kToken, setting).note, HasSubstr("vllm generation bf16 bf16 on a100-sxm"));
  AttentionDimensions encoder = kPrompt;
  encoder.causal = false;
  EXPECT_THAT(map(encoder, setting).note, HasSubstr("trtllm context bf16 bf16 on a100-sxm"));
  setting.gpu = "l4";
  EXPECT_THAT(map(kPrompt, setting).note, HasSubstr("on a100-sxm"));
}

Seconds products_of(const AttentionDimensions& attention) {
  Setting facts;
  facts.factors = "none";
  return map(attention, facts).busy()[WorkUnit::kTensorPipe];
}

TEST(AttentionKernels, ByFactsAloneProductsTakeWhatTheirFlopsTakeAtTheDenseRate) {
  AttentionDimensions open = kPrompt;
  open.causal = false;
  const double flops = 4.0 * 2 * 32 * 1024 * 1024 * 128;
  EXPECT_NEAR(products_of(open).value(), flops / 989.4e12, 1e-12);
}

TEST(AttentionKernels, ACausalMaskLeavesHalfOfTheWorkAndAWindowItsShare) {
  AttentionDimensions causal = kPrompt;
  causal.queries = causal.keys = 16384;
  AttentionDimensions open = causal;
  open.causal = false;
  EXPECT_NEAR(products_of(causal) / products_of(open), 0.5, 0.01);
  AttentionDimensions window = causal;
  window.window = 2048;
  EXPECT_NEAR(products_of(window) / products_of(open), 2048.0 / 16384, 0.02);
}

TEST(AttentionKernels, QueriesReadOnAverageWhatEachOfThemSeesOrChose) {
  for (const std::int64_t queries : {1, 7, 64, 4096}) {
    for (const std::int64_t keys : {queries, queries + 1, queries + 5000}) {
      for (const std::int64_t selected : {1, 16, 2048, 100000}) {
        double read = 0;
        for (std::int64_t i = 1; i <= queries; ++i) {
          read += static_cast<double>(std::min(selected, keys - queries + i));
        }
        const auto mean = static_cast<double>(mean_chosen_keys(queries, keys, selected));
        EXPECT_NEAR(mean, read / static_cast<double>(queries), 0.51)
            << queries << ' ' << keys << ' ' << selected;
      }
    }
  }
}

TEST(AttentionKernels, AWindowCutsTheCacheOfATokenToo) {
  AttentionDimensions cut = kToken;
  cut.keys = 32768;
  AttentionDimensions whole = cut;
  cut.window = 1024;
  const auto l2 = [](const MappedOp& op) { return op.program.kernels.back().l2_bytes; };
  EXPECT_NEAR(l2(map(cut)) / l2(map(whole)), 1024.0 / 32768, 1e-12);
}

// Heads that share keys are one tile of the kernels that pack them, and one thread block of a
// token.
TEST(AttentionKernels, HeadsThatShareKeysShareThreadBlocks) {
  AttentionDimensions many = kToken;
  many.batch = 256;
  AttentionDimensions own = many;
  own.kv_heads = own.heads;
  EXPECT_EQ(blocks_of(map(own)) / blocks_of(map(many)), 32.0 / 8);
}

TEST(AttentionKernels, ACacheOfFp8TakesItsOwnTable) {
  Setting narrow;
  narrow.type.key_bytes = 1;
  EXPECT_EQ(map(kToken, narrow).note, "");
  narrow.gpu = "a100-sxm";
  EXPECT_THAT(map(kToken, narrow).note, HasSubstr("generation bf16 bf16 on a100-sxm"));
}

TEST(AttentionKernels, SeveralTokensAfterACacheAreCheckedAtOnce) {
  AttentionDimensions four = kToken;
  four.queries = 4;
  const AttentionShape shape = shape_of(four);
  EXPECT_EQ(shape.phase, AttentionPhase::kGeneration);
  EXPECT_EQ(shape.heads, 4 * 32);
  AttentionDimensions encoder = kPrompt;
  encoder.causal = false;
  EXPECT_EQ(shape_of(encoder).phase, AttentionPhase::kEncoder);
  EXPECT_EQ(shape_of(kPrompt).phase, AttentionPhase::kContext);
}

TEST(AttentionKernels, OverridesReachTheFactors) {
  Setting slow;
  slow.set = {"factors.attention.score=200 cycles"};
  EXPECT_GT(map(kPrompt, slow).busy()[WorkUnit::kSpecialFunctions],
            10 * map(kPrompt).busy()[WorkUnit::kSpecialFunctions]);
  slow.set = {"factors.attention.scores=200 cycles"};
  EXPECT_THROW(map(kPrompt, slow), UserError);
}

TEST(AttentionKernels, OccupancyIsTheShareOfPlacesAtWork) {
  const MappedOp op = map(kPrompt);  // 8 tiles of 64 heads on 132 SMs
  EXPECT_NEAR(op.waves, 512.0 / 132, 1e-12);
  EXPECT_GT(op.occupancy, 0.5);
  EXPECT_LE(op.occupancy, 1);
}

}  // namespace
}  // namespace foretell

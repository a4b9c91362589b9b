// Laws that the kernels of today's language models keep, whatever the factors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/timing/gpu/attention_timing.hpp"
#include "model/timing/gpu/exchange_kernels.hpp"
#include "model/timing/gpu/experts_kernels.hpp"
#include "model/timing/gpu/latent_kernels.hpp"
#include "model/timing/gpu/state_space_kernels.hpp"

namespace foretell {
namespace {

LayerKernelFactors some_factors() {
  LayerKernelFactors factors;
  factors.launch = Seconds(10e-6);
  factors.dram_efficiency = 0.8;
  factors.mma_efficiency = 0.7;
  factors.stages_ahead = 2.1;
  factors.l2_share = 0.5;
  factors.prologue = Cycles(1000);
  factors.step = Cycles(200);
  factors.sm_feed = BytesPerCycle(60);
  factors.pass_feed = BytesPerCycle(10);
  factors.score = Cycles(3);
  factors.split = Cycles(2000);
  factors.row = Cycles(50);
  factors.link_efficiency = 0.6;
  factors.network_efficiency = 0.6;
  return factors;
}

class LayerKernelLaws : public testing::Test {
 protected:
  LayerKernelLaws()
      : device(GpuCatalog().load("h200-sxm").spec.device),
        factors(some_factors()),
        facts(library.facts("trtllm moe_torch_flow_cutlass bf16")),
        call(device, facts, library.type("bf16"), factors) {}

  double rows_of(const ExpertLoad& load) const {
    double rows = 0;
    for (const LayerCall::Groups& group : load.groups) rows += group.rows * group.count;
    return rows;
  }

  GpuDeviceSpec device;
  LayerKernelLibrary library;
  LayerKernelFactors factors;
  LayerKernelFacts facts;
  LayerCall call;
};

TEST_F(LayerKernelLaws, ExpertsWithoutAGateReadTwoMatricesOfThree) {
  ExpertsShape gated{16, 4096, 1536, 8, 128, 1, 1, "balanced"};
  ExpertsShape plain = gated;
  plain.gated = false;
  const auto bytes = [&](const ExpertsShape& shape) {
    double sum = 0;
    const GridSequence program = experts_kernels(call, shape, expert_loads(shape).front());
    for (const Grid& kernel : program.kernels) sum += kernel.dram_bytes.value();
    return sum;
  };
  EXPECT_NEAR(bytes(plain) / bytes(gated), 2.0 / 3, 0.01);
  const std::string shape = "2688 1856 6 128";
  EXPECT_FALSE(library.has_gate("sglang sglang_flashinfer_trtllm_moe bf16", shape));
  EXPECT_FALSE(library.has_gate("vllm vllm_unquantizedfusedmoe_triton_tritonexperts bf16", shape));
  EXPECT_TRUE(library.has_gate("sglang sglang_fused_moe_triton bf16", shape));
}

// Rows of an expert beside those of a tile: from 16 to 32 of them a tile of 16 is chosen.
TEST_F(LayerKernelLaws, TilesOfRowsAreAShareOfThePowerOfTwo) {
  facts.tile_of_rows = 0.5;
  facts.tiles = {{8, 128}, {16, 128}, {32, 128}, {64, 128}};
  const LayerCall untuned(device, facts, library.type("bf16"), factors);
  const auto blocks = [&](std::int64_t rows) {
    const ExpertsShape shape{rows * 16, 4096, 1536, 8, 128, 1, 1, "balanced"};
    const Grid products = experts_kernels(untuned, shape, expert_loads(shape).front()).kernels[1];
    return products.ctas.front().count / (128 * 2 * 1536 / 128);
  };
  EXPECT_EQ(blocks(8), 1);
  EXPECT_EQ(blocks(16), 2);
  EXPECT_EQ(blocks(32), 2);
  EXPECT_EQ(blocks(64), 2);
  EXPECT_EQ(blocks(256), 4);  // the widest that there is
  facts.tile_of_rows = 1;
  EXPECT_EQ(blocks(64), 1);
}

// SGLang has a file for 128 experts 768 wide on H200, and none for 64: tiles of 16 x 32 up to as
// many tokens as there are experts, of 64 x 64 from there on.
TEST_F(LayerKernelLaws, ShapesWithoutAFileTakeTheTilesOfTheLibrary) {
  const LayerKernelFacts triton = library.facts("sglang sglang_fused_moe_triton bf16", "hopper");
  const LayerCall sglang(device, triton, library.type("bf16"), factors);
  const auto blocks = [&](std::int64_t tokens, std::int64_t experts) {
    const ExpertsShape shape{tokens, 2048, 768, 8, experts, 1, 1, "balanced"};
    return experts_kernels(sglang, shape, expert_loads(shape).front())
        .kernels[1]
        .ctas.front()
        .count;
  };
  EXPECT_EQ(blocks(64, 64), 64 * (2 * 768 / 32));
  EXPECT_EQ(blocks(65, 64), 64 * (2 * 768 / 64));
  EXPECT_NE(blocks(128, 128), 128 * (2 * 768 / 32));
  EXPECT_EQ(blocks(128, 128) % (2 * 768 / 128), 0);
  // A chip without files has none that is tuned.
  device.id = "made-up";
  EXPECT_EQ(blocks(128, 128), 128 * (2 * 768 / 32));
}

TEST_F(LayerKernelLaws, WeightsThatAreWidenedWhenLoadedCountAsWide) {
  const std::string table = "sglang sglang_fused_moe_triton w4a16_mxfp4";
  const LayerKernelFacts widened = library.facts(table, "hopper");
  const LayerCall sglang(device, widened, library.type("w4a16_mxfp4"), factors);
  EXPECT_EQ(sglang.type().name, "bf16");
}

// A tile that is full takes no longer; the fewer rows another has, the longer it takes.
TEST_F(LayerKernelLaws, RowsThatAreMissingCostTime) {
  facts.tiles = {{128, 16}};
  const auto time = [&](double rows) {
    const LayerCall untuned(device, facts, library.type("fp8"), factors);
    const Grid grid = untuned.grouped_product({{rows, 8}}, 4096, 4096, facts.tiles.front());
    return grid.ctas.front().duration;
  };
  const Seconds full = time(128);
  const Seconds few = time(4);
  factors.unfilled = Cycles(500);
  EXPECT_EQ(time(128), full);
  EXPECT_GT(time(4), few);
  EXPECT_GT(time(4), time(64));
  EXPECT_GT(time(64), time(120));
}

// Thread blocks that share an SM are never slower than one after another, nor faster than loads.
TEST_F(LayerKernelLaws, ThreadBlocksThatShareAnSmHideWaiting) {
  factors.step = Cycles(2000);
  double before = std::numeric_limits<double>::infinity();
  for (const double resident : {1.0, 2.0, 4.0, 64.0, 128.0}) {
    const LayerTile tile{16, 32, 128, resident};
    const Grid grid = call.grouped_product({{1, 8}}, 4096, 4096, tile);
    const double block = grid.ctas.front().duration.value();
    EXPECT_LE(block, before);
    before = block;
    const double loads = 4096.0 * (1 + 32) * 2 / call.feed(factors.sm_feed);
    EXPECT_GE(block, loads);
  }
}

// Where only the sum walks the choices of other GPUs, products have no blocks for them.
TEST_F(LayerKernelLaws, SumsOfAllChoicesMoveMore) {
  const ExpertsShape shape{4096, 2048, 768, 8, 128, 1, 16, "balanced"};
  const auto program = [&] {
    const LayerCall own(device, facts, library.type("bf16"), factors);
    return experts_kernels(own, shape, expert_loads(shape).front());
  };
  const GridSequence before = program();
  facts.sums_all = true;
  const GridSequence after = program();
  EXPECT_DOUBLE_EQ((after.kernels[0].l2_bytes - before.kernels[0].l2_bytes).value(),
                   4096.0 * 8 * 15 / 16 * 2048 * 2);
  EXPECT_EQ(after.kernels[1].ctas.size(), before.kernels[1].ctas.size());
}

// A table of 896 experts says what fewer take: each is sorted by in the same time, and rows of the
// table keep theirs.
TEST_F(LayerKernelLaws, SortingTakesAsLongForEveryExpert) {
  factors.launch = Seconds(60e-6);
  facts.sort_per_expert = Seconds(39e-9);
  facts.sorted_experts = 896;
  const auto launch = [&](std::int64_t experts) {
    const LayerCall own(device, facts, library.type("bf16"), factors);
    const ExpertsShape shape{16, 2048, 768, 8, experts, 1, 1, "balanced"};
    return experts_kernels(own, shape, expert_loads(shape).front()).kernels[0].launch.value();
  };
  EXPECT_DOUBLE_EQ(launch(896), 60e-6);
  EXPECT_NEAR(launch(896) - launch(128), 768 * 39e-9, 1e-12);
  facts.sort_per_expert = Seconds(1e-6);
  EXPECT_DOUBLE_EQ(launch(128), 0);
}

TEST_F(LayerKernelLaws, BalancedRowsAreConserved) {
  for (const std::int64_t tokens : {1, 7, 16, 100, 128, 1000, 4096}) {
    ExpertsShape shape{tokens, 2048, 768, 8, 128, 1, 1, "balanced"};
    EXPECT_DOUBLE_EQ(rows_of(expert_loads(shape).front()), static_cast<double>(tokens * 8));
  }
}

TEST_F(LayerKernelLaws, ThePowerLawHasTheLargestGpu) {
  ExpertsShape shape{4096, 2048, 768, 8, 128, 1, 8, "power_law_1.2"};
  for (const ExpertLoad& load : expert_loads(shape)) {
    EXPECT_GT(rows_of(load), 4096.0 * 8 / 8);
    for (const LayerCall::Groups& group : load.groups) EXPECT_LE(group.rows, 4096);
  }
}

TEST_F(LayerKernelLaws, MoreTokensTakeNoLessTime) {
  double before = 0;
  for (std::int64_t tokens = 16; tokens <= 16384; tokens *= 4) {
    const ExpertsShape shape{tokens, 2048, 768, 8, 128, 1, 1, "balanced"};
    const double time = experts_time(call, shape, expert_loads(shape)).value();
    EXPECT_GE(time, before);
    before = time;
  }
}

TEST_F(LayerKernelLaws, WeightsOfExpertsWithoutTokensAreNotRead) {
  const ExpertsShape one{1, 4096, 2048, 1, 64, 1, 1, "balanced"};
  const ExpertsShape all{64, 4096, 2048, 1, 64, 1, 1, "balanced"};
  const double few =
      experts_kernels(call, one, expert_loads(one).front()).kernels[1].dram_bytes.value();
  const double many =
      experts_kernels(call, all, expert_loads(all).front()).kernels[1].dram_bytes.value();
  EXPECT_LT(few, 4096.0 * 4096 * 2 * 1.1);
  EXPECT_GT(many, 64 * 4096.0 * 4096 * 2);
}

TEST_F(LayerKernelLaws, WrongSplitsAndDistributionsAreRefused) {
  EXPECT_THROW(expert_loads({1, 64, 64, 9, 8, 1, 1, "balanced"}), UserError);
  EXPECT_THROW(expert_loads({1, 64, 64, 2, 8, 1, 3, "balanced"}), UserError);
  EXPECT_THROW(expert_loads({1, 64, 64, 2, 8, 3, 1, "balanced"}), UserError);
  EXPECT_THROW(expert_loads({1, 64, 64, 2, 8, 1, 1, "power_law_x"}), UserError);
  EXPECT_THROW(expert_loads({1, 64, 64, 2, 8, 1, 1, "uniform"}), UserError);
}

TEST_F(LayerKernelLaws, LatentAttentionGrowsWithKeysAndHeads) {
  for (const bool prompt : {true, false}) {
    LatentShape shape;
    shape.prompt = prompt;
    shape.heads = 128;
    double before = 0;
    for (std::int64_t keys = 1024; keys <= 65536; keys *= 4) {
      shape.keys = keys;
      shape.queries = prompt ? keys : 1;
      const double time = program_time(latent_kernels(call, shape), device).value();
      EXPECT_GE(time, before);
      before = time;
    }
  }
}

class LatentKernelLaws : public LayerKernelLaws {
 protected:
  LatentKernelLaws() {
    facts = LayerKernelFacts();
    facts.head_tile = 64;
    facts.least_heads = 64;
    tokens.prompt = false;
    tokens.batch = 200;
    tokens.keys = 4096;
    tokens.heads = 128;
  }

  double time(const LatentShape& shape) const {
    return program_time(latent_kernels(call, shape), device).value();
  }

  LatentShape tokens;
};

TEST_F(LatentKernelLaws, CachesThatKeepTheirTypeTakeTheSameTime) {
  LatentShape narrow = tokens;
  narrow.cache_bytes = 1;
  EXPECT_LT(time(narrow), time(tokens));
  facts.keeps_type = true;
  EXPECT_DOUBLE_EQ(time(narrow), time(tokens));
}

TEST_F(LatentKernelLaws, AChoiceOfPartsIsNoSlowerThanAnyNumberOfThem) {
  tokens.batch = 1;
  tokens.keys = 131072;
  const double chosen = time(tokens);
  for (const double parts : {1, 4, 32, 128}) {
    facts.parts = parts;
    EXPECT_LE(chosen, time(tokens) * 1.0001);
  }
}

TEST_F(LatentKernelLaws, BlocksThatShareAnSmTakeLongerThanOnesAlone) {
  factors.step = Cycles(10);
  facts.most_parts = 1;
  facts.resident = 2;
  tokens.batch = device.sms / 2;  // two tiles of heads each: one block on an SM
  const double alone = time(tokens);
  tokens.batch = device.sms;
  const double shared = time(tokens);
  EXPECT_GT(shared, alone * 1.2);
  tokens.batch = device.sms - 1;  // all but one SM are shared still
  EXPECT_NEAR(time(tokens), shared, shared * 0.05);
}

TEST_F(LatentKernelLaws, ShortPromptsAsTokensAreSequencesOfTheirOwn) {
  facts.absorbed_up_to = 128;
  facts.absorbed_tokens = true;
  LatentShape prompt;
  prompt.batch = 4;
  prompt.queries = 1;
  prompt.keys = 1024;
  prompt.heads = 128;
  LatentShape token = prompt;
  token.prompt = false;
  EXPECT_DOUBLE_EQ(time(prompt), time(token));
  prompt.queries = 64;
  EXPECT_GT(time(prompt), 4 * time(token));
}

TEST_F(LatentKernelLaws, PromptsWithoutCopiesOfTheirHeadsTakeLess) {
  LatentShape prompt;
  prompt.batch = 64;
  prompt.queries = 128;
  prompt.keys = 128;
  prompt.heads = 128;
  const double copied = time(prompt);
  facts.moves_heads = false;
  EXPECT_LT(time(prompt), copied);
}

TEST_F(LatentKernelLaws, ChosenKeysAreAllThatIsRead) {
  const auto chosen_time = [&](const LatentShape& shape) {
    return program_time(chosen_latent_kernels(call, shape), device).value();
  };
  LatentShape shape;
  shape.batch = 1;
  shape.queries = 64 * device.sms;  // whole waves
  shape.keys = 1 << 15;
  shape.heads = 64;
  shape.selected = 2048;
  const double once = chosen_time(shape);
  shape.keys *= 2;
  EXPECT_NEAR(chosen_time(shape), once, 0.01 * once) << "keys that were not chosen take no time";
  shape.queries *= 2;
  EXPECT_NEAR(chosen_time(shape), 2 * once, 0.05 * once);
  shape.choice_time = 2;
  EXPECT_GT(chosen_time(shape), 3 * once);
  shape.fills_choice = true;
  shape.queries = 1;
  shape.keys = 16;
  const double filled = chosen_time(shape);
  shape.keys = 2048;
  EXPECT_DOUBLE_EQ(chosen_time(shape), filled) << "as many as may be chosen, however few there are";
}

TEST_F(LayerKernelLaws, AnotherArchitectureKeepsSharesWithinWhatChipsReach) {
  const GpuDeviceSpec other = GpuCatalog().load("b200-sxm").spec.device;
  const GpuDeviceSpec alike = GpuCatalog().load("h100-sxm").spec.device;
  LayerKernelFactors low = factors;
  low.dram_efficiency = 0.17;
  low.mma_efficiency = 1.8;
  low.pass_feed = BytesPerCycle(0.5);
  LayerKernelFactors same = low;
  carry_over(low, device, other);
  EXPECT_GE(low.dram_efficiency, 0.5);
  EXPECT_LE(low.mma_efficiency, 1);
  EXPECT_GE(low.pass_feed.value(), 5);
  carry_over(same, device, alike);
  EXPECT_DOUBLE_EQ(same.dram_efficiency, 0.17);
  EXPECT_DOUBLE_EQ(same.mma_efficiency, 1.8);
  EXPECT_DOUBLE_EQ(same.pass_feed.value(), 0.5);
}

TEST_F(LayerKernelLaws, LatentsStartUnderOneAnotherWhereThreadsWaitForProducts) {
  const GpuDeviceSpec h200 = GpuCatalog().load("h200-sxm").spec.device;
  const GpuDeviceSpec a100 = GpuCatalog().load("a100-sxm").spec.device;
  LayerKernelFactors one = factors;
  one.mma_efficiency = 0.8;
  one.prologue = Cycles(4000);
  LayerKernelFactors counted = one;
  LayerKernelFactors experts = one;
  carry_over(one, h200, a100, {true, false});
  EXPECT_EQ(one.prologue, Cycles(2000));
  EXPECT_LT(one.mma_efficiency, 0.6);
  carry_over(counted, h200, a100, {true, true});
  EXPECT_EQ(counted.prologue, Cycles(2000));
  EXPECT_DOUBLE_EQ(counted.mma_efficiency, 0.8);
  carry_over(experts, h200, a100);  // the form of grouped products counts reads
  EXPECT_EQ(experts.prologue, Cycles(4000));
  EXPECT_DOUBLE_EQ(experts.mma_efficiency, 0.8);
}

TEST_F(LayerKernelLaws, ChoicesLieInAsManyBinsAsExpected) {
  EXPECT_DOUBLE_EQ(expected_bins(1, 8, 256), 1);
  EXPECT_DOUBLE_EQ(expected_bins(8, 1, 256), 1);
  EXPECT_DOUBLE_EQ(expected_bins(8, 256, 256), 8);
  EXPECT_NEAR(expected_bins(8, 8, 8), 8, 1e-12);
  EXPECT_LT(expected_bins(8, 8, 256), 8);
}

TEST_F(LayerKernelLaws, ScansOfLongerPromptsTakeLonger) {
  StateSpaceShape shape;
  shape.part = StateSpacePart::kScan;
  shape.heads = 32;
  shape.head_dim = 128;
  shape.state_dim = 128;
  shape.seq_len = 1024;
  const double one = program_time(state_space_kernels(call, shape), device).value();
  shape.seq_len = 16384;
  EXPECT_GT(program_time(state_space_kernels(call, shape), device).value(), 4 * one);
}

// A thread block for each head of a sequence goes through its chunks: several sequences take as
// long as one, until they share memories, and more than there are SMs wait for one another.
TEST_F(LayerKernelLaws, ScansInOneKernelTakeAsLongAsTheirLongestChain) {
  LayerKernelFacts in_one = library.facts("vllm gated-delta-net chunk_gated_delta_rule_flashinfer");
  ASSERT_TRUE(in_one.scans_in_one);
  const LayerCall one_kernel(device, in_one, library.type("bf16"), factors);
  StateSpaceShape shape;
  shape.part = StateSpacePart::kScan;
  shape.heads = 2;
  shape.head_dim = shape.state_dim = 128;
  shape.values = 256;
  shape.channels = 3 * 256;
  shape.seq_len = 8192;
  const auto time = [&](std::int64_t batch) {
    shape.batch = batch;
    return program_time(state_space_kernels(one_kernel, shape), device).value();
  };
  const double alone = time(1);
  EXPECT_NEAR(time(8) / alone, 1, 0.05);
  EXPECT_GT(time(device.sms), 1.8 * alone) << "twice as many chains as SMs";
  shape.seq_len *= 2;
  EXPECT_GT(time(1), 1.9 * alone) << "and longer ones take longer";
}

}  // namespace
}  // namespace foretell

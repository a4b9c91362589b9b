#include "model/timing/gpu/attention_library.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

constexpr double kSms = 132;
constexpr double kAmpereSms = 108;

AttentionShape shape_of(AttentionPhase phase, std::int64_t batch, std::int64_t tokens,
                        std::int64_t heads, std::int64_t key_heads) {
  AttentionShape shape;
  shape.phase = phase;
  shape.batch = batch;
  shape.queries = phase == AttentionPhase::kGeneration ? 1 : tokens;
  shape.keys = tokens;
  shape.heads = heads;
  shape.key_heads = key_heads;
  return shape;
}

double parts(const AttentionLibrary& library, const AttentionShape& shape, double sms) {
  return attention_split(library, {}, shape, sms).parts;
}

TEST(AttentionLibrary, FlashAttention3DividesPromptsThatLeaveTheChipEmpty) {
  const AttentionLibrary library = attention_library("hopper", "vllm");
  // One head: 64 tiles of queries of 64 blocks of keys leave half of the SMs idle.
  EXPECT_EQ(parts(library, shape_of(AttentionPhase::kContext, 1, 8192, 1, 1), kSms), 2);
  EXPECT_EQ(parts(library, shape_of(AttentionPhase::kContext, 1, 8192, 8, 8), kSms), 1);
  EXPECT_EQ(parts(library, shape_of(AttentionPhase::kContext, 1, 512, 1, 1), kSms), 1);
  // What other sequences fill is seen by the kernel that goes ahead.
  EXPECT_EQ(parts(library, shape_of(AttentionPhase::kContext, 16, 8192, 1, 1), kSms), 1);
}

TEST(AttentionLibrary, APartIsNeverEmpty) {
  for (const char* kernels : {"vllm", "trtllm"}) {
    const AttentionLibrary library = attention_library("hopper", kernels);
    for (std::int64_t keys = 1; keys < 100000; keys += 1 + keys / 7) {
      for (const std::int64_t batch : {1, 5, 64}) {
        const AttentionShape shape = shape_of(AttentionPhase::kGeneration, batch, keys, 32, 8);
        EXPECT_GE(parts(library, shape, kSms), 1);
        EXPECT_LE(parts(library, shape, kSms), (static_cast<double>(keys) + 127) / 128);
      }
    }
  }
}

TEST(AttentionLibrary, FlashAttention2DividesOnlySharedKeysWithoutAWindow) {
  const AttentionLibrary library = attention_library("ampere", "vllm");
  AttentionShape shape = shape_of(AttentionPhase::kGeneration, 1, 8192, 32, 8);
  EXPECT_TRUE(packs_queries(library, shape));
  EXPECT_FALSE(regroups(library, shape));            // one sequence
  EXPECT_EQ(parts(library, shape, kAmpereSms), 22);  // 8 x 22 of 216 slots, 3 of 64 blocks each
  shape.batch = 4;
  EXPECT_TRUE(regroups(library, shape));
  shape.window = 1024;
  EXPECT_FALSE(packs_queries(library, shape));
  EXPECT_EQ(parts(library, shape, kAmpereSms), 1);
  shape = shape_of(AttentionPhase::kGeneration, 1, 131072, 8, 8);
  EXPECT_EQ(parts(library, shape, kAmpereSms), 1);
  EXPECT_FALSE(regroups(library, shape));
}

// Where a library has no table, others stand in: in another order for tokens on Ampere.
TEST(AttentionLibrary, WhichTablesStandInDependsOnTheChip) {
  AttentionShape shape;
  const AttentionType type{"bf16", 2, 2};
  const auto second = [&](const char* architecture, AttentionPhase phase) {
    shape.phase = phase;
    const std::vector<std::string> tables = attention_tables(architecture, "trtllm", type, shape);
    for (const std::string& table : tables) {
      if (table.rfind("trtllm", 0) != 0) return table.substr(0, table.find(' '));
    }
    return std::string();
  };
  EXPECT_EQ(second("ampere", AttentionPhase::kGeneration), "vllm");
  EXPECT_EQ(second("ampere", AttentionPhase::kContext), "sglang");
  EXPECT_EQ(second("hopper", AttentionPhase::kGeneration), "sglang");
}

// Kernels written in Triton and those for tensor memory have nothing in common, so that a chip with
// one takes no factors that were fitted on a chip with the other.
TEST(AttentionLibrary, WideHeadsTakeNoFactorsOfAnotherKernel) {
  AttentionShape shape = shape_of(AttentionPhase::kGeneration, 1, 4096, 8, 2);
  shape.head_dim = 512;
  for (const std::string library : {"sglang", "vllm"}) {
    const auto first = [&](const char* architecture) {
      return attention_tables(architecture, library, {}, shape).front();
    };
    EXPECT_EQ(first("hopper"), library + "-triton-wide generation bf16 bf16");
    EXPECT_EQ(first("ampere"), first("hopper"));
    const std::vector<std::string> tables = attention_tables("blackwell", library, {}, shape);
    EXPECT_EQ(tables.front(), library + "-wide generation bf16 bf16");
    for (const std::string& table : tables) EXPECT_EQ(table.find("triton"), std::string::npos);
  }
}

TEST(AttentionLibrary, TilesFollowTheWidthOfAHead) {
  const auto tile = [](const char* architecture, const char* kernels, std::int64_t width,
                       const AttentionType& type) {
    AttentionShape shape = shape_of(AttentionPhase::kContext, 1, 4096, 8, 8);
    shape.head_dim = width;
    return attention_tile(attention_library(architecture, kernels), type, shape);
  };
  const AttentionType bf16;
  const AttentionType fp8{"fp8", 1, 1};
  EXPECT_EQ(tile("hopper", "vllm", 64, bf16).rows, 192);
  EXPECT_EQ(tile("hopper", "vllm", 128, bf16).keys, 128);
  EXPECT_EQ(tile("hopper", "vllm", 256, bf16).keys, 80);
  EXPECT_EQ(tile("hopper", "vllm", 128, fp8).keys, 160);
  EXPECT_EQ(tile("ampere", "vllm", 64, bf16).keys, 256);
  EXPECT_EQ(tile("ampere", "vllm", 128, bf16).rows, 64);
  EXPECT_EQ(tile("hopper", "sglang-triton-wide", 512, bf16).rows, 32);
  EXPECT_EQ(tile("hopper", "trtllm", 128, bf16).keys, 64);
  EXPECT_EQ(tile("hopper", "trtllm", 128, fp8).keys, 256);
  EXPECT_EQ(tile("hopper", "trtllm", 256, fp8).keys, 128);
  EXPECT_EQ(tile("ampere", "trtllm", 128, bf16).keys, 64);
}

TEST(AttentionLibrary, WideHeadsWithACacheOfAnotherTypeHaveKernelsOfTheirOwnOnBlackwell) {
  const AttentionType mixed{"bf16", 2, 1};
  AttentionShape shape = shape_of(AttentionPhase::kContext, 1, 4096, 8, 2);
  shape.head_dim = 256;
  EXPECT_EQ(attention_kernels("blackwell", "sglang", mixed, shape), "sglang-mixed");
  EXPECT_EQ(attention_kernels("blackwell", "sglang", {}, shape), "sglang");
  EXPECT_EQ(attention_kernels("blackwell", "vllm", mixed, shape), "vllm");
  EXPECT_EQ(attention_kernels("hopper", "sglang", mixed, shape), "sglang");
  // They are made for the matrix pipe without tensor memory.
  const AttentionLibrary library = attention_library("blackwell", "sglang-mixed");
  EXPECT_EQ(attention_tile(library, mixed, shape).rows, 64);
  EXPECT_TRUE(packs_queries(library, shape));
  shape.head_dim = 128;
  EXPECT_EQ(attention_kernels("blackwell", "sglang", mixed, shape), "sglang");
  shape.head_dim = 256;
  shape.phase = AttentionPhase::kGeneration;
  EXPECT_EQ(attention_kernels("blackwell", "sglang", mixed, shape), "sglang");
}

}  // namespace
}  // namespace foretell

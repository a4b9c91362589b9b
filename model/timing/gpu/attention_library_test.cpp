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

TEST(AttentionLibrary, HeadsArePaddedToTheWidthsThatKernelsAreCompiledFor) {
  const auto padded = [](const char* architecture, const char* kernels, double width) {
    return padded_width(attention_library(architecture, kernels), width);
  };
  EXPECT_EQ(padded("hopper", "trtllm", 72), 128);   // the next power of two …
  EXPECT_EQ(padded("hopper", "trtllm", 160), 192);  // … or a multiple of 64, if that is less
  EXPECT_EQ(padded("ampere", "trtllm", 160), 256);
  EXPECT_EQ(padded("hopper", "vllm", 72), 96);
  EXPECT_EQ(padded("hopper", "vllm", 96), 96);
  EXPECT_EQ(padded("hopper", "vllm", 32), 64);
  EXPECT_EQ(padded("ampere", "sglang", 32), 32);
  EXPECT_EQ(padded("hopper", "vllm", 500), 512);  // wider than any: what the pipe takes at least
  EXPECT_EQ(padded("blackwell", "vllm", 72), 80);
}

// FlashAttention 3 of serving engines: one group of warps for few rows of 64 or 128 columns.
TEST(AttentionLibrary, FewRowsTakeASmallTile) {
  const auto rows = [](std::int64_t width, std::int64_t tokens, std::int64_t window,
                       AttentionPhase phase = AttentionPhase::kEncoder) {
    AttentionShape shape = shape_of(phase, 1, tokens, 8, 4);
    shape.head_dim = width;
    shape.window = window;
    return attention_tile(attention_library("hopper", "vllm"), {}, shape).rows;
  };
  EXPECT_EQ(rows(64, 32, 0), 64);
  EXPECT_EQ(rows(64, 33, 0), 192);  // two heads of queries to one of keys: 66 rows
  EXPECT_EQ(rows(64, 32, 128), 192);
  EXPECT_EQ(rows(72, 32, 0), 192);
  EXPECT_EQ(rows(64, 32, 0, AttentionPhase::kContext), 192);
  EXPECT_EQ(rows(128, 32, 0, AttentionPhase::kContext), 64);
}

// No kernel for tensor memory: those that load operands into registers, also with the factors of
// the library's other kernels on another chip.
TEST(AttentionLibrary, HeadsOf72MultiplyFromRegistersOnBlackwell) {
  AttentionShape shape = shape_of(AttentionPhase::kEncoder, 1, 4096, 16, 16);
  shape.head_dim = 72;
  const std::vector<std::string> tables = attention_tables("blackwell", "trtllm", {}, shape);
  EXPECT_EQ(tables.front(), "trtllm-mma encoder bf16 bf16");
  EXPECT_EQ(attention_tables("hopper", "trtllm", {}, shape).front(), "trtllm encoder bf16 bf16");
  const auto of_call = [&](const std::string& asked, const std::string& found) {
    return library_of_call("blackwell", asked, found);
  };
  const AttentionLibrary own = of_call(tables.front(), "trtllm encoder bf16 bf16");
  EXPECT_TRUE(own.register_products);
  EXPECT_FALSE(own.paired);
  EXPECT_EQ(padded_width(own, 72), 128);
  EXPECT_FALSE(of_call(tables.front(), "vllm encoder bf16 bf16").register_products);
  EXPECT_TRUE(of_call("trtllm encoder bf16 bf16", "trtllm encoder bf16 bf16").paired);
}

TEST(AttentionLibrary, ACacheOf8BitsIsWrittenTokenByTokenOnBlackwell) {
  const AttentionType bf16;
  const AttentionType fp8{"fp8", 1, 1};
  const auto table = [](const char* architecture, const char* kernels, const AttentionType& type,
                        AttentionPhase phase) {
    return table_of_cache_write(attention_library(architecture, kernels), type, phase);
  };
  EXPECT_EQ(table("blackwell", "sglang", fp8, AttentionPhase::kContext), "vllm context bf16 bf16");
  EXPECT_EQ(table("blackwell", "sglang", bf16, AttentionPhase::kContext), "");
  EXPECT_EQ(table("blackwell", "sglang", fp8, AttentionPhase::kGeneration), "");
  EXPECT_EQ(table("hopper", "sglang", fp8, AttentionPhase::kContext), "");
  EXPECT_EQ(table("blackwell", "trtllm", fp8, AttentionPhase::kContext), "");
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

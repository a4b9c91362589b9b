// Encoders whose padding is left out.
#include "model/mapping/gpu/packed_tokens.hpp"

#include <gtest/gtest.h>

#include "model/mapping/shared/fuse.hpp"
#include "model/testing/networks.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kTokens = 128;

// Rows of columns are those of the tokens that are left; heads keep an axis of whole sequences.
TEST(PackedTokens, ColumnsLoseTokensAndHeadsDoNot) {
  Graph graph = network("bert-base-uncased", kBatch, kTokens, "fp16");
  pack_tokens(0.25, &graph);
  int packed = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kActivation || tensor.shape.size() < 3) continue;
    if (tensor.shape.size() == 3 && tensor.shape[1] == 1) {
      EXPECT_EQ(tensor.name, "head.first_token");
    } else if (tensor.shape.size() == 3) {
      EXPECT_EQ(tensor.shape[1], kTokens * 3 / 4) << tensor.name;
      ++packed;
    } else {
      const bool whole = tensor.shape[1] == kTokens || tensor.shape[2] == kTokens;
      EXPECT_TRUE(whole) << tensor.name << ' ' << to_string(tensor.shape);
    }
  }
  EXPECT_GT(packed, 12);
}

TEST(PackedTokens, AttentionIsOfWholeSequences) {
  Graph graph = network("bert-base-uncased", kBatch, kTokens, "fp16");
  const Flops whole = graph.total_flops();
  pack_tokens(0.5, &graph);
  EXPECT_LT(graph.total_flops(), 0.6 * whole);
  EXPECT_GT(graph.total_flops(), 0.5 * whole);
  for (const FusedOp& fused : fuse_kernels(graph)) {
    if (fused.kind != FusedKind::kAttention) continue;
    EXPECT_EQ(fused.attention.keys, kTokens);
    EXPECT_EQ(fused.attention.batch, kBatch);
  }
}

TEST(PackedTokens, NoPaddingChangesNothing) {
  Graph graph = network("bert-base-uncased", kBatch, kTokens, "fp16");
  const Flops before = graph.total_flops();
  pack_tokens(0, &graph);
  EXPECT_EQ(graph.total_flops(), before);
}

}  // namespace
}  // namespace foretell

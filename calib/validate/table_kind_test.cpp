#include "calib/validate/table_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

std::string kind_of(const CsvRow& header) { return recognise_table(header, "t.csv").name; }

TEST(TableKind, IsRecognisedByTheHeader) {
  EXPECT_EQ(kind_of({"id", "workload", "system", "batch"}), "models");
  EXPECT_EQ(kind_of({"gpu", "framework", "dtype", "m", "n", "k", "latency_us"}), "gemm");
  EXPECT_EQ(
      kind_of({"gpu", "phase", "dtype", "batch", "isl", "kv_len", "heads", "kv_heads", "head_dim"}),
      "attention");
  EXPECT_EQ(kind_of({"gpu", "dtype", "tokens", "hidden", "intermediate", "top_k", "experts", "tp"}),
            "experts");
  EXPECT_EQ(kind_of({"gpu", "phase", "dtype", "kv_dtype", "batch", "query_len", "kv_len", "heads"}),
            "mla");
  EXPECT_EQ(kind_of({"gpu", "op", "dtype", "tokens", "heads"}), "mla_products");
  EXPECT_EQ(kind_of({"gpu", "kernel", "k_heads_or_groups", "v_heads", "v_head_dim"}),
            "state_space");
  EXPECT_EQ(kind_of({"gpu", "step", "gpus", "hidden", "tokens", "top_k", "experts"}),
            "expert_exchange");
  EXPECT_EQ(kind_of({"gpu", "kind", "phase", "model", "dtype", "kv_dtype", "product_dtype", "batch",
                     "query_len", "kv_len", "heads"}),
            "attention_block");
  EXPECT_EQ(kind_of({"gpu", "op", "n_gpus", "dtype", "bytes"}), "collective");
  EXPECT_EQ(kind_of({"gpu", "op", "dtype", "b", "m", "n", "k", "rows", "cols"}), "operator");
}

TEST(TableKind, OtherWordsForColumnsAreToBeRenamed) {
  const auto message = [](const CsvRow& header) {
    return message_of<UserError>([&] { recognise_table(header, "t.csv"); });
  };
  EXPECT_THAT(
      message({"model", "instance", "dtype", "batch"}),
      testing::HasSubstr("nearest is models: rename instance to system, model to workload;"));
  EXPECT_THAT(message({"network", "system"}), testing::HasSubstr("rename network to workload;"));
  EXPECT_THAT(message({"model", "dtype"}), testing::Not(testing::HasSubstr("rename")));
}

TEST(TableKind, AnUnknownHeaderNamesWhatIsExpected) {
  const std::string message = message_of<UserError>([] {
    recognise_table({"sytem", "workload"}, "t.csv");
  });
  EXPECT_THAT(message, testing::HasSubstr("t.csv:1: the header fits no kind of table"));
  EXPECT_THAT(message, testing::HasSubstr("\n  models: system, workload"));
  EXPECT_THAT(message, testing::HasSubstr("\n  gemm: gpu, dtype, m, n, k"));
}

TEST(TableKind, AHeaderThatAlmostFitsSaysWhatIsMissing) {
  const auto refused = [](const CsvRow& header) {
    return message_of<UserError>([&] { recognise_table(header, "t.csv"); });
  };
  EXPECT_THAT(refused({"sytem", "workload"}),
              testing::HasSubstr("; nearest is models, without system; a kind"));
  // "operator" lacks one column of two, too.
  EXPECT_THAT(refused({"gpu", "dtype", "m", "n"}),
              testing::HasSubstr("; nearest is gemm, without k; a kind"));
  EXPECT_THAT(refused({"a", "b"}), testing::HasSubstr("fits no kind of table; a kind"));
}

TEST(TableKind, EveryKindEndsInStatusAndMessage) {
  for (const TableLayout& layout : table_layouts()) {
    ASSERT_GE(layout.added.size(), 2U) << layout.name;
    EXPECT_EQ(layout.added.back(), "message");
    EXPECT_EQ(layout.added[layout.added.size() - 2], "status");
  }
}

}  // namespace
}  // namespace foretell

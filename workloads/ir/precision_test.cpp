#include "workloads/ir/precision.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

// word table read by a gather and, tied, by a matmul; one linear layer with bias.
struct Sample {
  Graph graph{"g"};
  TensorId ids = graph.add_input("ids", {4}, DType::kInt64);
  TensorId mask = graph.add_input("mask", {4, 1}, DType::kFp32);
  TensorId table = graph.add_weight("table", {100, 8}, DType::kFp32);
  TensorId weight = graph.add_weight("weight", {8, 8}, DType::kFp32);
  TensorId bias = graph.add_weight("bias", {8}, DType::kFp32);
  TensorId words = graph.add_op("words", "Gather", {table, ids});
  TensorId product = graph.add_op("product", "MatMul", {words, weight});
  TensorId sum = graph.add_op("sum", "Add", {product, bias});
  TensorId masked = graph.add_op("masked", "Add", {sum, mask});
  TensorId logits =
      graph.add_op("logits", "MatMul", {masked, table}, {{"transpose_b", std::int64_t{1}}});
  Sample() { graph.mark_output(logits); }
  DType type(TensorId id) const { return graph.tensor(id).dtype; }
};

TEST(Precision, Bf16MatmulTouchesMatmulWeightsAlone) {
  Sample sample;
  apply_precision(find_precision("bf16-matmul"), &sample.graph);
  EXPECT_EQ(sample.type(sample.weight), DType::kBf16);
  EXPECT_EQ(sample.type(sample.bias), DType::kFp32);
  EXPECT_EQ(sample.type(sample.words), DType::kFp32);
  EXPECT_EQ(sample.type(sample.logits), DType::kFp32);
}

TEST(Precision, ATiedTableIsNotQuantised) {
  Sample sample;
  apply_precision(find_precision("int8-weights"), &sample.graph);
  EXPECT_EQ(sample.type(sample.weight), DType::kInt8);
  EXPECT_EQ(sample.type(sample.table), DType::kBf16);
  EXPECT_EQ(sample.type(sample.bias), DType::kBf16);
}

TEST(Precision, IdsStayIds) {
  for (const PrecisionPolicy& policy : precision_policies()) {
    Sample sample;
    apply_precision(policy, &sample.graph);
    EXPECT_EQ(sample.type(sample.ids), DType::kInt64) << policy.name;
    EXPECT_EQ(sample.type(sample.mask), policy.io) << policy.name;
  }
}

TEST(Precision, PlainTypesAreUniformFromTwoBytesOn) {
  for (const char* name : {"fp16", "bf16", "fp32"}) {
    const PrecisionPolicy& policy = find_precision(name);
    const DType type = parse_dtype(name);
    EXPECT_EQ(policy.matmul_compute, type);
    EXPECT_EQ(policy.weight_storage, type);
    EXPECT_EQ(policy.vector, type);
    EXPECT_EQ(policy.io, type);
  }
}

TEST(Precision, EveryArithmeticTypeIsAPolicy) {
  for (const DType type :
       {DType::kInt8, DType::kFp8, DType::kFp16, DType::kBf16, DType::kTf32, DType::kFp32}) {
    EXPECT_NO_THROW(find_precision(to_string(type)));
  }
}

TEST(Precision, TheTwoReadingsOfInt8SayWhichTheyAre) {
  const PrecisionPolicy& today = find_precision("int8");
  const PrecisionPolicy& datasheet = find_precision("int8-datasheet");
  EXPECT_EQ(today.matmul_compute, DType::kBf16);
  EXPECT_EQ(datasheet.matmul_compute, DType::kInt8);
  EXPECT_EQ(today.weight_storage, datasheet.weight_storage);
  EXPECT_THAT(today.description, HasSubstr("multiplied in BF16"));
  EXPECT_THAT(datasheet.description, HasSubstr("datasheet"));
}

TEST(Precision, Tf32IsStoredInFourBytes) {
  EXPECT_EQ(size_of(find_precision("tf32").weight_storage).value(), 4);
}

TEST(Precision, UnknownPoliciesAreTaught) {
  const auto message_of = [](const char* name) -> std::string {
    try {
      find_precision(name);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message_of("cfp8"), HasSubstr("type 'fp8'"));
  EXPECT_THAT(message_of("bf16-matmull"), HasSubstr("nearest is 'bf16-matmul'"));
  EXPECT_THAT(message_of("bfloat16"), HasSubstr("type 'bf16', everything in BF16"));
  EXPECT_THAT(message_of("AWQ"), HasSubstr("type 'int4-weights'"));
  EXPECT_THAT(message_of("quantised"), HasSubstr("there are: int8, int8-datasheet"));
}

}  // namespace
}  // namespace foretell

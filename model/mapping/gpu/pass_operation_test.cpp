#include "model/mapping/gpu/pass_operation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace foretell {
namespace {

Op mean_variance(Shape axes) {
  Op op;
  op.kind = "AlongAxis";
  op.attributes["function"] = std::string("MeanVariance");
  op.attributes["axes"] = std::move(axes);
  return op;
}

Tensor tokens() {
  Tensor tensor;
  tensor.shape = {2, 1024, 1536};
  return tensor;
}

TEST(PassOperation, ANormWithoutParametersIsOneOfRows) {
  EXPECT_EQ(pass_operation(mean_variance({2}), tokens()), "LayerNorm");
  EXPECT_EQ(pass_operation(mean_variance({-1}), tokens()), "LayerNorm");
  EXPECT_TRUE(is_norm(mean_variance({2})));
}

TEST(PassOperation, OverOtherAxesItIsWhatItIsCalled) {
  EXPECT_EQ(pass_operation(mean_variance({1}), tokens()), "AlongAxis");
  EXPECT_EQ(pass_operation(mean_variance({1, 2}), tokens()), "AlongAxis");
}

TEST(PassOperation, OtherOperationsKeepTheirNames) {
  Op op;
  op.kind = "Gelu";
  EXPECT_EQ(pass_operation(op, tokens()), "Gelu");
  EXPECT_FALSE(is_norm(op));
  op.kind = "RmsNorm";
  EXPECT_EQ(pass_operation(op, tokens()), "RmsNorm");
  EXPECT_TRUE(is_norm(op));
}

TEST(PassOperation, GroupsAreRowsOfAGroupNorm) {
  Op op;
  op.kind = "GroupNorm";
  op.attributes["groups"] = std::int64_t{32};
  EXPECT_EQ(pass_row(op, {2, 320, 64, 64}), 320 * 64 * 64 / 32);
  op.kind = "BatchNorm";
  EXPECT_EQ(pass_row(op, {2, 320, 64, 64}), 1);
  op.kind = "Softmax";
  EXPECT_EQ(pass_row(op, {2, 16, 128, 384}), 384);
}

}  // namespace
}  // namespace foretell

// Board power of kernels whose time is given.
#include "model/app/tables/kinds/power_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

using ::testing::HasSubstr;

RowPrediction power_of_experts(const std::string& type, const std::string& us) {
  PowerPredictor predictor({"gpu", "table", "framework", "kernel", "shape", "latency_us"}, {}, "");
  return predictor.predict(
      {"b200_sxm", "moe/moe", "vllm", "moe:experts",
       "moe_dtype=" + type +
           ";num_tokens=4096;hidden_size=7168;inter_size=2048;topk=8;num_experts=256;moe_tp_size=1;"
           "moe_ep_size=8",
       us});
}

TEST(PowerRows, ExpertsOfEveryTypeThatHasATimeHaveAPower) {
  for (const char* type : {"bfloat16", "float16", "fp8", "fp8_block", "nvfp4", "w4a8_mxfp4_mxfp8",
                           "w4a16_mxfp4", "int4_wo"}) {
    const RowPrediction prediction = power_of_experts(type, "2000");
    EXPECT_EQ(prediction.error, "") << type;
    EXPECT_GT(prediction.values.at("pred_w"), 100) << type;
    EXPECT_LE(prediction.values.at("pred_w"), 1000) << type;
    // The same work in more time is less power.
    EXPECT_LT(power_of_experts(type, "8000").values.at("pred_w"), prediction.values.at("pred_w"))
        << type;
  }
}

// Weights of four bits that are widened are multiplied as 16 bits, and are a quarter of the bytes.
TEST(PowerRows, NarrowWeightsThatAreWidenedSaveTheirBytesAlone) {
  const double wide = power_of_experts("bfloat16", "4000").values.at("pred_w");
  const double widened = power_of_experts("int4_wo", "4000").values.at("pred_w");
  const double narrow = power_of_experts("nvfp4", "4000").values.at("pred_w");
  EXPECT_LT(widened, wide);
  EXPECT_LT(narrow, widened);
}

TEST(PowerRows, UnknownTypesAreNamed) {
  EXPECT_THAT(power_of_experts("int3", "2000").error, HasSubstr("int4_wo"));
}

}  // namespace
}  // namespace foretell

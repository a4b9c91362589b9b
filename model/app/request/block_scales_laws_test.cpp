// Networks whose files hold FP8 weights with a scale for each block, from a request to its record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/request/prediction.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::HasSubstr;

class BlockScales : public ::testing::Test {
 protected:
  Request request(const std::string& system, const std::string& dtype, bool blocks = true) {
    const std::string in_blocks =
        R"(, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]})";
    return request_of(system, dtype,
                      config(blocks ? "blocks.json" : "plain.json", blocks ? in_blocks : ""));
  }

  // Feed-forward networks in NVFP4, attention as `format` says.
  Request mixed(const std::string& system, const char* name, const std::string& format) {
    return request_of(system, "",
                      config(name, R"(, "quantization_config": {"quant_method":
        "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"model.layers.*.mlp":
        {"quant_algo": "NVFP4"}, "model.layers.*.self_attn": {"quant_algo": ")" +
                                       format + R"("}}})"));
  }

 private:
  static Request request_of(const std::string& system, const std::string& dtype,
                            const std::string& workload) {
    Request request;
    request.system = system;
    request.workload = workload;
    request.dtype = dtype;
    request.input_len = 1024;
    request.output_len = 64;
    return request;
  }

  std::string config(const char* name, const std::string& more) {
    return folder_.write(name, R"({"model_type": "qwen3", "hidden_size": 4096,
        "num_hidden_layers": 4, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 128, "intermediate_size": 12288, "vocab_size": 32000,
        "max_position_embeddings": 4096, "hidden_act": "silu", "tie_word_embeddings": false)" +
                                   more + "}");
  }

  TemporaryFolder folder_;
};

TEST_F(BlockScales, AreWhatTheFileAsksForWithATypeOrWithout) {
  const RunRecord untyped = predict(request("h200-sxm", ""));
  EXPECT_EQ(untyped.context.dtype, "fp8-block");
  EXPECT_THAT(untyped.context.notes, Contains(HasSubstr("FP8 in blocks of 128 x 128")));
  const RunRecord typed = predict(request("h200-sxm", "fp8"));
  EXPECT_EQ(typed.context.dtype, "fp8-block");
  EXPECT_THAT(typed.context.notes, Contains(HasSubstr("fp8: fp8-block taken")));
  EXPECT_EQ(typed.summary.call_s, untyped.summary.call_s);
  EXPECT_EQ(predict(request("h200-sxm", "fp8", false)).context.dtype, "fp8");
  EXPECT_EQ(predict(request("h200-sxm", "bf16")).context.dtype, "bf16");
}

TEST_F(BlockScales, AreStoredAloneOnAChipWithoutFp8) {
  EXPECT_EQ(predict(request("a100-sxm", "")).context.dtype, "fp8-weights");
}

// Without a pipe that scales, the vector pipe does it between steps of the matrix pipe.
TEST_F(BlockScales, MakePromptsSlowerWhereTheMatrixPipeDoesNotScale) {
  const double plain = *predict(request("h200-sxm", "fp8", false)).summary.ttft_s;
  EXPECT_GT(*predict(request("h200-sxm", "fp8-block", false)).summary.ttft_s, plain);
}

TEST_F(BlockScales, TakeFourBytesForABlock) {
  const auto weights = [&](const char* dtype) {
    return predict(request("h200-sxm", dtype, false)).summary.memory->weights_bytes;
  };
  // For 4 layers: queries and results, keys and values, three matrices of the feed-forward network;
  // the head.
  const double products = 4.0 * 4096 * (2 * 4096 + 2 * 1024 + 3 * 12288) + 4096.0 * 32000;
  EXPECT_NEAR(weights("fp8-block") - weights("fp8"), products / (128 * 128) * 4, 1);
}

// Projections of 4 layers: queries and results, keys and values.
constexpr double kProjections = 4.0 * 4096 * (2 * 4096 + 2 * 1024);

TEST_F(BlockScales, MatricesOfAnotherFormatAreReadAndMultipliedInIt) {
  const RunRecord wide = predict(mixed("b200-sxm", "wide.json", "none"));
  const RunRecord eight = predict(mixed("b200-sxm", "eight.json", "FP8"));
  const RunRecord four = predict(mixed("b200-sxm", "four.json", "NVFP4"));
  EXPECT_EQ(eight.context.dtype, "nvfp4");
  EXPECT_THAT(eight.context.notes, Contains(HasSubstr("FP8 in attention, attention outputs")));
  const auto weights = [](const RunRecord& record) { return record.summary.memory->weights_bytes; };
  EXPECT_NEAR(weights(wide) - weights(eight), kProjections, 1);
  EXPECT_NEAR(weights(eight) - weights(four), kProjections * (1 - 0.5625), 1);
  EXPECT_LT(*eight.summary.ttft_s, *wide.summary.ttft_s);
  EXPECT_LT(*eight.summary.tpot_s, *wide.summary.tpot_s);
}

// Hopper multiplies the FP8 of attention, and stores the FP4 of the others.
TEST_F(BlockScales, EveryFormatTakesThePipeThatTheChipHas) {
  const RunRecord wide = predict(mixed("h200-sxm", "wide.json", "none"));
  const RunRecord eight = predict(mixed("h200-sxm", "eight.json", "FP8"));
  EXPECT_EQ(eight.context.dtype, "nvfp4-weights");
  EXPECT_LT(*eight.summary.ttft_s, *wide.summary.ttft_s);
  const RunRecord old = predict(mixed("a100-sxm", "eight.json", "FP8"));
  EXPECT_EQ(old.summary.memory->weights_bytes, eight.summary.memory->weights_bytes);
}

}  // namespace
}  // namespace foretell

// How long it takes to predict a network on GPUs.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "model/cli/prediction.hpp"
#include "reports/record/testing/temporary_folder.hpp"

namespace foretell {
namespace {

TEST(GpuSpeed, PrefillAndDecodeOfALayerOfALargeModelTakeATenthOfASecondEach) {
  const TemporaryFolder folder;
  const std::string config = folder.file("config.json");
  std::ofstream(config) << R"({"model_type":"gpt2","architectures":["GPT2LMHeadModel"],
      "n_embd":12288,"n_head":96,"n_layer":1,"n_positions":4096,"vocab_size":50257,
      "activation_function":"gelu_new"})";
  Request request;
  request.system = "a100-sxm-x4";
  request.workload = config;
  request.dtype = "fp16";
  request.batch = 8;
  request.tp = 4;
  request.input_len = 2048;
  request.output_len = 2;
  predict(request);  // reads the files
  const auto begin = std::chrono::steady_clock::now();
  const RunRecord record = predict(request);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 0.2);  // prefill and decode
  EXPECT_GT(*record.summary.ttft_s, 20e-3);
  EXPECT_LT(*record.summary.ttft_s, 120e-3);
}

}  // namespace
}  // namespace foretell

// Lengths that prompts and decode steps are compiled for, stated and by default.
#include "model/app/request/resolve/compiled_lengths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

Request answered(std::int64_t prompt, std::int64_t answer) {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = "gpt2";
  request.dtype = "bf16";
  request.dp = 1;
  request.input_len = prompt;
  request.output_len = answer;
  return request;
}

RunSummary with_buckets(Request request, const std::string& prompts, const std::string& caches) {
  request.context_encoding_buckets = prompts;
  request.token_generation_buckets = caches;
  return predict(request).summary;
}

std::string error_of(const Request& request, const std::string& prompts,
                     const std::string& caches) {
  try {
    with_buckets(request, prompts, caches);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(CompiledLengths, AreReadInAnyOrderAndOnce) {
  EXPECT_EQ(parse_buckets("x", "512,128,512"), (std::vector<std::int64_t>{128, 512}));
  EXPECT_THROW(parse_buckets("x", "128,,512"), UserError);
  EXPECT_THROW(parse_buckets("x", "128,-1"), UserError);
}

TEST(CompiledLengths, StatingTheDefaultChangesNothing) {
  const Request request = answered(300, 200);
  const RunSummary plain = predict(request).summary;
  const RunSummary stated = with_buckets(request, "128,256,512,1024", "128,256,512,1024");
  EXPECT_EQ(stated.ttft_s, plain.ttft_s);
  EXPECT_EQ(stated.tpot_s, plain.tpot_s);
  EXPECT_EQ(stated.memory_used_bytes, plain.memory_used_bytes);
}

TEST(CompiledLengths, APromptRunsTheLengthThatHoldsIt) {
  const Request request = answered(520, 8);
  const double whole = *predict(request).summary.ttft_s;  // 1,024 tokens
  const double close = *with_buckets(request, "512,640,1024", "1024").ttft_s;
  EXPECT_LT(close, 0.85 * whole);
  EXPECT_EQ(*with_buckets(request, "1024", "1024").ttft_s, whole);
  EXPECT_LT(*with_buckets(request, "1024", "640").tpot_s, *predict(request).summary.tpot_s)
      << "a step reads less than the prompt's call computed";
  Request filled = answered(640, 8);
  EXPECT_EQ(*with_buckets(filled, "640", "1024").ttft_s, close);
}

TEST(CompiledLengths, StepsReadAndMemoryHoldsTheLengthOfTheCache) {
  const Request request = answered(100, 20);
  const RunSummary plain = predict(request).summary;
  const RunSummary longer = with_buckets(request, "", "1024");
  EXPECT_GT(*longer.tpot_s, *plain.tpot_s);
  EXPECT_EQ(longer.memory->kv_cache_bytes, 8 * plain.memory->kv_cache_bytes);
}

TEST(CompiledLengths, WhatTheyDoNotHoldIsAnError) {
  const Request request = answered(300, 200);
  EXPECT_THAT(error_of(request, "128,256", ""),
              HasSubstr("context-encoding-buckets: the longest is 256, but tokens of a prompt are "
                        "300"));
  EXPECT_THAT(error_of(request, "", "384"), HasSubstr("the longest is 384, but positions of the"));
  EXPECT_THAT(error_of(request, "4096", ""), HasSubstr("4096 is beyond the longest context, 1024"));
  EXPECT_THAT(error_of(request, "short", ""), HasSubstr("context-encoding-buckets"));
  Request forward = answered(0, 0);
  forward.seq_len = 128;
  EXPECT_THAT(error_of(forward, "128", ""), HasSubstr("is about the generation of tokens"));
  Request exact = request;
  exact.kv = "exact";
  EXPECT_THAT(error_of(exact, "", "1024"), HasSubstr("reads no compiled length"));
  Request gpu = request;
  gpu.system = "h100-sxm";
  EXPECT_THAT(error_of(gpu, "512", ""), HasSubstr("is about NeuronCores"));
}

}  // namespace
}  // namespace foretell

// Token generation from a request to its record, on the real model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

Request gpt2() {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = "gpt2";
  request.dtype = "bf16";
  request.dp = 1;
  request.input_len = 100;
  request.output_len = 200;
  return request;
}

double made_tokens(const RunRecord& record) {
  double tokens = 0;
  for (const GenerationRecord& step : record.generation) tokens += static_cast<double>(step.tokens);
  return tokens;
}

double decode_seconds(const RunRecord& record) {
  double seconds = 0;
  for (const GenerationRecord& step : record.generation)
    seconds += static_cast<double>(step.tokens) * step.step_s;
  return seconds;
}

TEST(GenerationLaws, PrefillAndStepsAddUpToTheCall) {
  for (const char* kv : {"bucket", "exact"}) {
    Request request = gpt2();
    request.kv = kv;
    const RunRecord record = predict(request);
    const RunSummary& summary = record.summary;
    EXPECT_EQ(made_tokens(record), 199) << kv;  // the first token comes from the prefill
    EXPECT_NEAR((*summary.ttft_s + decode_seconds(record)) / summary.call_s, 1, 1e-12) << kv;
    EXPECT_NEAR(summary.throughput * summary.call_s, 200, 1e-9) << kv;
    EXPECT_GT(*summary.tpot_s, 0) << kv;
  }
}

TEST(GenerationLaws, InterpolatedStepsAreWithinATenthOfAPercentOfExecutedOnes) {
  Request request = gpt2();
  request.kv = "exact";
  const RunRecord interpolated = predict(request);
  request.exact = true;
  const RunRecord executed = predict(request);
  EXPECT_EQ(executed.generation.size(), 199U);
  EXPECT_LT(interpolated.generation.size(), 20U);
  EXPECT_NEAR(interpolated.summary.call_s / executed.summary.call_s, 1, 1e-3);
  EXPECT_NEAR(*interpolated.summary.ttft_s / *executed.summary.ttft_s, 1, 1e-3);
  EXPECT_NEAR(*interpolated.summary.tpot_s / *executed.summary.tpot_s, 1, 1e-3);
}

// Loops of operators are those of old releases, and of prompts that do not fit SBUF.
TEST(GenerationLaws, LongPromptsOfOldReleasesPassThroughHbm) {
  Request request = gpt2();
  request.input_len = 800;  // 1.2 MB of hidden values in BF16
  request.output_len = 8;
  const auto summary = [&](const std::string& sdk) {
    request.sdk = sdk;
    return predict(request).summary;
  };
  EXPECT_EQ(*summary("2.18.0").ttft_s, *summary("2.18.1").ttft_s);
  request.set = {"core.sbuf.capacity=1 MiB"};
  const RunSummary old = summary("2.18.0");
  const RunSummary next = summary("2.18.1");
  EXPECT_GT(*old.ttft_s, 1.01 * *next.ttft_s);
  EXPECT_EQ(*old.tpot_s, *next.tpot_s);
  EXPECT_EQ(*summary("").ttft_s, *next.ttft_s);
  EXPECT_EQ(*summary("2.9").ttft_s, *old.ttft_s);
  request.set.emplace_back("core.scheduling.operator_loops_until=2.20");
  EXPECT_EQ(*summary("2.18.1").ttft_s, *old.ttft_s);
  request.set.back() = "core.scheduling.operator_loops_until=newest";
  EXPECT_THROW(summary("2.18.1"), UserError);
}

// One core stands for its group and a few layers for all of them; --exact executes every layer on
// every core, with the collectives on the links.
TEST(GenerationLaws, AGroupOfCoresIsWithinATenthOfAPercentOfAllOfThem) {
  const std::vector<std::pair<const char*, int>> groups = {
      {"inf2.48xlarge", 2}, {"inf2.48xlarge", 8}, {"inf2.48xlarge", 12}, {"trn2.48xlarge", 4}};
  for (const auto& [system, tp] : groups) {
    Request request = gpt2();
    request.system = system;
    request.tp = tp;
    request.sequence_parallel = tp == 8;
    const RunSummary one = predict(request).summary;
    request.exact = true;
    const RunSummary all = predict(request).summary;
    EXPECT_NEAR(one.call_s / all.call_s, 1, 1e-3) << tp;
    EXPECT_NEAR(*one.ttft_s / *all.ttft_s, 1, 1e-3) << tp;
    EXPECT_NEAR(*one.tpot_s / *all.tpot_s, 1, 1e-3) << tp;
  }
}

// Windows and full attention in turn, an encoder before its decoder, and a tower for images before
// a decoder: each is a run of its own, and all are replayed.
TEST(GenerationLaws, PatternsAndSeveralRunsOfLayersAreReplayedAsTheyAreExecuted) {
  Request windows = gpt2();
  windows.workload = "gemma-3-4b";
  windows.input_len = 1500;
  windows.output_len = 2;
  Request translation = gpt2();
  translation.workload = "bart-large";
  translation.output_len = 2;
  Request images = gpt2();
  images.system = "inf2.48xlarge";
  images.workload = "Qwen3-VL-8B";
  images.tp = 8;
  images.input_len = 256;
  images.output_len = 2;
  images.images = 1;
  images.image_size = 224;
  for (Request request : {windows, translation, images}) {
    const RunSummary replayed = predict(request).summary;
    request.exact = true;
    const RunSummary executed = predict(request).summary;
    EXPECT_NEAR(*replayed.ttft_s / *executed.ttft_s, 1, 2e-3) << request.workload;
    EXPECT_NEAR(*replayed.tpot_s / *executed.tpot_s, 1, 2e-3) << request.workload;
  }
}

TEST(GenerationLaws, ReadingLessOfTheCacheIsNeverSlower) {
  Request request = gpt2();
  const RunRecord bucket = predict(request);
  request.kv = "exact";
  const RunRecord exact = predict(request);
  EXPECT_LE(exact.summary.call_s, bucket.summary.call_s);
  EXPECT_EQ(exact.summary.memory_used_bytes, bucket.summary.memory_used_bytes);
}

TEST(GenerationLaws, SamplingOnTheHostCostsACallAndACopyPerToken) {
  Request request = gpt2();
  request.set = {"device.host.copy_rate=1 GB/s", "factors.call_overhead=300 us"};
  const RunSummary device = predict(request).summary;
  request.sampling = "host";
  const RunSummary host = predict(request).summary;
  const double copy_s = 50257 * 2 / 1e9;  // the logits of one token in bf16
  EXPECT_NEAR(*host.ttft_s - *device.ttft_s, copy_s, 1e-9);
  EXPECT_NEAR(*host.tpot_s - *device.tpot_s, copy_s + 300e-6, 1e-9);
  EXPECT_NEAR(host.call_s - device.call_s, 200 * copy_s + 199 * 300e-6, 1e-7);
}

TEST(GenerationLaws, ANarrowerCacheTakesLessMemory) {
  Request request = gpt2();
  const MemoryRecord bf16 = *predict(request).summary.memory;
  for (const char* type : {"fp8", "int8"}) {
    request.kv_dtype = type;
    const MemoryRecord narrow = *predict(request).summary.memory;
    EXPECT_EQ(narrow.kv_cache_bytes, bf16.kv_cache_bytes / 2) << type;
    EXPECT_EQ(narrow.weights_bytes, bf16.weights_bytes) << type;
  }
}

TEST(GenerationLaws, WeightsOfOneByteTakeLessMemoryThanTwo) {
  Request request = gpt2();
  const double bf16 = predict(request).summary.memory->weights_bytes;
  for (const char* policy : {"int8-weights", "fp8-weights"}) {
    request.dtype = policy;
    EXPECT_LT(predict(request).summary.memory->weights_bytes, bf16) << policy;
  }
}

Request llama(bool spread) {
  Request request;
  request.system = "inf2.48xlarge";
  request.workload = "llama-3-8b";
  request.dtype = "bf16";
  request.tp = 8;
  request.dp = 1;
  request.input_len = 2048;
  request.output_len = 2;
  request.sequence_parallel = spread;
  return request;
}

TEST(GenerationLaws, SpreadTokensChangeThePrefillAlone) {
  const RunRecord whole = predict(llama(false));
  const RunRecord spread = predict(llama(true));
  EXPECT_TRUE(spread.context.scenario.sequence_parallel);
  EXPECT_LT(*spread.summary.ttft_s, *whole.summary.ttft_s);
  EXPECT_EQ(*spread.summary.tpot_s, *whole.summary.tpot_s);
  EXPECT_LT(spread.summary.memory->activations_bytes, whole.summary.memory->activations_bytes);
  EXPECT_EQ(spread.summary.memory->weights_bytes, whole.summary.memory->weights_bytes);
}

Request t5(std::int64_t input_len, std::int64_t output_len) {
  Request request;
  request.system = "inf2.24xlarge";
  request.workload = "t5-3b";
  request.dtype = "bf16";
  request.tp = 8;
  request.input_len = input_len;
  request.output_len = output_len;
  return request;
}

// The encoder gives no token: all of them, the first too, come from steps of the decoder, whose
// cache holds the answer alone.
TEST(GenerationLaws, EveryTokenOfAnEncoderDecoderTakesAStep) {
  const RunRecord record = predict(t5(128, 84));
  EXPECT_EQ(made_tokens(record), 83);
  ASSERT_EQ(record.generation.size(), 1U);
  EXPECT_EQ(record.generation[0].kv_len, 128);
  EXPECT_NEAR((*record.summary.ttft_s + decode_seconds(record)) / record.summary.call_s, 1, 1e-12);
  EXPECT_GT(*record.summary.ttft_s, *record.summary.tpot_s);
  const RunRecord longer = predict(t5(512, 84));
  EXPECT_GT(*longer.summary.ttft_s, *record.summary.ttft_s);
  EXPECT_GT(*longer.summary.tpot_s, *record.summary.tpot_s);  // reads more of the prompt
  EXPECT_EQ(longer.generation[0].kv_len, 128);
}

Request mixtral() {
  Request request;
  request.system = "trn2.48xlarge";
  request.workload = "Mixtral-8x7B";
  request.dtype = "bf16";
  request.tp = 8;
  request.dp = 1;
  request.batch = 16;
  request.input_len = 256;
  request.output_len = 16;
  return request;
}

// Ranks that hold whole experts, or some columns of all, have the same arithmetic and weights; only
// luck is unevenly spread.
TEST(GenerationLaws, NeuronCoresShareExpertsByColumnsOrByExpert) {
  Request request = mixtral();
  request.experts = "balanced";
  const RunRecord columns = predict(request);
  for (const int groups : {2, 8}) {
    request.ep = groups;
    const RunRecord whole = predict(request);
    EXPECT_NEAR(*whole.summary.tpot_s / *columns.summary.tpot_s, 1, 0.25) << groups;
    EXPECT_NEAR(whole.summary.memory->weights_bytes / columns.summary.memory->weights_bytes, 1,
                0.02)
        << groups;
    request.moe_tp = 8 / groups;
    EXPECT_EQ(*predict(request).summary.tpot_s, *whole.summary.tpot_s) << "said twice";
    request.moe_tp = 0;
  }
  request.experts = "loads:9,1,1,1,1,1,1,1";
  EXPECT_GT(*predict(request).summary.ttft_s, *columns.summary.ttft_s)
      << "the rank with the busiest expert is waited for";
}

// Every core has the heads of some sequences; tokens go to the cores that hold their experts, and
// come back.
TEST(GenerationLaws, NeuronCoresThatHaveSequencesOfTheirOwnExchangeTokens) {
  Request request = mixtral();
  request.ep = 8;
  const RunRecord summed = predict(request);
  request.tp = 2;
  request.attention_dp = 4;
  const RunRecord apart = predict(request);
  EXPECT_EQ(apart.context.scenario.cores, summed.context.scenario.cores);
  const auto kinds_of = [](const RunRecord& record, std::string_view kind) {
    return std::count_if(record.operators.begin(), record.operators.end(),
                         [kind](const OperatorRecord& op) { return op.op == kind; });
  };
  EXPECT_EQ(kinds_of(summed, "ExpertExchange"), 0);
  EXPECT_GT(kinds_of(apart, "ExpertExchange"), 0);
  EXPECT_GT(apart.summary.memory->weights_bytes, summed.summary.memory->weights_bytes)
      << "a core holds the attention of half the heads, no longer of an eighth";
  EXPECT_NEAR(apart.summary.memory->kv_cache_bytes / summed.summary.memory->kv_cache_bytes, 1,
              0.01);
  EXPECT_NEAR(*apart.summary.tpot_s / *summed.summary.tpot_s, 1, 0.4);
  request.exact = true;
  EXPECT_NEAR(*predict(request).summary.tpot_s / *apart.summary.tpot_s, 1, 0.1)
      << "one core in lock step stands for all";
}

TEST(GenerationLaws, NeuronCoresThatCannotShareTheExpertsAreRefused) {
  const auto message = [](const Request& request) -> std::string {
    try {
      predict(request);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  Request request = mixtral();
  request.ep = 3;
  EXPECT_THAT(message(request), HasSubstr("--ep 3 does not divide the 8 devices of a copy"));
  request.ep = 4;
  request.moe_tp = 4;
  EXPECT_THAT(message(request), HasSubstr("must be the 8 cores of a copy"));
  request.moe_tp = 0;
  request.attention_dp = 3;
  EXPECT_THAT(message(request), HasSubstr("--tp times --attention-dp 24 is not possible"));
  request.attention_dp = 32;
  EXPECT_THAT(message(request), HasSubstr("--attention-dp 32 needs as many sequences"));
  request = gpt2();
  request.ep = 1;
  EXPECT_THAT(message(request), HasSubstr("leave --ep out"));
}

}  // namespace
}  // namespace foretell

// Steps of servers on devices that are asked for whole calls: compiled lengths, and what a step
// takes against the prediction of a generation.
#include "model/app/serving/steps/call_step_timer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

Request small_decoder(const char* system, int tp) {
  Request request;
  request.system = system;
  request.workload = "Llama-3.2-1B";
  request.dtype = "bf16";
  request.tp = tp;
  return request;
}

StepShape prompt_of(std::int64_t tokens, std::int64_t context) {
  StepShape shape;
  shape.chunks = {{tokens, context}};
  shape.finished_prompts = 1;
  return shape;
}

StepShape steps_of(std::int64_t count, std::int64_t mean) {
  StepShape shape;
  shape.decodes = count;
  shape.decode_positions = count * mean;
  return shape;
}

TEST(CallStepTimer, APromptTakesWhatItsFirstTokenIsPredictedToTake) {
  for (const auto& [system, tp] : {std::pair("inf2.xlarge", 2), std::pair("c7i.2xlarge", 0)}) {
    CallStepTimer timer(predict, small_decoder(system, tp), true);
    for (const std::int64_t tokens : {100, 512, 600}) {
      Request request = small_decoder(system, tp);
      request.input_len = tokens;
      request.output_len = 2;
      EXPECT_DOUBLE_EQ(timer.time(prompt_of(tokens, 0), 0).total.value(),
                       predict(request).summary.ttft_s.value())
          << system << " " << tokens;
    }
  }
}

// Ranks with sequences of their own run one call: each has as many as the rank that is asked about.
TEST(CallStepTimer, ACallHoldsTheSequencesOfAllRanks) {
  Request request = small_decoder("trn2.48xlarge", 2);
  request.workload = "Mixtral-8x7B";
  request.attention_dp = 4;
  request.ep = 8;
  CallStepTimer timer(predict, request, true);
  const StepTime step = timer.time(steps_of(3, 300), 0);
  const StepTime prompt = timer.time(prompt_of(300, 0), 0);
  request.dp = 1;
  request.input_len = 300;
  request.output_len = 2;
  request.batch = 4;
  EXPECT_DOUBLE_EQ(prompt.total.value(), *predict(request).summary.ttft_s);
  request.batch = 12;
  EXPECT_NEAR(step.total.value() / *predict(request).summary.tpot_s, 1, 1e-9);
  request.batch = 3;
  request.attention_dp = 0;
  request.ep = 2;
  CallStepTimer alone(predict, request, true);
  EXPECT_NEAR(timer.kv_per_token() / alone.kv_per_token(), 2, 1e-9)
      << "a chip of four cores has two ranks of two cores, or one of its copies";
}

TEST(CallStepTimer, ATokenTakesAsMuchOfTheCacheWhateverPromptsAreCompiled) {
  Request request = small_decoder("inf2.xlarge", 2);
  const CallStepTimer usual(predict, request, true);
  request.context_encoding_buckets = "1024,4096";
  const CallStepTimer longer(predict, request, true);
  EXPECT_DOUBLE_EQ(longer.kv_per_token() / usual.kv_per_token(), 1);
}

TEST(CallStepTimer, OneCompiledLengthIsExecutedOnce) {
  CallStepTimer timer(predict, small_decoder("inf2.xlarge", 2), false);
  const Seconds prompt = timer.time(prompt_of(300, 0), 0).total;
  const Seconds step = timer.time(steps_of(4, 300), 0).total;
  const std::int64_t executed = timer.executed();
  for (const std::int64_t length : {270, 311, 400, 509}) {
    EXPECT_EQ(timer.time(prompt_of(length, 0), 0).total, prompt) << length;
    EXPECT_EQ(timer.time(steps_of(4, length), 0).total, step) << length;
  }
  EXPECT_EQ(timer.executed(), executed);
  EXPECT_GT(timer.time(prompt_of(600, 0), 0).total, prompt);
  EXPECT_GT(timer.time(steps_of(4, 600), 0).total, step);
  EXPECT_EQ(timer.executed(), executed + 2);
}

// With a length between those that are compiled nothing is interpolated.
TEST(CallStepTimer, CompiledLengthsAreThoseOfEverySizeExecuted) {
  CallStepTimer quick(predict, small_decoder("inf2.xlarge", 2), false);
  CallStepTimer exact(predict, small_decoder("inf2.xlarge", 2), true);
  for (const std::int64_t length : {127, 128, 129, 700, 1023}) {
    EXPECT_EQ(quick.time(steps_of(4, length), 0).total, exact.time(steps_of(4, length), 0).total)
        << length;
    EXPECT_EQ(quick.time(prompt_of(length, 0), 0).total, exact.time(prompt_of(length, 0), 0).total)
        << length;
  }
}

TEST(CallStepTimer, AChunkTakesNoLessThanItsOwnTokens) {
  CallStepTimer timer(predict, small_decoder("inf2.xlarge", 2), false);
  const Seconds alone = timer.time(prompt_of(100, 0), 0).total;
  for (const std::int64_t context : {10, 100, 300, 900}) {
    EXPECT_GE(timer.time(prompt_of(100, context), 0).total, alone) << context;
  }
}

// With lengths of the request, whose caches are longer than its prompts.
TEST(CallStepTimer, StatedLengthsAreThoseThatAGenerationRuns) {
  Request request = small_decoder("inf2.xlarge", 2);
  request.context_encoding_buckets = "640,1024";
  request.token_generation_buckets = "2048";
  CallStepTimer timer(predict, request, false);
  request.input_len = 600;
  request.output_len = 2;
  EXPECT_DOUBLE_EQ(timer.time(prompt_of(600, 0), 0).total.value(),
                   predict(request).summary.ttft_s.value());
  EXPECT_EQ(timer.time(steps_of(4, 10), 0).total, timer.time(steps_of(4, 2000), 0).total);
  EXPECT_THROW(timer.time(prompt_of(1025, 0), 0), UserError);
  CallStepTimer plain(predict, small_decoder("inf2.xlarge", 2), false);
  EXPECT_EQ(timer.kv_per_token(), plain.kv_per_token());
}

// The activations of a long prompt do not fit beside the network, whatever the scheduler admits.
TEST(CallStepTimer, APromptThatMemoryDoesNotHoldIsRefused) {
  Request request = small_decoder("inf2.xlarge", 2);
  request.workload = "Llama-3.1-8B";
  CallStepTimer timer(predict, request, false);
  EXPECT_NO_THROW(timer.time(prompt_of(2000, 0), 0));
  EXPECT_THROW(timer.time(prompt_of(30'000, 0), 0), UserError);
}

}  // namespace
}  // namespace foretell

// Steps on GPUs: interpolation stays within 0.5 % of executing every size, and more work is never
// faster.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/steps/gpu_step_timer.hpp"
#include "model/testing/temporary_folder.hpp"
#include "model/timing/shared/energy_timing.hpp"
#include "workloads/traffic/random_stream.hpp"

namespace foretell {
namespace {

Request llama_on(const char* system, int tp) {
  Request request;
  request.system = system;
  request.workload = "Llama-3.1-70B";
  request.dtype = "fp8";
  request.tp = tp;
  return request;
}

Request experts_on_eight() {
  Request request;
  request.system = "h200-sxm-x8";
  request.workload = "Qwen3-30B-A3B";
  request.dtype = "bf16";
  request.tp = 1;
  return request;
}

TEST(StepTimerLaws, InterpolationIsWithinHalfAPercentOfExact) {
  GpuStepTimer exact(llama_on("h100-sxm-x8", 8), true);
  GpuStepTimer quick(llama_on("h100-sxm-x8", 8), false);
  RandomStream random(7, 0);
  double sum_exact = 0;
  double sum_quick = 0;
  double worst = 0;
  for (int i = 0; i < 40; ++i) {
    StepShape shape;
    shape.decodes = random.whole(1, 300);
    shape.decode_positions = shape.decodes * random.whole(100, 6000);
    if (i % 2 == 1) {
      shape.chunks = {{random.whole(20, 4000), random.whole(0, 2) * random.whole(1, 4000)}};
      shape.finished_prompts = 1;
    }
    const double a = exact.time(shape, 0).total.value();
    const double b = quick.time(shape, 0).total.value();
    sum_exact += a;
    sum_quick += b;
    worst = std::max(worst, std::abs(b / a - 1));
  }
  EXPECT_NEAR(sum_quick / sum_exact, 1, 0.005);
  EXPECT_LT(worst, 0.03);  // a single step, between two waves of thread blocks
}

// Attention that is executed apart from its network takes what it takes inside; a percent is what
// boards that run at their limit give or take.
TEST(StepTimerLaws, AttentionAloneTakesWhatItTakesInItsNetwork) {
  for (const char* network : {"Llama-3.1-8B", "Qwen3-30B-A3B", "gpt-oss-20b"}) {
    Request request = experts_on_eight();
    request.workload = network;
    GpuStepTimer inside(request, true);
    GpuStepTimer alone(request, false);
    for (const std::int64_t positions : {128, 1024, 4096}) {
      StepShape shape;
      shape.decodes = 32;
      shape.decode_positions = shape.decodes * positions;
      EXPECT_NEAR(alone.time(shape, 0).attention / inside.time(shape, 0).attention, 1, 1e-9)
          << network << " " << positions;
      StepShape prompt;
      prompt.chunks = {{positions, 0}};
      prompt.finished_prompts = 1;
      EXPECT_NEAR(alone.time(prompt, 0).total / inside.time(prompt, 0).total, 1, 0.01)
          << network << " " << positions;
    }
  }
}

// Experts get the tokens of all ranks: fewer from the others is never slower, and a GPU of eight
// that divide the experts holds fewer weights than one that holds all.
TEST(StepTimerLaws, RanksShareExpertsAndKeepTheirAttention) {
  Request request = experts_on_eight();
  GpuStepTimer alone(request, false);
  request.attention_dp = 8;
  request.ep = 8;
  GpuStepTimer ranks(request, false);
  EXPECT_EQ(ranks.ranks(), 8);
  EXPECT_EQ(alone.memory(1024, 0).kv_per_token.value(), ranks.memory(1024, 0).kv_per_token.value());
  EXPECT_LT(ranks.memory(1024, 0).weights.value(), 0.4 * alone.memory(1024, 0).weights.value());
  StepShape shape;
  shape.decodes = 128;
  shape.decode_positions = 128 * 1000;
  const StepTime all = ranks.time(shape, 0);
  shape.shared_tokens = 32;
  const StepTime few = ranks.time(shape, 0);
  EXPECT_LT(few.total.value(), all.total.value());
  EXPECT_LE(few.exchange.value(), all.exchange.value());
  EXPECT_EQ(few.attention.value(), all.attention.value());
  EXPECT_GT(all.launches, 48 * 8);  // several kernels in each of its layers
}

// What two halves exchange passes beside what they compute; attention hides more of it, and sizes
// between those that were executed are as good as without halves.
TEST(StepTimerLaws, HalvesThatTakeTurnsHideWhatTheyExchange) {
  Request request = experts_on_eight();
  request.attention_dp = 8;
  request.ep = 8;
  GpuStepTimer whole(request, false);
  request.two_batch = true;
  GpuStepTimer halves(request, false);
  GpuStepTimer exact(request, true);
  EXPECT_EQ(halves.memory(1024, 0).weights.value(), whole.memory(1024, 0).weights.value());
  EXPECT_EQ(halves.memory(1024, 0).kv_per_token.value(),
            whole.memory(1024, 0).kv_per_token.value());
  double exchanged = 1;
  for (const std::int64_t mean : {100, 2000, 20000}) {
    StepShape shape;
    shape.decodes = 250;
    shape.decode_positions = shape.decodes * mean;
    const StepTime time = halves.time(shape, 0);
    EXPECT_LT(time.exchange.value(), whole.time(shape, 0).exchange.value());
    EXPECT_LE(time.exchange.value(), exchanged * (1 + 1e-3)) << mean;
    EXPECT_NEAR(time.total / exact.time(shape, 0).total, 1, 0.03) << mean;
    exchanged = time.exchange.value();
  }
  StepShape prompt;
  prompt.chunks = {{8192, 0}};
  prompt.finished_prompts = 1;
  EXPECT_LT(halves.time(prompt, 0).exchange.value(), whole.time(prompt, 0).exchange.value());
  EXPECT_LT(halves.time(prompt, 0).total.value(), whole.time(prompt, 0).total.value());
  StepShape one;  // a token has no halves
  one.decodes = 1;
  one.decode_positions = 100;
  EXPECT_NEAR(halves.time(one, 0).total / whole.time(one, 0).total, 1, 1e-6);
}

// A prompt is divided among the ranks, and its pieces take what the whole takes; the cache is
// divided, too.
TEST(StepTimerLaws, RanksThatDividePromptsAreFasterAndHoldAShareOfTheCache) {
  GpuStepTimer alone(llama_on("h100-sxm-x8", 2), false);
  Request request = llama_on("h100-sxm-x8", 2);
  request.cp = 4;
  GpuStepTimer ranks(request, false);
  EXPECT_NEAR(ranks.memory(8192, 0).kv_per_token * 4 / alone.memory(8192, 0).kv_per_token, 1, 1e-3);
  StepShape whole;
  whole.chunks = {{65'536, 0}};
  whole.finished_prompts = 1;
  const double one = alone.time(whole, 0).total.value();
  const double four = ranks.time(whole, 0).total.value();
  EXPECT_LT(four, 0.5 * one);
  EXPECT_GT(four, 0.98 * one / 4);
  StepShape first = whole;
  first.chunks = {{32'768, 0}};
  StepShape second = whole;
  second.chunks = {{32'768, 32'768}};
  const double pieces = ranks.time(first, 0).total.value() + ranks.time(second, 0).total.value();
  EXPECT_NEAR(pieces / four, 1, 0.05);
}

// Dense and expert layers, with and without a window: each kind counts as often as it comes.
TEST(StepTimerLaws, AStepOfDecodesIsAStepOfAGenerationWhateverTheLayers) {
  const TemporaryFolder folder;
  Request request;
  request.workload =
      folder.write("layers_of_four_kinds.json",
                   R"({"model_type": "gpt_oss", "hidden_size": 512, "num_hidden_layers": 6,
    "num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 512,
    "num_local_experts": 16, "num_experts_per_tok": 4, "sliding_window": 128, "vocab_size": 4096,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
                    "full_attention", "full_attention", "full_attention"],
    "max_position_embeddings": 8192, "torch_dtype": "bfloat16"})");
  request.system = "h100-sxm";
  request.dtype = "bf16";
  request.batch = 8;
  request.input_len = 2047;
  request.output_len = 2;
  const double step = *predict(request).summary.tpot_s;
  GpuStepTimer timer(request, true);
  StepShape shape;
  shape.decodes = 8;
  shape.decode_positions = 8 * 2048;
  EXPECT_NEAR(timer.time(shape, 0).total.value() / step, 1, 0.02);
}

TEST(StepTimerLaws, MoreWorkIsNeverMuchFaster) {
  GpuStepTimer timer(llama_on("h100-sxm-x8", 4), false);
  double last = 0;
  for (const std::int64_t batch : {1, 8, 64, 256}) {
    StepShape shape;
    shape.decodes = batch;
    shape.decode_positions = batch * 1000;
    const double now = timer.time(shape, 0).total.value();
    EXPECT_GT(now, last * 0.99) << batch;
    last = now;
  }
  last = 0;
  for (const std::int64_t context : {0, 1000, 8000, 64000}) {
    StepShape shape;
    shape.chunks = {{2048, context}};
    shape.finished_prompts = 1;
    const double now = timer.time(shape, 0).total.value();
    EXPECT_GT(now, last * 0.99) << context;
    last = now;
  }
}

// A prompt of latents in two pieces takes little more than the same prompt at once: its second
// piece makes keys and values of the first again, or asks the latents, whichever is less.
TEST(StepTimerLaws, PiecesOfAPromptOfLatentsTakeLittleMoreThanAllOfIt) {
  Request request;
  request.system = "h200-sxm-x8";
  request.workload = "DeepSeek-R1";
  request.dtype = "bf16";
  request.tp = 1;
  GpuStepTimer timer(request, false);
  const auto seconds = [&timer](std::int64_t tokens, std::int64_t context) {
    StepShape shape;
    shape.chunks = {{tokens, context}};
    return timer.time(shape, 0).total.value();
  };
  for (const std::int64_t half : {2048, 8192}) {
    const double whole = seconds(2 * half, 0);
    const double pieces = seconds(half, 0) + seconds(half, half);
    EXPECT_GT(pieces, whole * 0.97) << half;
    // The second piece reads the weights of the experts again.
    EXPECT_LT(seconds(half, half) - seconds(half, 0), whole * 0.2) << half;
  }
  // Few that ask are no slower than by making all keys again.
  EXPECT_LT(seconds(16, 16384), seconds(2048, 16384));
}

// SGLang asks up to 8,191 cached latents on Hopper and makes keys of more, TensorRT-LLM makes them
// of any number: for prompts of many queries, the longer cache beyond the limit is the faster one.
TEST(StepTimerLaws, WhetherAPromptAsksLatentsIsTheChoiceOfTheLibrary) {
  const auto growth = [](const std::string& library, const std::string& system) {
    Request request;
    request.system = system;
    request.workload = "DeepSeek-R1";
    request.dtype = "bf16";
    request.tp = 8;
    request.library = library;
    GpuStepTimer timer(request, true);
    const auto seconds = [&timer](std::int64_t context) {
      StepShape shape;
      shape.chunks = {{2048, context}};
      return timer.time(shape, 0).total.value();
    };
    return seconds(8192) / seconds(8176);
  };
  EXPECT_LT(growth("sglang", "h200-sxm-x8"), 0.98);
  EXPECT_GT(growth("sglang", "b200-sxm-x8"), 0.99);
  EXPECT_GT(growth("trtllm", "h200-sxm-x8"), 0.99);
  EXPECT_GT(growth("vllm", "h200-sxm-x8"), 0.99);
}

// A service runs the branches of a block beside the rest where its library does.
TEST(StepTimerLaws, StepsOfTokensUseTheSecondStreamOfTheLibrary) {
  Request request;
  request.system = "h200-sxm-x8";
  request.workload = "DeepSeek-R1";
  request.dtype = "bf16";
  request.tp = 8;
  for (const auto& [library, beside] :
       {std::pair{"trtllm", true}, {"vllm", true}, {"sglang", true}, {"pytorch", false}}) {
    request.library = library;
    GpuStepTimer timer(request, false);
    StepShape shape;
    shape.decodes = 64;
    shape.decode_positions = 64 * 1024;
    const StepTime time = timer.time(shape, 0);
    EXPECT_GT(time.total, Seconds(0)) << library;
    const std::vector<std::string>& notes = timer.notes();
    const bool noted = std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.find("on a second stream") != std::string::npos;
    });
    EXPECT_EQ(noted, beside) << library;
  }
}

TEST(StepTimerLaws, MemoryIsDividedByTheWorker) {
  GpuStepTimer four(llama_on("h100-sxm-x8", 4), false);
  GpuStepTimer eight(llama_on("h100-sxm-x8", 8), false);
  const WorkerMemory a = four.memory(2048, 0);
  const WorkerMemory b = eight.memory(2048, 0);
  EXPECT_NEAR(a.weights / b.weights, 2, 0.1);
  EXPECT_NEAR(a.kv_per_token / b.kv_per_token, 2, 1e-9);
}

// A lower limit of power is never faster, draws no more than it says, and none binds where the
// board draws less.
TEST(StepTimerLaws, ALowerLimitOfPowerTakesLongerAndIsKept) {
  StepShape prompts;
  prompts.chunks = {{4096, 0}, {2000, 2000}};
  prompts.finished_prompts = 2;
  StepShape mixed = prompts;
  mixed.decodes = 64;
  mixed.decode_positions = 64 * 3000;
  StepShape decodes;
  decodes.decodes = 4;
  decodes.decode_positions = 4 * 500;
  double before = 0;
  for (const char* limit : {"", "700W", "550W", "400W", "300W"}) {
    Request request = llama_on("h100-sxm-x8", 4);
    request.power_limit = limit;
    GpuStepTimer timer(request, false);
    const PowerFacts& facts = timer.energy().facts;
    const double watts = *limit == 0 ? 700 : timer.resolved().power_limit.value();
    double sum = 0;
    for (const StepShape& shape : {prompts, mixed, decodes}) {
      const StepTime time = timer.time(shape, 0);
      const double drawn = (time.energy / time.total).value() / 4 + idle_power(1, facts).value();
      EXPECT_LE(drawn, watts * facts.limit_share * 1.001) << limit;
      EXPECT_GE(time.total * 1.000001, time.attention + time.exchange) << limit;
      sum += time.total.value();
    }
    EXPECT_GE(sum, before * (1 - 1e-9)) << limit;
    before = sum;
  }
}

// The stages of a pipeline are the network cut up: their times, their energy, their caches and
// their weights sum up to those of one copy, and activations have to be sent between them.
TEST(StepTimerLaws, StagesTogetherAreTheNetwork) {
  Request request = llama_on("h100-sxm-x8", 2);
  GpuStepTimer whole(request, false);
  request.pp = 3;  // 80 layers: 27, 27 and 26
  GpuStepTimer cut(request, false);
  ASSERT_EQ(cut.stages(), 3);
  ASSERT_EQ(whole.stages(), 1);
  StepShape decodes;
  decodes.decodes = 48;
  decodes.decode_positions = 48 * 1500;
  StepShape mixed = decodes;
  mixed.chunks = {{700, 300}};
  mixed.finished_prompts = 1;
  for (const StepShape& shape : {decodes, mixed}) {
    const StepTime all = whole.time(shape, 0);
    StepTime sum;
    for (int stage = 0; stage < 3; ++stage) {
      const StepTime time = cut.time(shape, stage);
      EXPECT_GT(time.total.value(), 0.3 * all.total.value());
      sum.total += time.total;
      sum.attention += time.attention;
      sum.launches += time.launches;
      sum.energy += time.energy;
      sum.handover += time.handover;
      EXPECT_EQ(time.handover > Seconds(0), stage < 2);
    }
    // Boards at their limit slow the steps of each stage by what that stage draws.
    EXPECT_NEAR(sum.total / all.total, 1, 1e-3);
    EXPECT_NEAR(sum.attention / all.attention, 1, 1e-3);
    EXPECT_DOUBLE_EQ(sum.launches, all.launches);
    EXPECT_NEAR(sum.energy / all.energy, 1, 1e-3);
    EXPECT_LT(sum.handover.value(), 0.1 * all.total.value());
  }
  Bytes weights;
  Bytes rows;
  for (int stage = 0; stage < 3; ++stage) {
    const WorkerMemory memory = cut.memory(2048, stage);
    weights += memory.weights;
    rows += memory.kv_per_token;
  }
  EXPECT_NEAR(weights / whole.memory(2048, 0).weights, 1, 1e-3);
  EXPECT_NEAR(rows / whole.memory(2048, 0).kv_per_token, 1, 1e-9);
}

}  // namespace
}  // namespace foretell

// The attention kernel of long causal prompts and large images: what it multiplies, skips and
// leaves on the core.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "model/mapping/neuron/kernel.hpp"
#include "model/mapping/neuron/map_graph.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kDim = 64;
constexpr std::int64_t kPiece = 512;  // columns of a bank
constexpr int kNever = 1 << 30;

struct Prompt {
  std::int64_t length = 2048;
  std::int64_t window = 0;
  bool causal = true;
  int flash_from = 1024;
  int keys_at_a_time = 2048;
};

Graph attention_of(const Prompt& prompt) {
  GraphWriter w;
  const Shape heads{1, kHeads, prompt.length, kDim};
  const auto operand = [&](const std::string& name) {
    const TensorId x = w.input("input." + name, {1, prompt.length, kHeads * kDim});
    const TensorId split =
        w.op(name + ".split", "Reshape", {x}, {{"shape", Shape{1, prompt.length, kHeads, kDim}}});
    return w.op(name + ".heads", "Transpose", {split}, {{"perm", Shape{0, 2, 1, 3}}});
  };
  const TensorId q = operand("q");
  const TensorId k = operand("k");
  const TensorId v = operand("v");
  TensorId scores = w.op("scores", "MatMul", {q, k}, {{"transpose_b", std::int64_t{1}}});
  if (prompt.causal) {
    std::map<std::string, Attribute> mask{{"offset", std::int64_t{0}}};
    if (prompt.window > 0) mask["window"] = prompt.window;
    scores = w.op("mask", "CausalMask", {scores}, mask);
  }
  const TensorId weights = w.op("softmax", "Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const TensorId context = w.op("context", "MatMul", {weights, v});
  const TensorId merged = w.op("merge", "Transpose", {context}, {{"perm", Shape{0, 2, 1, 3}}});
  return w.finish(
      w.op("out", "Reshape", {merged}, {{"shape", Shape{1, prompt.length, kHeads * kDim}}}));
}

Program map(const Prompt& prompt) {
  NeuronCoreSpec core = exemplar_inf2().device.core;
  core.scheduling.flash_attention_queries = prompt.flash_from;
  core.scheduling.flash_attention_keys = prompt.keys_at_a_time;
  SchedulingParameters scheduling;
  scheduling.prefetch_window = core.sbuf.capacity * 0.4;
  Program program = map_to_neuron_core(attention_of(prompt), find_precision("bf16-matmul"),
                                       core_shape(core), scheduling);
  validate(program, {});
  return program;
}

double products_of(const Program& program, const std::string& op) {
  double products = 0;
  for (const Instruction& i : program.engine(static_cast<std::size_t>(Engine::kTensor))) {
    if (i.op < 0 || program.operators[static_cast<std::size_t>(i.op)] != op) continue;
    if (i.opcode == Opcode::kMultiplyMoving) {
      products += static_cast<double>(i.partitions) * i.aux * i.n;
    }
  }
  return products;
}

double elements_on(const Program& program, Engine engine) {
  double elements = 0;
  for (const Instruction& i : program.engine(static_cast<std::size_t>(engine))) elements += i.n;
  return elements;
}

// Query and key pairs per head when every tile of 128 queries meets whole pieces of keys.
double pairs(std::int64_t length, std::int64_t window) {
  double sum = 0;
  for (std::int64_t first = 0; first < length; first += 128) {
    const std::int64_t end = (first + 128 + kPiece - 1) / kPiece * kPiece;
    const std::int64_t hidden = window == 0 ? 0 : std::max<std::int64_t>(0, first + 1 - window);
    sum += 128.0 * static_cast<double>(std::min(length, end) - hidden / kPiece * kPiece);
  }
  return sum;
}

TEST(FlashAttention, MultipliesOnlyWhatTheMaskShows) {
  for (const std::int64_t length : {1024, 2048, 4096}) {
    Prompt prompt;
    prompt.length = length;
    const Program program = map(prompt);
    EXPECT_DOUBLE_EQ(products_of(program, "scores"), kHeads * kDim * pairs(length, 0)) << length;
    EXPECT_DOUBLE_EQ(products_of(program, "context"), kHeads * kDim * pairs(length, 0)) << length;
  }
}

TEST(FlashAttention, AWindowLeavesOutWhatLiesBeforeIt) {
  Prompt prompt;
  prompt.length = 4096;
  for (const std::int64_t window : {128, 1000, 4095}) {
    prompt.window = window;
    EXPECT_DOUBLE_EQ(products_of(map(prompt), "scores"), kHeads * kDim * pairs(4096, window))
        << window;
  }
  EXPECT_LT(pairs(4096, 128), pairs(4096, 0) / 3);
}

TEST(FlashAttention, TilesOfKeysDoNotChangeTheProducts) {
  Prompt prompt;
  const double products = products_of(map(prompt), "scores");
  for (const int keys : {512, 1024, 8192}) {
    prompt.keys_at_a_time = keys;
    EXPECT_DOUBLE_EQ(products_of(map(prompt), "scores"), products) << keys;
  }
}

TEST(FlashAttention, PassesTheVectorEngineLessOften) {
  Prompt prompt;
  const Program flash = map(prompt);
  prompt.flash_from = kNever;
  const Program plain = map(prompt);
  EXPECT_LT(elements_on(flash, Engine::kVector), 0.4 * elements_on(plain, Engine::kVector));
  EXPECT_DOUBLE_EQ(products_of(plain, "scores"), kHeads * kDim * 2048.0 * 2048.0);
}

TEST(FlashAttention, ShortPromptsDoNotTakeIt) {
  Prompt prompt;
  prompt.length = 512;
  EXPECT_DOUBLE_EQ(products_of(map(prompt), "scores"), kHeads * kDim * 512.0 * 512.0);
}

// Images: no mask, so everything is multiplied, and scores pass the vector engine less often.
TEST(FlashAttention, LargeImagesTakeItWithAllTheirPairs) {
  Prompt image;
  image.causal = false;
  const Program flash = map(image);
  EXPECT_DOUBLE_EQ(products_of(flash, "scores"), kHeads * kDim * 2048.0 * 2048.0);
  EXPECT_DOUBLE_EQ(products_of(flash, "context"), kHeads * kDim * 2048.0 * 2048.0);
  image.flash_from = kNever;
  EXPECT_LT(elements_on(flash, Engine::kVector), 0.5 * elements_on(map(image), Engine::kVector));
}

TEST(FlashAttention, APromptThatEndsInsideATile) {
  Prompt prompt;
  prompt.length = 1100;
  const double last = 1100.0 - 8 * 128;
  const double full = pairs(1024, 0) + last * 1100;
  EXPECT_DOUBLE_EQ(products_of(map(prompt), "scores"), kHeads * kDim * full);
}

}  // namespace
}  // namespace foretell

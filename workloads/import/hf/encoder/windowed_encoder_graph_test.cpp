#include "workloads/import/hf/encoder/windowed_encoder_graph.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The sizes of the large and the base network, without what the computation does not depend on.
std::string modern_config(std::int64_t hidden, std::int64_t intermediate, std::int64_t layers,
                          std::int64_t heads, const std::string& more = "") {
  return R"({"architectures": ["ModernBertForMaskedLM"], "model_type": "modernbert",
             "vocab_size": 50368, "max_position_embeddings": 8192, "hidden_activation": "gelu",
             "hidden_size": )" +
         std::to_string(hidden) + R"(, "intermediate_size": )" + std::to_string(intermediate) +
         R"(, "num_hidden_layers": )" + std::to_string(layers) + R"(, "num_attention_heads": )" +
         std::to_string(heads) + more + "}";
}

ModelConfig parse_modern(const std::string& text) {
  return parse_model_config(text, "modern", "config.json");
}

std::string modern_message(const std::string& text) {
  try {
    parse_modern(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<double> attention_flops(const Graph& graph) {
  std::vector<double> flops;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    if (graph.op(id).kind == "Attention") flops.push_back(graph.flops(id).value());
  }
  return flops;
}

// 395 and 149 million: rounded, as their publisher names them.
TEST(WindowedEncoder, HasAsManyParametersAsItsPublisherSays) {
  const Graph large = build_graph(parse_modern(modern_config(1024, 2624, 28, 16)), {1, 16});
  EXPECT_NEAR(static_cast<double>(large.parameter_count()), 395e6, 0.005 * 395e6);
  const Graph base = build_graph(parse_modern(modern_config(768, 1152, 22, 12)), {1, 16});
  EXPECT_NEAR(static_cast<double>(base.parameter_count()), 149e6, 0.005 * 149e6);
}

// Embeddings, 28 layers of 12 H^2-like matrices, and the head, counted by hand.
TEST(WindowedEncoder, ParametersFollowTheClosedForm) {
  const std::int64_t h = 1024, i = 2624, layers = 28, vocab = 50368;
  const std::int64_t matrices = layers * (4 * h * h + 3 * h * i) + h * h + vocab * h;
  const std::int64_t norms = (1 + (layers - 1) + layers + 1 + 1) * h;
  const std::int64_t zeros = h;
  const Graph graph = build_graph(parse_modern(modern_config(h, i, layers, 16)), {1, 16});
  EXPECT_EQ(graph.parameter_count(), matrices + norms + zeros + vocab);
}

TEST(WindowedEncoder, EveryThirdLayerSeesAllTokens) {
  const std::vector<double> flops =
      attention_flops(build_graph(parse_modern(modern_config(1024, 2624, 7, 16)), {2, 4096}));
  ASSERT_EQ(flops.size(), 7u);
  for (const std::size_t layer : {1u, 2u, 4u, 5u}) {
    EXPECT_DOUBLE_EQ(flops[layer] / flops[0], 129.0 / 4096) << layer;
  }
  EXPECT_THAT((std::vector<double>{flops[3], flops[6]}), ElementsAre(flops[0], flops[0]));
}

TEST(WindowedEncoder, AWindowWiderThanTheTextHidesNothing) {
  const std::vector<double> flops =
      attention_flops(build_graph(parse_modern(modern_config(1024, 2624, 3, 16)), {2, 64}));
  EXPECT_THAT(flops, ElementsAre(flops[0], flops[0], flops[0]));
}

TEST(WindowedEncoder, GivesHiddenStatesOrLogits) {
  std::string text = modern_config(1024, 2624, 2, 16);
  const Graph masked = build_graph(parse_modern(text), {2, 64});
  EXPECT_EQ(masked.tensor(masked.outputs().front()).shape, (Shape{2, 64, 50368}));
  text.replace(text.find("ForMaskedLM"), 11, "Model");
  const Graph plain = build_graph(parse_modern(text), {2, 64});
  EXPECT_EQ(plain.tensor(plain.outputs().front()).shape, (Shape{2, 64, 1024}));
}

TEST(WindowedEncoder, SizesThatDoNotFitAreRefused) {
  EXPECT_THAT(modern_message(modern_config(1000, 2624, 2, 16)),
              HasSubstr("no multiple of 16 heads"));
  EXPECT_THAT(modern_message(modern_config(1024, 2624, 2, 16, R"(, "local_attention": 127)")),
              HasSubstr("local_attention: must be even"));
  EXPECT_THAT(modern_message(modern_config(1024, 2624, 2, 16, R"(, "norm_bias": true)")),
              HasSubstr("norm_bias: only false can be imported"));
}

}  // namespace
}  // namespace foretell

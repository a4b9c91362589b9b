#include "workloads/import/hf/encoder/encoder_decoder_graph.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/base/errors.hpp"
#include "workloads/import/hf/config/network_facts.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

ModelConfig load_t5(const std::string& name) { return WorkloadLibrary().load(name); }

std::string binding_message(const Binding& binding) {
  try {
    build_graph(load_t5("t5-3b"), binding);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<Shape> states(const Graph& graph, bool produced) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : graph.tensors()) {
    const bool is_produced = tensor.producer != kNoId;
    if (tensor.kind == TensorKind::kState && is_produced == produced)
      shapes.push_back(tensor.shape);
  }
  return shapes;
}

TEST(T5Graph, BothPhasesTogetherHoldThePublishedParameters) {
  EXPECT_EQ(parameters_of(encoded_parts(load_t5("t5-3b"), {}, 16)), 2851598336);
  EXPECT_EQ(parameters_of(encoded_parts(load_t5("google/flan-t5-xl"), {}, 16)), 2849757184);
}

TEST(T5Graph, PrefillLeavesKeysAndValuesOfTheCrossAttention) {
  const Graph graph = build_graph(load_t5("t5-3b"), {2, 100, Phase::kPrefill});
  const std::vector<Shape> left = states(graph, true);
  ASSERT_EQ(left.size(), 2u * 24);
  for (const Shape& shape : left) EXPECT_EQ(shape, (Shape{2, 32, 100, 128}));
  EXPECT_TRUE(graph.outputs().empty()) << "the first token comes from the first decode step";
}

TEST(T5Graph, DecodeReadsWhatPrefillLeft) {
  const Graph graph = build_graph(load_t5("t5-3b"), {2, 1, Phase::kDecode, 128, 100});
  const std::vector<Shape> read = states(graph, false);
  EXPECT_EQ(std::count(read.begin(), read.end(), Shape({2, 32, 100, 128})), 2 * 24);
  EXPECT_EQ(std::count(read.begin(), read.end(), Shape({2, 32, 128, 128})), 2 * 24);
  EXPECT_EQ(graph.tensor(graph.outputs().front()).shape, (Shape{2, 1, 32128}));
}

TEST(T5Graph, ScoresAreNotScaledButBiasedByDistance) {
  const Graph graph = build_graph(load_t5("t5-3b"), {1, 1, Phase::kDecode, 128, 100});
  int biases = 0;
  for (const Op& op : graph.ops()) {
    EXPECT_EQ(op.name.find("attention.scale"), std::string::npos) << op.name;
    biases += op.name.find(".attention.bias") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(biases, 24) << "self attention alone";
}

TEST(T5Graph, PhasesThatItDoesNotHave) {
  EXPECT_THAT(binding_message({1, 128}), HasSubstr("give --input-len and --output-len"));
  EXPECT_THAT(binding_message({1, 1, Phase::kDecode, 128}), HasSubstr("encoder_len is 0"));
  EXPECT_EQ(binding_message({1, 128, Phase::kPrefill}), "no error");
}

std::string bart(const std::string& type, int width, int layers, int vocab,
                 const std::string& more = "") {
  std::string text = R"({"model_type": ")" + type + R"(", "activation_function": "gelu", )" + more;
  const auto field = [&text](const std::string& key, int value) {
    text += (text.back() == ' ' ? "\"" : ", \"") + key + "\": " + std::to_string(value);
  };
  field("d_model", width);
  field("vocab_size", vocab);
  field("max_position_embeddings", 1024);
  for (const std::string stack : {"encoder", "decoder"}) {
    field(stack + "_layers", layers);
    field(stack + "_attention_heads", width / 64);
    field(stack + "_ffn_dim", 4 * width);
  }
  return text + "}";
}

std::int64_t bart_parameters(const std::string& config) {
  return static_cast<std::int64_t>(
      parameters_of(encoded_parts(parse_model_config(config, "bart", "config.json"), {}, 16)));
}

TEST(BartGraph, BothPhasesTogetherHoldThePublishedParameters) {
  EXPECT_EQ(bart_parameters(bart("bart", 768, 6, 50265)), 139420416);      // facebook/bart-base
  EXPECT_EQ(bart_parameters(bart("bart", 1024, 12, 50265)), 406291456);    // facebook/bart-large
  EXPECT_EQ(bart_parameters(bart("mbart", 1024, 12, 250054)), 610879488);  // mbart-large-50
}

// Norms follow the residuals of BART and stand in front of the parts of mBART, whose stacks end in
// one more.
TEST(BartGraph, NormsStandWhereTheConfigSays) {
  const auto first_of_layer = [](const std::string& type) {
    const ModelConfig config = parse_model_config(bart(type, 128, 1, 1000), "bart", "config.json");
    const Graph graph = build_graph(config, {1, 8, Phase::kPrefill});
    for (const Op& op : graph.ops()) {
      if (op.name.find("encoder.0.") != std::string::npos) return op.kind;
    }
    return std::string();
  };
  EXPECT_NE(first_of_layer("bart"), "LayerNorm");
  EXPECT_EQ(first_of_layer("mbart"), "LayerNorm");
  EXPECT_EQ(
      bart_parameters(bart("mbart", 128, 1, 1000)) - bart_parameters(bart("bart", 128, 1, 1000)),
      2 * 2 * 128);
}

TEST(BartGraph, WrongConfigsAreRefused) {
  const auto message = [](const std::string& config) {
    try {
      parse_model_config(config, "bart", "config.json");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message(bart("bart", 200, 1, 1000)), HasSubstr("contradiction"));
  EXPECT_THAT(message(bart("bart", 128, 1, 1000, R"("add_final_layer_norm": true, )")),
              HasSubstr("normalize_before"));
  EXPECT_THAT(message(bart("bart", 128, 1, 1000, R"("static_position_embeddings": true, )")),
              HasSubstr("static_position_embeddings"));
}

// Sizes as they are published.
struct WhisperSize {
  std::int64_t width, layers, decoder_layers, heads, mel_bins, vocab;
};

ModelConfig whisper(const WhisperSize& size) {
  const auto text = [](std::int64_t value) { return std::to_string(value); };
  return parse_model_config(
      R"({"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"],)"
      R"( "activation_function": "gelu", "max_source_positions": 1500,)"
      R"( "max_target_positions": 448, "is_encoder_decoder": true, "d_model": )" +
          text(size.width) + R"(, "encoder_layers": )" + text(size.layers) +
          R"(, "decoder_layers": )" + text(size.decoder_layers) +
          R"(, "encoder_attention_heads": )" + text(size.heads) +
          R"(, "decoder_attention_heads": )" + text(size.heads) + R"(, "encoder_ffn_dim": )" +
          text(4 * size.width) + R"(, "decoder_ffn_dim": )" + text(4 * size.width) +
          R"(, "num_mel_bins": )" + text(size.mel_bins) + R"(, "vocab_size": )" + text(size.vocab) +
          "}",
      "whisper", "config.json");
}

const WhisperSize kTinyWhisper{384, 4, 4, 6, 80, 51865};

// For the published checkpoints, the tied table counted once.
TEST(Whisper, ParametersAreThePublishedOnes) {
  const std::vector<std::pair<double, WhisperSize>> sizes = {
      {37760640, kTinyWhisper},
      {72593920, {512, 6, 6, 8, 80, 51865}},
      {241734912, {768, 12, 12, 12, 80, 51865}},
      {763857920, {1024, 24, 24, 16, 80, 51865}},
      {1543490560, {1280, 32, 32, 20, 128, 51866}},
      {756.2e6, {1280, 32, 2, 20, 128, 51866}},  // distil-large-v3
  };
  for (const auto& [published, size] : sizes) {
    EXPECT_NEAR(parameters_of(encoded_parts(whisper(size), {}, 1)) / published, 1, 1e-3)
        << published;
  }
}

TEST(Whisper, EncodesAWholeWindowOfSoundAndWritesFewTokens) {
  const ModelConfig network = whisper(kTinyWhisper);
  EXPECT_EQ(longest_input(network), 1500);
  EXPECT_EQ(encoded_positions(network, 1), 1500) << "what is shorter is padded";
  const EncodedParts parts = encoded_parts(network, {2}, 1);
  EXPECT_EQ(parts.encoder.tensor(parts.encoder.inputs().front()).shape, (Shape{2, 80, 3000, 1}));
  for (const Shape& shape : states(parts.encoder, true)) EXPECT_EQ(shape, (Shape{2, 6, 1500, 64}));
  EXPECT_EQ(states(parts.encoder, true).size(), 2u * 4);
  for (const Op& op : parts.encoder.ops()) EXPECT_NE(op.kind, "CausalMask") << op.name;
  const std::vector<Shape> read = states(parts.decoder, false);
  EXPECT_EQ(std::count(read.begin(), read.end(), Shape({2, 6, 448, 64})), 2 * 4);
  EXPECT_EQ(std::count(read.begin(), read.end(), Shape({2, 6, 1500, 64})), 2 * 4);
}

// Two convolutions over 3,000 frames with three taps, of which the second one skips every other.
TEST(Whisper, ConvolutionsAreThoseOfThePaper) {
  const EncodedParts parts = encoded_parts(whisper(kTinyWhisper), {}, 1);
  double flops = 0;
  for (OpId id = 0; id < static_cast<OpId>(parts.encoder.ops().size()); ++id) {
    if (parts.encoder.op(id).kind == "Conv") flops += parts.encoder.flops(id).value();
  }
  const double products = 2.0 * 3 * 384 * (3000 * 80 + 1500 * 384);
  EXPECT_NEAR(flops, products + 384 * (3000 + 1500), 1);
}

TEST(Whisper, LengthsBeyondItsTablesAreRefused) {
  const auto message = [](const Binding& binding) -> std::string {
    try {
      build_graph(whisper(kTinyWhisper), binding);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message({1, 1501, Phase::kPrefill}), HasSubstr("from 1 to 1500"));
  EXPECT_THAT(message({1, 100, Phase::kPrefill}), HasSubstr("windows of 1500 positions"));
  EXPECT_THAT(message({1, 1, Phase::kDecode, 449, 1500}), HasSubstr("from 1 to 448"));
  EXPECT_EQ(message({1, 1, Phase::kDecode, 448, 1500}), "no error");
}

TEST(Whisper, HeadsThatDoNotDivideTheWidthAreSaidOfTheStackThatHasThem) {
  try {
    whisper({384, 4, 4, 7, 80, 51865});
    FAIL() << "heads of a broken width";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("encoder_attention_heads: contradiction"));
    EXPECT_THAT(error.what(), HasSubstr("decoder_attention_heads: contradiction"));
  }
}

// A stack of T5Gemma as Gemma 2 has them.
std::string gemma_stack(bool large) {
  return large ? R"({"model_type": "t5_gemma_module", "hidden_size": 3584, "intermediate_size":
      14336, "num_hidden_layers": 42, "num_attention_heads": 16, "num_key_value_heads": 8,
      "head_dim": 256, "vocab_size": 256000, "max_position_embeddings": 8192, "sliding_window":
      4096, "hidden_activation": "gelu_pytorch_tanh"})"
               : R"({"model_type": "t5_gemma_module", "hidden_size": 2304, "intermediate_size":
      9216, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
      "head_dim": 256, "vocab_size": 256000, "max_position_embeddings": 8192, "sliding_window":
      4096, "hidden_activation": "gelu_pytorch_tanh"})";
}

ModelConfig t5gemma(bool large_encoder, bool large_decoder) {
  return parse_model_config(
      R"({"model_type": "t5gemma", "architectures": ["T5GemmaForConditionalGeneration"],)"
      R"( "is_encoder_decoder": true, "encoder": )" +
          gemma_stack(large_encoder) + R"(, "decoder": )" + gemma_stack(large_decoder) + "}",
      "t5gemma", "config.json");
}

// Counts of the publisher as they are remembered: two tables of words, one of which is tied to the
// logits.
TEST(T5Gemma, ParametersAreTheRememberedOnes) {
  const auto billions = [](bool encoder, bool decoder) {
    return parameters_of(encoded_parts(t5gemma(encoder, decoder), {}, 16)) / 1e9;
  };
  EXPECT_NEAR(billions(false, false), 5.60, 0.005 * 5.60);
  EXPECT_NEAR(billions(true, false), 12.3, 0.005 * 12.3);
  EXPECT_NEAR(billions(true, true), 20.3, 0.005 * 20.3);
}

TEST(T5Gemma, StacksOfDifferentSizeMeetInTheCrossAttention) {
  const EncodedParts parts = encoded_parts(t5gemma(true, false), {1}, 100);
  for (const Shape& shape : states(parts.encoder, true))
    EXPECT_EQ(shape, (Shape{1, 4, 100, 256})) << "keys of the decoder";
  std::map<std::string, Shape> weights;
  for (const Tensor& tensor : parts.encoder.tensors()) weights[tensor.name] = tensor.shape;
  EXPECT_EQ(weights.at("decoder.0.cross_attention.key.weight"), (Shape{3584, 1024}));
  EXPECT_EQ(weights.at("encoder.0.attention.query.weight"), (Shape{3584, 4096}));
}

// Every other layer of the decoder looks back 4,096 tokens.
TEST(T5Gemma, WindowsAreOnEveryOtherLayerOfTheDecoder) {
  const Graph graph = build_graph(t5gemma(false, false), {1, 1, Phase::kDecode, 8000, 100});
  int windows = 0;
  for (const Op& op : graph.ops()) windows += op.attributes.count("window") > 0 ? 1 : 0;
  EXPECT_EQ(windows, 13);
}

TEST(T5Gemma, RanksShareTheHeadsOfBothStacks) {
  Binding binding{1, 64, Phase::kPrefill};
  binding.tensor_parallel = 4;
  const Graph graph = build_graph(t5gemma(true, false), binding);
  for (const Shape& shape : states(graph, true)) EXPECT_EQ(shape, (Shape{1, 1, 64, 256}));
}

TEST(T5Gemma, AStackThatIsMissingIsNamed) {
  try {
    parse_model_config(R"({"model_type": "t5gemma", "encoder": )" + gemma_stack(false) + "}", "net",
                       "config.json");
    FAIL() << "half a network";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("decoder: must hold the sizes of that stack"));
  }
}

}  // namespace
}  // namespace foretell

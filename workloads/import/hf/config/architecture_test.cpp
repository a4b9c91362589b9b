// Architectures as data: the files that ship, and one of the user's beside a config.json.
#include "workloads/import/hf/config/architecture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

std::string config_of(const std::string& type, const std::string& more = "") {
  return R"({"model_type": ")" + type + R"(", "hidden_size": 64, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
    "intermediate_size": 96)" +
         more + "}";
}

const char* const kExperts = R"(, "num_local_experts": 8, "num_experts_per_tok": 2)";

ModelConfig read_own(const std::string& architecture, const std::string& config) {
  const Node root = parse_document(architecture, "architecture.yaml");
  return parse_model_config(config, "net", "config.json",
                            std::make_shared<const Architecture>(read_architecture(root)));
}

std::string error_of(const std::string& architecture, const std::string& config) {
  try {
    read_own(architecture, config);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string text_of(const Attribute& attribute) {
  std::ostringstream text;
  std::visit(
      [&](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::vector<std::int64_t>>) {
          for (const std::int64_t entry : value) text << entry << ' ';
        } else {
          text << value;
        }
      },
      attribute);
  return text.str();
}

// Every tensor and operator.
std::string text_of(const Graph& graph) {
  std::ostringstream text;
  for (const Tensor& tensor : graph.tensors()) {
    text << tensor.name << ' ' << to_string(tensor.shape) << ' ' << static_cast<int>(tensor.kind)
         << ' ' << static_cast<int>(tensor.dtype) << '\n';
  }
  for (const Op& op : graph.ops()) {
    text << op.name << ' ' << op.kind << ' ' << op.layer;
    for (const TensorId id : op.inputs) text << " <" << id;
    for (const TensorId id : op.outputs) text << " >" << id;
    for (const auto& [key, value] : op.attributes) text << ' ' << key << '=' << text_of(value);
    text << '\n';
  }
  return text.str();
}

// Of every phase.
std::string graphs_of(const ModelConfig& config) {
  std::string text;
  for (const Phase phase : {Phase::kForward, Phase::kPrefill, Phase::kDecode}) {
    Binding binding;
    binding.phase = phase;
    binding.seq_len = phase == Phase::kDecode ? 1 : 32;
    if (phase != Phase::kForward) binding.kv_len = 64;
    text += text_of(build_graph(config, binding));
  }
  return text;
}

std::vector<std::string> weights_of(const ModelConfig& config) {
  Binding binding;
  binding.seq_len = 32;
  const Graph graph = build_graph(config, binding);
  std::vector<std::string> weights;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kWeight)
      weights.push_back(tensor.name + ' ' + to_string(tensor.shape));
  }
  std::sort(weights.begin(), weights.end());
  return weights;
}

TEST(Architecture, EveryFileThatShipsIsRead) {
  const std::vector<std::string> names = described_architectures();
  EXPECT_GT(names.size(), 60);
  for (const std::string& name : names) {
    const Architecture architecture = load_architecture(file_of_architecture(name));
    EXPECT_EQ(architecture.model_type, name);
    EXPECT_NE(architecture.class_prefix, "") << name;
    if (ends_with(name, "_in_parts")) continue;
    const std::string words = architecture.experts.exists ? kExperts : "";
    const ModelConfig config = parse_model_config(
        config_of(name, words + R"(, "num_experts": 8, "n_routed_experts": 8, "moe_num_experts": 8,
                                   "moe_k": 2, "moe_intermediate_size": 32)"),
        "net", "config.json");
    EXPECT_EQ(config.experts > 0, architecture.experts.exists) << name;
    EXPECT_GT(build_graph(config, {}).parameter_count(), 0) << name;
  }
}

// What Llama has, key by key.
const char* const kLlama = R"(
model_type: foo
norm: rms
form: pre_norm
head_norm: none
gated: true
activation: silu
rotated: 1
qkv_bias: false
output_bias: false
feed_forward_bias: false
tied_embeddings: false
fields: {qkv_bias: [attention_bias], output_bias: [attention_bias], feed_forward_bias: [mlp_bias]}
)";

TEST(Architecture, WithAllThatLlamaHasIsLlama) {
  for (const char* more : {"", R"(, "attention_bias": true)", R"(, "mlp_bias": true)",
                           R"(, "tie_word_embeddings": true, "head_dim": 32)"}) {
    const ModelConfig own = read_own(kLlama, config_of("foo", more));
    const ModelConfig least = read_own("model_type: foo\n", config_of("foo", more));
    EXPECT_EQ(graphs_of(own), graphs_of(least)) << "Llama is what files leave out";
    const std::string llama = config_of("llama", more + std::string(R"(, "hidden_act": "silu",
        "max_position_embeddings": 4096)"));
    EXPECT_EQ(weights_of(own), weights_of(parse_model_config(llama, "net", "config.json"))) << more;
    EXPECT_EQ(own.notes, std::vector<std::string>{}) << more;
  }
  // A decoder of the same parts that ships.
  EXPECT_EQ(graphs_of(read_own(kLlama, config_of("foo"))),
            graphs_of(parse_model_config(config_of("internlm2"), "net", "config.json")));
}

TEST(Architecture, WithExpertsIsMixtral) {
  const std::string own = std::string(kLlama) + R"(
windows: {when: below_context}
experts:
  router: softmax
  fields: {count: [num_local_experts], per_token: [num_experts_per_tok], intermediate: [intermediate_size]}
)";
  for (const char* more :
       {"", R"(, "sliding_window": 16)", R"(, "max_position_embeddings": 8192)"}) {
    const std::string words = std::string(kExperts) + more;
    const ModelConfig mixtral =
        parse_model_config(config_of("mixtral", words), "net", "config.json");
    const ModelConfig like = read_own("model_type: foo\nlike: mixtral\n", config_of("foo", words));
    EXPECT_EQ(graphs_of(like), graphs_of(mixtral)) << more;
    EXPECT_EQ(like.max_seq_len, mixtral.max_seq_len) << "defaults are taken over";
    EXPECT_EQ(graphs_of(read_own(own, config_of("foo", words))), graphs_of(mixtral)) << more;
  }
}

TEST(Architecture, TheFileOfTheNetworkCountsFirst) {
  const std::string own =
      "model_type: foo\nsizes: {hidden: 32, vocab: 7, positions: 99}\nactivation: gelu\n"
      "qkv_bias: true\nhead_norm: per_head\nrotated: 0.5\ntied_embeddings: true\n"
      "fields: {head_norm: [norms]}\nwindows: {width: 8}\n";
  const ModelConfig config = read_own(
      own, config_of("foo", R"(, "hidden_act": "relu", "attention_bias": false, "norms": false,
        "partial_rotary_factor": 1.0, "tie_word_embeddings": false, "sliding_window": 16,
        "max_position_embeddings": 512)"));
  EXPECT_EQ(config.hidden, 64);
  EXPECT_EQ(config.vocab, 100);
  EXPECT_EQ(config.max_seq_len, 512);
  EXPECT_FALSE(config.tied_embeddings);
  const LayerPart& layer = config.parts_of_decoder.layers.front();
  EXPECT_EQ(layer.feed_forward.activation, "relu");
  EXPECT_FALSE(layer.mixer.qkv_bias);
  EXPECT_EQ(layer.mixer.head_norm, HeadNorm::kNone);
  EXPECT_EQ(layer.mixer.rotary_dim, 16);
  EXPECT_EQ(layer.mixer.window, 16);
  const ModelConfig silent = read_own(own, config_of("foo"));
  EXPECT_EQ(silent.max_seq_len, 99);
  EXPECT_TRUE(silent.tied_embeddings);
  EXPECT_EQ(silent.parts_of_decoder.layers.front().mixer.rotary_dim, 8);
  EXPECT_EQ(silent.parts_of_decoder.layers.front().mixer.window, 8);
}

TEST(Architecture, NothingLeavesOutWhatTheOtherHas) {
  const ModelConfig config = read_own("model_type: foo\nlike: gemma3\nwindows: ~\nsizes: ~\n",
                                      config_of("foo", R"(, "sliding_window": 16)"));
  EXPECT_EQ(config.max_seq_len, 4096);
  EXPECT_EQ(config.parts_of_decoder.layers.front().mixer.window, 0);
  EXPECT_THAT(join(config.notes, "\n"), HasSubstr("not read")) << "of sliding_window";
  EXPECT_EQ(config.parts_of_decoder.layers.front().form, LayerForm::kSandwich);
  const ModelConfig dense =
      read_own("model_type: foo\nlike: mixtral\nexperts: ~\n", config_of("foo", kExperts));
  EXPECT_EQ(dense.experts, 0);
}

TEST(Architecture, IsThatOfADecoderInsideToo) {
  const std::string outer = R"({"model_type": "foo_vl", "text_config": )" + config_of("foo") + "}";
  const ModelConfig config = read_own(kLlama, outer);
  EXPECT_EQ(config.model_type, "foo_vl");
  EXPECT_EQ(graphs_of(config), graphs_of(read_own(kLlama, config_of("foo"))));
}

TEST(Architecture, WhatIsWrongIsSaidWithItsLine) {
  const auto error = [](const std::string& own) { return error_of(own, config_of("foo")); };
  EXPECT_EQ(error("model_type: foo\nhead_nrom: whole\n"),
            "architecture.yaml:2: head_nrom: no such parameter; nearest is 'head_norm'");
  EXPECT_THAT(error("model_type: foo\nsizes: {hiden: 4}\n"), HasSubstr("nearest is 'hidden'"));
  EXPECT_THAT(error("model_type: foo\nfields:\n  qkv_bais: [x]\n"),
              HasSubstr("architecture.yaml:3: fields.qkv_bais: no such parameter"));
  EXPECT_THAT(error("model_type: foo\nsizes: {hidden: -1}\n"),
              HasSubstr("architecture.yaml:2: sizes.hidden: '-1' is outside whole number 0 .. "));
  EXPECT_THAT(error("model_type: foo\nsizes: {layers: many}\n"),
              HasSubstr("architecture.yaml:2: sizes.layers: "));
  EXPECT_THAT(error("model_type: foo\nsizes: 4\n"), HasSubstr("expected a mapping"));
  EXPECT_THAT(error("model_type: foo\ngated: 3\n"), HasSubstr("is not one of: true, false"));
  EXPECT_THAT(error("model_type: foo\nform: prenorm\n"), HasSubstr("nearest is 'pre_norm'"));
  EXPECT_THAT(error("model_type: foo\nactivation: silo\n"), HasSubstr("nearest is 'silu'"));
  EXPECT_THAT(error("model_type: foo\nrotated: 2\n"), HasSubstr("architecture.yaml:2: rotated: "));
  EXPECT_THAT(error("model_type: foo\nfields: {qkv_bias: {a: b}}\n"), HasSubstr("expected a list"));
  EXPECT_THAT(error("model_type: foo\nexperts: {fields: {count: []}}\n"),
              HasSubstr("experts.fields: count, per_token and intermediate name the fields"));
  EXPECT_THAT(error("model_type: foo\nlike: mixtrl\n"),
              AllOf(HasSubstr("architecture.yaml:2: like: "), HasSubstr("mixtral")));
  EXPECT_THAT(error("like: mixtral\n"), HasSubstr("architecture.yaml:1: model_type: missing"));
  EXPECT_THAT(error("- foo\n"), HasSubstr("architecture.yaml:1: expected a mapping"));
  EXPECT_THAT(error("model_type: [foo\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(error("model_type: foo\nhead_nrom: whole\nsizes: {heads: -3}\n"),
              AllOf(HasSubstr("head_nrom"), HasSubstr("sizes.heads")))
      << "all at once";
}

TEST(Architecture, OfAnotherOrOfAKnownNameIsRefused) {
  EXPECT_EQ(error_of("\nmodel_type: bar\n", config_of("foo")),
            "architecture.yaml:2: model_type: 'bar' is not that of config.json, which has 'foo'; "
            "state the same in both");
  for (const char* known : {"llama", "mixtral"}) {
    EXPECT_EQ(error_of(std::string("model_type: ") + known + "\n", config_of(known)),
              std::string("architecture.yaml:1: model_type: '") + known +
                  "' can be imported without this file, and is: remove the file, or give another "
                  "model_type here and in config.json");
  }
}

TEST(Architecture, SizesThatNobodyStatesAreMissing) {
  const std::string none = R"({"model_type": "foo", "num_hidden_layers": 2, "vocab_size": 8})";
  EXPECT_THAT(error_of("model_type: foo\n", none),
              AllOf(HasSubstr("hidden_size: is missing"), HasSubstr("num_attention_heads"),
                    HasSubstr("intermediate_size: is missing"), Not(HasSubstr("vocab_size"))));
}

class ArchitectureFolder : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
  std::string error() const {
    try {
      WorkloadLibrary().load(folder_.path().string());
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  const TemporaryFolder folder_;
};

TEST_F(ArchitectureFolder, TheFileBesideDescribesTheNetwork) {
  write("config.json", config_of("foo"));
  EXPECT_THAT(error(), AllOf(HasSubstr("architecture 'foo' cannot be imported"),
                             HasSubstr("an architecture.yaml beside it can describe one"),
                             HasSubstr("start from one in that list")));
  write("architecture.yaml", kLlama);
  EXPECT_EQ(WorkloadLibrary().load(folder_.path().string()).model_type, "foo");
  EXPECT_EQ(WorkloadLibrary().load(folder_.file("config.json")).layers, 4);
  write("architecture.yaml", "model_type: foo\nhead_nrom: whole\n");
  EXPECT_THAT(error(), HasSubstr(folder_.file("architecture.yaml") + ":2: head_nrom: "));
}

TEST_F(ArchitectureFolder, NamesOfFilesElsewhereAreNoArchitectures) {
  for (const char* name : {"../architectures/mixtral", "", ".", "mixtral.yaml"})
    EXPECT_EQ(file_of_architecture(name), "") << name;
}

}  // namespace
}  // namespace foretell

#include "workloads/import/hf/encoder/encoder_graph.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph graph_of(const std::string& name, std::int64_t batch = 1, std::int64_t seq_len = 128) {
  return build_graph(WorkloadLibrary().load(name), {batch, seq_len});
}

double encoder_flops(const Graph& graph) {
  double flops = 0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const auto id = static_cast<OpId>(i);
    if (graph.op(id).kind == "MatMul") flops += graph.flops(id).value();
  }
  return flops;
}

std::vector<Shape> output_shapes(const Graph& graph) {
  std::vector<Shape> shapes;
  for (const TensorId id : graph.outputs()) shapes.push_back(graph.tensor(id).shape);
  return shapes;
}

const Op* encoder_op(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.ops().begin(), graph.ops().end(),
                                  [&](const Op& op) { return op.name == name; });
  return found == graph.ops().end() ? nullptr : &*found;
}

std::string nomic_config(const std::string& more = "") {
  return R"({"architectures": ["NomicBertModel"], "model_type": "nomic_bert", "n_embd": 768,
    "n_head": 12, "n_inner": 3072, "n_layer": 12, "n_positions": 8192, "vocab_size": 30528,
    "type_vocab_size": 2, "activation_function": "swiglu", "qkv_proj_bias": false,
    "mlp_fc1_bias": false, "mlp_fc2_bias": false, "rotary_emb_fraction": 1.0, "prenorm": false)" +
         more + "}";
}

// A BERT whose queries and keys are rotated, in place of a table of positions, and whose
// feed-forward network has a gate.
TEST(NomicBert, HasThePublishedParametersAndRotatedHeads) {
  const ModelConfig config = parse_model_config(nomic_config(), "nomic", "config.json");
  const Graph graph = build_graph(config, {1, 16});
  EXPECT_EQ(graph.parameter_count(), 136731648);  // nomic-embed-text-v1.5
  const auto of_kind = [&](const std::string& kind) {
    return std::count_if(graph.ops().begin(), graph.ops().end(),
                         [&](const Op& op) { return op.kind == kind; });
  };
  EXPECT_EQ(of_kind("Rope"), 2 * 12);
  EXPECT_EQ(encoder_op(graph, "embeddings.position"), nullptr);
}

TEST(NomicBert, WhatIsNotDescribedIsRefused) {
  const auto message = [](const std::string& more) {
    try {
      parse_model_config(nomic_config(more), "nomic", "config.json");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message(R"(, "num_experts": 8, "moe_every_n_layers": 2)"),
              AllOf(HasSubstr("moe_top_k"), HasSubstr("activation_function")));
  EXPECT_THAT(message(R"(, "num_experts": 8, "moe_every_n_layers": 2, "moe_top_k": 9)"),
              HasSubstr("more than the experts"));
  EXPECT_THAT(message(R"(, "use_rms_norm": true)"), HasSubstr("use_rms_norm"));
}

struct PublishedEncoder {
  std::string name;
  std::int64_t parameters;  // as the library that published the network counts them
};

class ParameterCount : public ::testing::TestWithParam<PublishedEncoder> {};

TEST_P(ParameterCount, IsThePublishedOne) {
  EXPECT_EQ(graph_of(GetParam().name).parameter_count(), GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(
    Encoders, ParameterCount,
    // Of XLNet's 116,718,336 and 360,268,800 one row stands in for masked words, which no inference
    // has.
    ::testing::Values(
        PublishedEncoder{"xlnet-base-cased", 116718336 - 768},
        PublishedEncoder{"xlnet-large-cased", 360268800 - 1024},
        PublishedEncoder{"bert-base-cased", 108310272},
        PublishedEncoder{"bert-base-uncased", 109482240},
        PublishedEncoder{"bert-base-cased-finetuned-mrpc", 108311810},
        PublishedEncoder{"bert-large-cased", 333579264},
        PublishedEncoder{"bert-large-uncased", 335141888},
        PublishedEncoder{"roberta-base", 124645632}, PublishedEncoder{"roberta-large", 355359744},
        PublishedEncoder{"distilroberta-base", 82118400},
        PublishedEncoder{"camembert-base", 110621952},
        PublishedEncoder{"xlm-roberta-base", 278295186},
        PublishedEncoder{"google/electra-base-discriminator", 108891648},
        PublishedEncoder{"albert-base-v2", 11683584},
        PublishedEncoder{"distilbert-base-cased", 65190912},
        PublishedEncoder{"distilbert-base-uncased", 66362880},
        PublishedEncoder{"distilbert-base-cased-distilled-squad", 65192450},
        PublishedEncoder{"distilbert-base-uncased-finetuned-sst-2-english", 66955010},
        // Without the numbers of positions, which their files hold, too.
        PublishedEncoder{"all-mpnet-base-v2", 109486978 - 514},
        // 86M and 304M, with 98M and 131M of words (the cards of the publisher).
        PublishedEncoder{"deberta-v3-base", 183831552},
        PublishedEncoder{"deberta-v3-large", 434012160}, PublishedEncoder{"gpt2", 124439808},
        PublishedEncoder{"gpt2-medium", 354823168}, PublishedEncoder{"gpt2-large", 774030080}),
    [](const auto& published) {
      std::string name = published.param.name;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == '-' || c == '/'; }, '_');
      return name;
    });

TEST(EncoderGraph, MatmulFlopsFollowTheClosedForm) {
  const double b = 8, s = 128, h = 1024, f = 4096, layers = 24;
  const double per_layer = 2 * b * s * (4 * h * h + 2 * h * f) + 2 * 2 * b * s * s * h;
  const double pooler = 2 * b * h * h;
  const Graph graph = graph_of("bert-large-uncased", 8, 128);
  EXPECT_DOUBLE_EQ(encoder_flops(graph), layers * per_layer + pooler);
  EXPECT_GT(graph.total_flops().value(), encoder_flops(graph));
  EXPECT_LT(graph.total_flops().value(), 1.02 * encoder_flops(graph));
}

TEST(EncoderGraph, FlopsGrowWithTheBatchAndFasterThanTheLength) {
  const double one = graph_of("bert-base-uncased", 1, 128).total_flops().value();
  EXPECT_DOUBLE_EQ(graph_of("bert-base-uncased", 16, 128).total_flops().value(), 16 * one);
  EXPECT_GT(graph_of("bert-base-uncased", 1, 256).total_flops().value(), 2 * one);
}

TEST(EncoderGraph, WeightsDoNotDependOnTheBinding) {
  EXPECT_EQ(graph_of("gpt2", 1, 16).parameter_count(),
            graph_of("gpt2", 32, 1024).parameter_count());
}

TEST(EncoderGraph, EveryBlockIsTheSame) {
  const Graph graph = graph_of("bert-large-uncased");
  std::vector<std::vector<std::string>> kinds(24);
  for (const Op& op : graph.ops()) {
    if (op.layer != kNoId) kinds.at(static_cast<std::size_t>(op.layer)).push_back(op.kind);
  }
  EXPECT_GT(kinds.front().size(), 20u);
  for (const auto& block : kinds) EXPECT_EQ(block, kinds.front());
}

TEST(EncoderGraph, NamesAreUnique) {
  for (const char* name : {"bert-large-uncased", "albert-base-v2", "gpt2", "xlm-roberta-base"}) {
    std::set<std::string> ops, tensors;
    const Graph graph = graph_of(name);
    for (const Op& op : graph.ops()) EXPECT_TRUE(ops.insert(op.name).second) << op.name;
    for (const Tensor& tensor : graph.tensors())
      EXPECT_TRUE(tensors.insert(tensor.name).second) << tensor.name;
  }
}

TEST(EncoderGraph, NothingIsComputedInVain) {
  const WorkloadLibrary library;
  for (const std::string& name : library.names()) {
    const ModelConfig config = library.load(name);
    if (config.family == Family::kEncoderDecoder || config.family == Family::kPipeline) continue;
    // An indexer chooses among more keys than it leaves; before, its keys are for later calls.
    const std::vector<LayerPart>& layers = config.parts_of_decoder.layers;
    const bool chooses = std::any_of(layers.begin(), layers.end(), [](const LayerPart& layer) {
      return layer.mixer.indexer.heads > 0;
    });
    const Graph graph = build_graph(config, {1, chooses ? 4096 : 16});
    for (const Tensor& tensor : graph.tensors()) {
      // Read by calls with images; by layers that rotate.
      if (tensor.name == config.parts_of_decoder.tower.name) continue;
      if (tensor.name == "position_ids" && config.name == "Nemotron-Nano-12B-v2") continue;
      EXPECT_TRUE(!tensor.consumers.empty() || tensor.kind == TensorKind::kOutput)
          << name << ": " << tensor.name;
    }
  }
}

TEST(EncoderGraph, AlbertSharesTheWeightsOfItsLayers) {
  const Graph graph = graph_of("albert-base-v2");
  const Op* first = encoder_op(graph, "encoder.0.ffn.intermediate");
  const Op* last = encoder_op(graph, "encoder.11.ffn.intermediate");
  ASSERT_NE(first, nullptr);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(first->inputs.at(1), last->inputs.at(1));
  EXPECT_EQ(graph.tensor(first->inputs.at(1)).consumers.size(), 12u);
  EXPECT_NE(encoder_op(graph, "embeddings.projection"), nullptr)
      << "tables of 128 columns feed a width of 768";
}

TEST(EncoderGraph, OtherEncodersDoNotShare) {
  const Graph graph = graph_of("bert-base-uncased");
  EXPECT_NE(encoder_op(graph, "encoder.0.ffn.intermediate")->inputs.at(1),
            encoder_op(graph, "encoder.11.ffn.intermediate")->inputs.at(1));
}

TEST(EncoderGraph, HeadsAsTheCheckpointsHaveThem) {
  EXPECT_THAT(output_shapes(graph_of("bert-base-uncased", 2, 64)),
              ElementsAre(Shape{2, 64, 768}, Shape{2, 768}));
  EXPECT_THAT(output_shapes(graph_of("bert-base-cased-finetuned-mrpc", 2, 64)),
              ElementsAre(Shape{2, 2}));
  EXPECT_THAT(output_shapes(graph_of("distilbert-base-cased", 2, 64)),
              ElementsAre(Shape{2, 64, 768}));
  EXPECT_THAT(output_shapes(graph_of("distilbert-base-cased-distilled-squad", 2, 64)),
              ElementsAre(Shape{2, 64, 2}));
  EXPECT_THAT(output_shapes(graph_of("xlm-roberta-base", 2, 64)),
              ElementsAre(Shape{2, 64, 250002}));
}

TEST(EncoderGraph, DistilBertHasNeitherTokenTypesNorPooler) {
  const Graph graph = graph_of("distilbert-base-uncased");
  EXPECT_EQ(encoder_op(graph, "embeddings.add_token_type"), nullptr);
  EXPECT_EQ(encoder_op(graph, "head.dense"), nullptr);
  EXPECT_NE(encoder_op(graph_of("bert-base-uncased"), "embeddings.add_token_type"), nullptr);
}

TEST(EncoderGraph, TheMaskedLmHeadReadsTheWordTable) {
  const Graph graph = graph_of("xlm-roberta-base");
  EXPECT_EQ(encoder_op(graph, "head.decoder")->inputs.at(1),
            encoder_op(graph, "embeddings.word")->inputs.at(0));
}

TEST(EncoderGraph, BindingsOutOfRangeAreTaught) {
  const ModelConfig config = WorkloadLibrary().load("roberta-base");
  const auto message_of = [&](const Binding& binding) -> std::string {
    try {
      build_graph(config, binding);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message_of({0, 128}), HasSubstr("batch is 0; it must be from 1 to"));
  EXPECT_THAT(message_of({-1, 128}), HasSubstr("batch is -1"));
  EXPECT_THAT(message_of({1000000000000, 128}), HasSubstr("batch is 1000000000000"));
  EXPECT_THAT(message_of({1, 0}), HasSubstr("seq is 0"));
  EXPECT_THAT(message_of({1, 513}),
              HasSubstr("seq is 513; it must be from 1 to 512, the longest context of roberta"));
  EXPECT_EQ(message_of({1, 512}), "no error");
}

}  // namespace
}  // namespace foretell

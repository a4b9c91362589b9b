#include "workloads/import/hf/decoder/decoder_graph.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "model/base/errors.hpp"
#include "workloads/ir/general_form.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

ModelConfig load(const std::string& name) { return WorkloadLibrary().load(name); }

Graph prefill(const std::string& name, std::int64_t tokens, std::int64_t kv_len) {
  return build_graph(load(name), {1, tokens, Phase::kPrefill, kv_len});
}

Graph decode(const std::string& name, std::int64_t batch, std::int64_t kv_len) {
  return build_graph(load(name), {batch, 1, Phase::kDecode, kv_len});
}

const Op* find_op(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.ops().begin(), graph.ops().end(),
                                  [&](const Op& op) { return op.name == name; });
  return found == graph.ops().end() ? nullptr : &*found;
}

double matmul_flops(const Graph& graph) {
  double flops = 0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const auto id = static_cast<OpId>(i);
    const std::string& kind = graph.op(id).kind;
    if (kind == "MatMul" || kind == "ExpertMatMul") flops += graph.flops(id).value();
  }
  return flops;
}

// Bytes of all states that the graph reads: inputs of kind state.
double cache_bytes(const Graph& graph) {
  double bytes = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kState && tensor.producer == kNoId)
      bytes += tensor.bytes().value();
  }
  return bytes;
}

struct Published {
  std::string name;
  std::int64_t parameters;
};

class DecoderParameters : public ::testing::TestWithParam<Published> {};

TEST_P(DecoderParameters, AreThePublishedOnes) {
  const Graph graph = build_graph(load(GetParam().name), {1, 16, Phase::kPrefill, 16});
  EXPECT_EQ(graph.parameter_count(), GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(
    Decoders, DecoderParameters,
    ::testing::Values(Published{"Llama-2-7b", 6738415616}, Published{"Llama-2-13b", 13015864320},
                      Published{"CodeLlama-13b-hf", 13016028160},
                      Published{"CodeLlama-34b-Instruct-hf", 33743970304},
                      Published{"Llama-2-70b", 68976648192}, Published{"Llama-3-8B", 8030261248},
                      Published{"Llama-3-70B", 70553706496},
                      Published{"Llama-3.3-70B", 70553706496},
                      Published{"Llama-3.1-405B", 405853388800},
                      Published{"Mistral-7B-Instruct-v0.2", 7241732096},
                      Published{"Mixtral-8x7B-v0.1", 46702792704},
                      Published{"Qwen2.5-7B", 7615616512}, Published{"Qwen3-32B", 32762123264},
                      Published{"opt-13b", 12853473280}, Published{"opt-30b", 29974540288},
                      Published{"gpt-j-6b", 6050882784}, Published{"gpt-neox-20b", 20554567680},
                      Published{"bloom", 176247271424}, Published{"gpt2", 124439808}),
    [](const auto& published) {
      std::string name = published.param.name;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
      return name;
    });

// Sizes of Llama-3-8B, for closed forms.
constexpr double kHidden = 4096, kLayers = 32, kHeads = 32, kKvHeads = 8, kHeadDim = 128;
constexpr double kWide = 14336, kVocab = 128256;
constexpr double kWeightsPerLayer =
    kHidden * kHeadDim * (2 * kHeads + 2 * kKvHeads) + 3 * kHidden * kWide;

TEST(DecoderGraph, PrefillFlopsFollowTheClosedForm) {
  const double s = 256;
  const double attention = 2 * 2 * kHeads * s * s * kHeadDim;
  const double last_token = 2 * kHidden * kVocab;
  EXPECT_DOUBLE_EQ(matmul_flops(prefill("Llama-3-8B", 256, 512)),
                   kLayers * (2 * s * kWeightsPerLayer + attention) + last_token);
}

TEST(DecoderGraph, DecodeFlopsFollowTheClosedForm) {
  const double batch = 4, t = 2048;
  const double attention = 2 * 2 * kHeads * t * kHeadDim;
  EXPECT_DOUBLE_EQ(matmul_flops(decode("Llama-3-8B", 4, 2048)),
                   batch * (kLayers * (2 * kWeightsPerLayer + attention) + 2 * kHidden * kVocab));
}

TEST(DecoderGraph, TheCacheGrowsWithContextAndBatchAndNotWithQueryHeads) {
  const double per_token = 2 * kLayers * kKvHeads * kHeadDim * 4;  // keys and values in FP32
  EXPECT_EQ(cache_bytes(decode("Llama-3-8B", 1, 1024)), 1024 * per_token);
  EXPECT_EQ(cache_bytes(decode("Llama-3-8B", 3, 2048)), 3 * 2048 * per_token);
}

TEST(DecoderGraph, GroupedQueriesShareKeysWithoutCopies) {
  const Graph graph = decode("Llama-3-8B", 2, 1024);
  const Op* scores = find_op(graph, "decoder.0.attention.scores");
  ASSERT_NE(scores, nullptr);
  EXPECT_EQ(graph.tensor(scores->inputs.at(0)).shape, (Shape{2, 8, 4, 1, 128}));
  EXPECT_EQ(graph.tensor(scores->inputs.at(1)).shape, (Shape{2, 8, 1, 1024, 128}));
  EXPECT_EQ(graph.tensor(scores->outputs.at(0)).shape, (Shape{2, 8, 4, 1, 1024}));
  EXPECT_EQ(find_op(decode("Llama-2-7b", 2, 1024), "decoder.0.attention.key.group"), nullptr)
      << "one key head per query head needs no groups";
}

TEST(DecoderGraph, PrefillYieldsTheLastTokenDecodeEveryNewOne) {
  const auto logits = [](const Graph& graph) { return graph.tensor(graph.outputs().at(0)).shape; };
  EXPECT_EQ(logits(prefill("Llama-2-7b", 100, 128)), (Shape{1, 1, 32000}));
  EXPECT_EQ(logits(decode("Llama-2-7b", 5, 128)), (Shape{5, 1, 32000}));
  EXPECT_EQ(logits(build_graph(load("Llama-2-7b"), {2, 100})), (Shape{2, 100, 32000}));
}

TEST(DecoderGraph, GenerationNeedsLogitsEvenOfAPlainModel) {
  EXPECT_EQ(find_op(build_graph(load("gpt2"), {1, 16}), "head.decoder"), nullptr);
  EXPECT_NE(find_op(decode("gpt2", 1, 128), "head.decoder"), nullptr);
}

TEST(DecoderGraph, PrefillAttendsToItsOwnTokensDecodeToTheCache) {
  const Graph whole = prefill("Llama-2-7b", 100, 128);
  EXPECT_EQ(whole.tensor(find_op(whole, "decoder.0.attention.scores")->outputs[0]).shape,
            (Shape{1, 32, 100, 100}));
  EXPECT_EQ(
      std::get<std::int64_t>(find_op(whole, "decoder.0.attention.mask")->attributes.at("offset")),
      0);
  const Graph step = decode("Llama-2-7b", 1, 128);
  EXPECT_EQ(step.tensor(find_op(step, "decoder.0.attention.scores")->outputs[0]).shape,
            (Shape{1, 32, 1, 128}));
  EXPECT_EQ(
      std::get<std::int64_t>(find_op(step, "decoder.0.attention.mask")->attributes.at("offset")),
      127);
}

TEST(DecoderGraph, OnlyTheChosenExpertsCompute) {
  const double attention_weights = kHidden * kHeadDim * (2 * kHeads + 2 * kKvHeads);
  const double one_expert = 3 * kHidden * kWide;
  const double router = kHidden * 8;
  const double scores = 2 * 2 * kHeads * 128 * kHeadDim;
  EXPECT_DOUBLE_EQ(
      matmul_flops(in_general_operators(decode("Mixtral-8x7B-v0.1", 1, 128))),
      kLayers * (2 * (attention_weights + router + 2 * one_expert) + scores) + 2 * kHidden * 32000);
}

// Ranks with sequences of their own send a token with its choices in one message, to ranks that are
// as far apart as a group is wide.
TEST(DecoderGraph, TokensAndTheirChoicesAreExchangedTogether) {
  Binding binding{64, 1, Phase::kDecode, 128};
  binding.tensor_parallel = 2;
  binding.attention_data_parallel = 4;
  binding.expert_parallel = 8;
  const Graph graph = in_general_operators(build_graph(load("Mixtral-8x7B-v0.1"), binding));
  std::vector<const Op*> exchanges;
  for (const Op& op : graph.ops()) {
    if (op.kind == "ExpertExchange" && op.layer == 0) exchanges.push_back(&op);
  }
  ASSERT_EQ(exchanges.size(), 2U);
  const Op& out = *exchanges.front();
  ASSERT_EQ(out.inputs.size(), 3U);
  EXPECT_EQ(graph.tensor(out.inputs[0]).shape, (Shape{16, 1, 4096}));
  EXPECT_EQ(graph.tensor(out.outputs[0]).shape, (Shape{64, 1, 4096}));
  EXPECT_EQ(graph.tensor(out.outputs[1]).shape, (Shape{64, 1, 2}));
  EXPECT_EQ(graph.tensor(exchanges.back()->outputs[0]).shape, (Shape{16, 1, 4096}));
  EXPECT_EQ(std::get<std::int64_t>(out.attributes.at("ranks")), 4);
  EXPECT_EQ(std::get<std::int64_t>(out.attributes.at("stride")), 2);
}

// The rows of a balanced routing divide among the groups, and so do the weights of the experts.
TEST(DecoderGraph, GroupsOfRanksHoldSomeOfTheExperts) {
  const auto rank = [](int groups) {
    Binding binding{64, 1, Phase::kDecode, 128};
    binding.tensor_parallel = 8;
    binding.expert_parallel = groups;
    binding.routing = "balanced";
    return in_general_operators(build_graph(load("Mixtral-8x7B-v0.1"), binding));
  };
  const auto of_experts = [](const Graph& graph) {
    double flops = 0;
    for (std::size_t i = 0; i < graph.ops().size(); ++i) {
      if (graph.op(static_cast<OpId>(i)).kind == "ExpertMatMul")
        flops += graph.flops(static_cast<OpId>(i)).value();
    }
    return flops;
  };
  const Graph together = rank(1);
  EXPECT_EQ(find_op(together, "decoder.0.ffn.experts.output")->attributes.count("apart"), 0U);
  for (const int groups : {2, 4, 8}) {
    const Graph apart = rank(groups);
    EXPECT_DOUBLE_EQ(of_experts(apart), of_experts(together)) << groups;
    const Op* output = find_op(apart, "decoder.0.ffn.experts.output");
    const Shape& weight = apart.tensor(output->inputs[1]).shape;
    EXPECT_EQ(weight, (Shape{8 / groups, 14336 * groups / 8, 4096}));
    EXPECT_EQ(apart.tensor(output->outputs[0]).shape, (Shape{64 * 2 / groups, 1, 4096}));
    const Op* sum = find_op(apart, "decoder.0.ffn.experts.combined");
    EXPECT_EQ(sum->kind, "ExpertSum");
    EXPECT_EQ(apart.tensor(sum->outputs[0]).shape, (Shape{64, 1, 4096}));
  }
}

TEST(DecoderGraph, PositionsAsTheNetworksKnowThem) {
  EXPECT_NE(find_op(decode("opt-13b", 1, 128), "embeddings.position"), nullptr);
  EXPECT_EQ(find_op(decode("Llama-2-7b", 1, 128), "embeddings.position"), nullptr);
  const Graph partly = decode("gpt-neox-20b", 1, 128);
  EXPECT_EQ(std::get<std::int64_t>(
                find_op(partly, "decoder.0.attention.query.rotate")->attributes.at("dim")),
            24);
  const Graph alibi = decode("bloom", 1, 128);
  EXPECT_NE(find_op(alibi, "decoder.0.attention.alibi"), nullptr);
  EXPECT_EQ(alibi.inputs().size(), 1u) << "distances need no position ids";
}

TEST(DecoderGraph, ParallelBlocksReadTheSameInput) {
  const Graph graph = decode("gpt-j-6b", 1, 128);
  EXPECT_EQ(find_op(graph, "decoder.0.ffn.norm"), nullptr);
  EXPECT_EQ(find_op(graph, "decoder.0.ffn.intermediate")->inputs[0],
            find_op(graph, "decoder.0.attention.query")->inputs[0]);
  EXPECT_NE(find_op(decode("gpt-neox-20b", 1, 128), "decoder.0.ffn.norm"), nullptr);
}

TEST(DecoderGraph, Gpt2IsPreNormWithFusedProjectionAndCausalMask) {
  const Graph graph = build_graph(load("gpt2"), {1, 32});
  const Op* qkv = find_op(graph, "decoder.0.attention.qkv");
  ASSERT_NE(qkv, nullptr);
  EXPECT_EQ(graph.tensor(qkv->inputs.at(1)).shape, (Shape{768, 3 * 768}));
  EXPECT_EQ(graph.op(graph.tensor(qkv->inputs.at(0)).producer).kind, "LayerNorm");
  EXPECT_EQ(find_op(graph, "decoder.0.attention.mask")->kind, "CausalMask");
  EXPECT_EQ(std::get<std::string>(
                find_op(graph, "decoder.0.ffn.activation")->attributes.at("approximate")),
            "tanh");
  EXPECT_EQ(graph.op(graph.tensor(graph.outputs().front()).producer).name, "decoder.norm");
}

TEST(DecoderGraph, ContextBucketsArePowersOfTwo) {
  EXPECT_EQ(bucketed_kv_len(1, 4096, 128), 128);
  EXPECT_EQ(bucketed_kv_len(128, 4096, 128), 128);
  EXPECT_EQ(bucketed_kv_len(129, 4096, 128), 256);
  EXPECT_EQ(bucketed_kv_len(2049, 4096, 128), 4096);
  EXPECT_EQ(bucketed_kv_len(2500, 3000, 128), 3000) << "never more than the network can use";
}

TEST(DecoderGraph, BindingsOutOfRangeAreTaught) {
  const ModelConfig config = load("Llama-2-7b");
  const auto message_of = [](const ModelConfig& model, const Binding& binding) -> std::string {
    try {
      build_graph(model, binding);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(
      message_of(config, {1, 1, Phase::kDecode, 4097}),
      HasSubstr("kv_len is 4097; it must be from 1 to 4096, the longest context of Llama-2-7b"));
  EXPECT_EQ(message_of(config, {1, 1, Phase::kDecode, 4096}), "no error");
  EXPECT_THAT(message_of(config, {1, 100, Phase::kPrefill, 99}),
              HasSubstr("must hold the 100 tokens"));
  EXPECT_THAT(message_of(config, {0, 1, Phase::kDecode, 128}), HasSubstr("batch is 0"));
  EXPECT_THAT(message_of(load("bert-base-cased"), {1, 1, Phase::kDecode, 128}),
              HasSubstr("is an encoder and generates no tokens"));
}

Graph stage(const std::string& name, Phase phase, std::int64_t first, std::int64_t last) {
  Binding binding{2, phase == Phase::kDecode ? 1 : 64, phase, 128};
  binding.first_layer = first;
  binding.last_layer = last;
  return build_graph(load(name), binding);
}

class PipelineStages : public ::testing::TestWithParam<Phase> {};

TEST_P(PipelineStages, HaveTheArithmeticAndTheCacheOfTheWholeNetwork) {
  const Phase phase = GetParam();
  const Graph whole = stage("Llama-3-8B", phase, 0, kLastLayer);
  const Graph first = stage("Llama-3-8B", phase, 0, 9);
  const Graph middle = stage("Llama-3-8B", phase, 10, 20);
  const Graph last = stage("Llama-3-8B", phase, 21, 31);
  const auto sum = [&](const auto& value) { return value(first) + value(middle) + value(last); };
  EXPECT_DOUBLE_EQ(sum([](const Graph& g) { return g.total_flops().value(); }),
                   whole.total_flops().value());
  EXPECT_DOUBLE_EQ(sum(cache_bytes), cache_bytes(whole));
  // Llama-3-8B does not share its two tables, so that nothing is there twice.
  EXPECT_EQ(sum([](const Graph& g) { return g.parameter_count(); }), whole.parameter_count());
}

INSTANTIATE_TEST_SUITE_P(Phases, PipelineStages,
                         ::testing::Values(Phase::kPrefill, Phase::kDecode));

TEST(PipelineStage, TakesAndGivesHiddenStates) {
  const Graph middle = stage("Llama-3-8B", Phase::kPrefill, 10, 20);
  ASSERT_EQ(middle.outputs().size(), 1U);
  EXPECT_EQ(middle.tensor(middle.outputs().front()).shape, (Shape{2, 64, 4096}));
  EXPECT_EQ(find_op(middle, "embeddings.word"), nullptr);
  EXPECT_EQ(find_op(middle, "head.decoder"), nullptr);
  EXPECT_NE(find_op(middle, "decoder.10.attention.query"), nullptr);
  EXPECT_EQ(find_op(middle, "decoder.21.attention.query"), nullptr);
  std::vector<std::string> names;
  for (const TensorId id : middle.inputs()) names.push_back(middle.tensor(id).name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("hidden_states", "position_ids"));
}

TEST(PipelineStage, WithTiedTableTheLastOneHasItAgain) {
  const Graph last = stage("gpt2", Phase::kDecode, 6, 11);
  const Graph first = stage("gpt2", Phase::kDecode, 0, 5);
  const std::int64_t table = 50257 * 768;
  EXPECT_EQ(first.parameter_count() + last.parameter_count(),
            stage("gpt2", Phase::kDecode, 0, kLastLayer).parameter_count() + table);
}

void expect_no_stage(const std::string& name, std::int64_t first, std::int64_t last,
                     const std::string& message) {
  try {
    stage(name, Phase::kPrefill, first, last);
    FAIL() << "built";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(PipelineStage, LayersThatTheNetworkDoesNotHaveAreRefused) {
  expect_no_stage("gpt2", 6, 12,
                  "layers 6 to 12 are no pipeline stage of gpt2, whose layers are 0 to 11");
  expect_no_stage("gpt2", 4, 3, "layers 4 to 3 are no pipeline stage");
  expect_no_stage("gpt2", 12, kLastLayer, "layers 12 to 11 are no pipeline stage");
  expect_no_stage("google/flan-t5-xl", 0, 3, "only decoders are cut into pipeline stages");
}

Graph spread_prefill(const std::string& name, std::int64_t tokens, int ranks) {
  Binding binding{1, tokens, Phase::kPrefill, 512};
  binding.tensor_parallel = ranks;
  binding.sequence_parallel = true;
  return build_graph(load(name), binding);
}

TEST(SequenceParallel, NormsAndResidualsHaveTheShareOfACore) {
  const Graph graph = spread_prefill("Llama-3-8B", 200, 8);
  const auto shape = [&](const std::string& op) {
    return graph.tensor(find_op(graph, op)->outputs.front()).shape;
  };
  EXPECT_EQ(shape("decoder.3.attention.norm"), (Shape{1, 25, 4096}));
  EXPECT_EQ(shape("decoder.3.attention.norm.all_gather"), (Shape{1, 200, 4096}));
  EXPECT_EQ(shape("decoder.3.attention.output.reduce_scatter"), (Shape{1, 25, 4096}));
  EXPECT_EQ(shape("decoder.3.ffn.residual"), (Shape{1, 25, 4096}));
  EXPECT_EQ(graph.tensor(graph.outputs().front()).shape[1], 1);  // logits of one token
}

TEST(SequenceParallel, SharesThatDoNotDivideArePadded) {
  const Graph graph = spread_prefill("opt-13b", 100, 8);  // 8 x 13 = 104
  const Op* sum = find_op(graph, "decoder.0.ffn.output.reduce_scatter");
  EXPECT_EQ(graph.tensor(sum->inputs.front()).shape[1], 100);
  EXPECT_EQ(graph.tensor(sum->outputs.front()).shape[1], 13);
}

TEST(SequenceParallel, OneCoreHasNothingToSpread) {
  const Graph graph = spread_prefill("Llama-3-8B", 200, 1);
  EXPECT_EQ(graph.ops().size(), prefill("Llama-3-8B", 200, 512).ops().size());
}

TEST(SequenceParallel, IsForThePrefillOfDecoders) {
  Binding binding{1, 1, Phase::kDecode, 128};
  binding.tensor_parallel = 8;
  binding.sequence_parallel = true;
  EXPECT_THROW(build_graph(load("Llama-3-8B"), binding), UserError);
}

}  // namespace
}  // namespace foretell

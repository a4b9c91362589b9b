// Every network that ships with the project has a mapping, in every phase that it has.
#include "model/mapping/neuron/map_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/program/program_builder.hpp"
#include "model/testing/neuron_exemplar.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/general_form.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kLayers = 2;

SchedulingParameters scheduling() {
  SchedulingParameters parameters;
  parameters.prefetch_window = Bytes(4e6);
  return parameters;
}

// The first layers of a network.
ModelConfig few_layers(const std::string& name) {
  ModelConfig config = WorkloadLibrary().load(name);
  config.layers = std::min(config.layers, kLayers);
  config.decoder_layers = std::min(config.decoder_layers, kLayers);
  DenoiserConfig& denoiser = config.denoiser;
  denoiser.joint_blocks = std::min(denoiser.joint_blocks, kLayers);
  denoiser.single_blocks = std::min(denoiser.single_blocks, kLayers);
  // A video has tens of thousands of tokens; a few frames of it have them all the same.
  config.vision.frames = std::min<std::int64_t>(config.vision.frames, 5);
  return config;
}

Program map(const ModelConfig& config, const Binding& binding, const std::string& types = "bf16") {
  const PrecisionPolicy precision = find_precision(types);
  Graph graph = build_graph(config, binding);
  if (!config.parts_of_decoder.empty() || config.experts_every > 0)
    graph = in_general_operators(graph);
  apply_precision(precision, &graph);
  return map_to_neuron_core(graph, precision, core_shape(exemplar_inf2().device.core),
                            scheduling());
}

Binding binding_of(Phase phase, std::int64_t batch, std::int64_t length, int ranks) {
  Binding binding;
  binding.batch = batch;
  binding.seq_len = phase == Phase::kDecode ? 1 : length;
  binding.phase = phase;
  binding.kv_len = phase == Phase::kForward ? 0 : length;
  binding.encoder_len = length;
  binding.tensor_parallel = ranks;
  return binding;
}

std::vector<Binding> bindings_of(const ModelConfig& config) {
  std::vector<Binding> bindings;
  if (config.family != Family::kEncoderDecoder)
    bindings.push_back(binding_of(Phase::kForward, 1, 64, 1));
  if (runs_forward(config.family)) return bindings;
  const bool encodes = config.family == Family::kEncoderDecoder;
  const std::int64_t most =
      encodes ? std::gcd<std::int64_t>(8, config.heads) : std::min<std::int64_t>(8, config.heads);
  const auto positions = [&](std::int64_t length) {
    return encodes ? encoded_positions(config, length) : length;
  };
  for (const int ranks : {1, static_cast<int>(most)}) {
    for (const std::int64_t batch : {1, 96}) {
      bindings.push_back(binding_of(Phase::kDecode, batch, 64, ranks));
      if (encodes) bindings.back().encoder_len = positions(64);
    }
    bindings.push_back(binding_of(Phase::kPrefill, 1, positions(64), ranks));
    bindings.push_back(binding_of(Phase::kPrefill, 2, positions(200), ranks));
    bindings.back().sequence_parallel = ranks > 1 && config.family == Family::kDecoder;
  }
  return bindings;
}

void expect_valid(const Program& program) {
  EXPECT_GT(program.entry_count(), 0U);
  ProgramLimits limits;
  limits.hbm_bytes = std::uint64_t{32} << 30U;
  EXPECT_NO_THROW(validate(program, limits)) << program.name;
}

TEST(NeuronMapping, AttentionOfAWholeVideoIsRefusedWithWhatWouldDo) {
  ModelConfig config = few_layers("hunyuan-video-transformer");
  config.vision.frames = 129;
  try {
    map(config, binding_of(Phase::kForward, 1, 0, 1));
    FAIL() << "tens of millions of instructions were written";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("lower --image-size, --frames or --batch"));
  }
}

class ShippedWorkload : public testing::TestWithParam<std::string> {};

TEST_P(ShippedWorkload, MapsInEveryPhase) {
  const ModelConfig config = few_layers(GetParam());
  if (config.family == Family::kPipeline) return;  // its networks are among the others
  for (const Binding& binding : bindings_of(config)) {
    SCOPED_TRACE("phase " + std::to_string(static_cast<int>(binding.phase)) + ", batch " +
                 std::to_string(binding.batch) + ", ranks " +
                 std::to_string(binding.tensor_parallel));
    expect_valid(map(config, binding));
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// With sanitizers one network of each kind: the others run the same code, a minute longer.
std::vector<std::string> shipped_workloads() {
  const WorkloadLibrary library;
#ifdef __SANITIZE_ADDRESS__
  std::map<std::string, std::string> of_kind;
  for (const std::string& name : library.names())
    of_kind.emplace(library.load(name).model_type, name);
  std::vector<std::string> names;
  for (const auto& [kind, name] : of_kind) names.push_back(name);
  return names;
#else
  return library.names();
#endif
}

INSTANTIATE_TEST_SUITE_P(All, ShippedWorkload, testing::ValuesIn(shipped_workloads()), test_name);

std::uint64_t weight_bytes(const Program& program) {
  std::uint64_t bytes = 0;
  for (const Transfer& t : program.ring(static_cast<std::size_t>(Ring::kWeights)))
    bytes += t.bytes();
  return bytes;
}

TEST(Mixture, ReadsTheWeightsOfActiveExpertsOnly) {
  const ModelConfig config = few_layers("Mixtral-8x7B-v0.1");
  ASSERT_EQ(config.experts, 8);
  ASSERT_EQ(config.experts_per_token, 2);
  const double expert = 3.0 * static_cast<double>(config.hidden * config.intermediate) * 2;
  const auto loaded = [&](std::int64_t batch, const std::string& routing) {
    Binding binding = binding_of(Phase::kDecode, batch, 128, 1);
    binding.routing = routing;
    return static_cast<double>(weight_bytes(map(config, binding)));
  };
  // Two layers; the cache that further sequences read is small against an expert.
  const double two = loaded(1, "balanced");
  const auto more = [&](std::int64_t batch, const std::string& routing) {
    return (loaded(batch, routing) - two) / (kLayers * expert);
  };
  EXPECT_NEAR(more(2, "balanced"), 2, 0.05);  // four of eight
  EXPECT_NEAR(more(4, "balanced"), 6, 0.05);  // all eight
  EXPECT_NEAR(more(5, "balanced"), 6, 0.05);
  // By chance some get two tokens: 8 (1 - (6 / 8)^tokens) have any.
  for (const std::int64_t tokens : {1, 2, 4, 8, 32})
    EXPECT_NEAR(2 + more(tokens, "random"), 8 * (1 - std::pow(0.75, tokens)), 0.55) << tokens;
}

// What a further sequence reads of keys and values, by 16 query heads and two heads of keys.
TEST(CachedAttention, HeadsThatShareKeysReadThemOnceWhereTheKernelsDo) {
  const ModelConfig config = few_layers("Llama-2-70b");
  CoreShape core = core_shape(exemplar_inf2().device.core);
  const PrecisionPolicy precision = find_precision("bf16");
  const auto loaded = [&](std::int64_t batch) {
    Graph graph = build_graph(config, binding_of(Phase::kDecode, batch, 1024, 4));
    apply_precision(precision, &graph);
    return static_cast<double>(
        weight_bytes(map_to_neuron_core(graph, precision, core, scheduling())));
  };
  const double one_head = 2.0 * 1024 * 128 * 2;  // keys and values of 2 bytes
  core.scheduling.heads_share_cache = 0;
  EXPECT_DOUBLE_EQ(loaded(5) - loaded(4), kLayers * 16 * one_head);
  core.scheduling.heads_share_cache = 1;
  EXPECT_DOUBLE_EQ(loaded(5) - loaded(4), kLayers * 2 * one_head);
}

// Of two layers, attention of the second in 16 bits: two bytes a number, and nothing to convert.
TEST(StoredWeights, AreReadInTheTypeOfEach) {
  const auto mapped = [](const std::string& left_out) {
    const ModelConfig config = parse_model_config(
        R"({"model_type": "llama", "hidden_size": 512, "hidden_act": "silu", "num_hidden_layers": 2,
          "intermediate_size": 1024, "num_attention_heads": 4, "vocab_size": 1024,
          "max_position_embeddings": 1024, "tie_word_embeddings": false, "quantization_config":
          {"quant_method": "eetq", "weights": "int8", "modules_to_not_convert": [)" +
            left_out + "]}}",
        "net", "config.json");
    return map(config, binding_of(Phase::kDecode, 1, 128, 1), "int8-weights");
  };
  const auto converted = [](const Program& program) {
    std::int64_t columns = 0;
    for (const Instruction& i : program.engine(Engine::kVector))
      columns += i.opcode == Opcode::kTensorCopy ? i.n : 0;
    return columns;
  };
  const Program all = mapped(R"("lm_head")");
  const Program some = mapped(R"("lm_head", "model.layers.1.self_attn")");
  const double attention = 4.0 * 512 * 512;  // numbers
  EXPECT_NEAR(static_cast<double>(weight_bytes(some)) - static_cast<double>(weight_bytes(all)),
              attention, 1e-3 * attention);
  EXPECT_EQ(converted(all) - converted(some), static_cast<std::int64_t>(attention / 128 / 2));
}

std::uint64_t multiplied_columns(const Program& program) {
  std::uint64_t columns = 0;
  for (const Instruction& i : program.engine(Engine::kTensor)) {
    if (i.opcode == Opcode::kMultiplyMoving) columns += std::uint64_t{i.n} * i.partitions * i.aux;
  }
  return columns;
}

TEST(Mixture, MultipliesEveryRowByItsExpertsOnly) {
  const ModelConfig config = few_layers("Mixtral-8x7B-v0.1");
  Binding binding = binding_of(Phase::kPrefill, 1, 1024, 8);
  const Graph graph = build_graph(config, binding);
  const auto multiplied = static_cast<double>(multiplied_columns(map(config, binding)));
  // Padding of tiles and sums over partitions are extra.
  EXPECT_GT(2 * multiplied, graph.total_flops().value() * 0.97);
  EXPECT_LT(2 * multiplied, graph.total_flops().value() * 1.15);
}

std::uint64_t moved_bytes(const Program& program) {
  std::uint64_t bytes = 0;
  for (const Transfer& t : program.ring(static_cast<std::size_t>(Ring::kReload)))
    bytes += t.bytes();
  return bytes;
}

// JetMoe: queries and results of attention go through two of eight matrices each, and the rows of
// both are moved between the order of the tokens and that of the matrices.
TEST(Mixture, ProjectionsAreRoutedLikeFeedForwardNetworks) {
  ModelConfig config = parse_model_config(
      R"({"model_type": "jetmoe", "hidden_size": 2048, "num_hidden_layers": 2,
        "num_key_value_heads": 16, "kv_channels": 128, "intermediate_size": 5632,
        "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000,
        "activation_function": "silu", "max_position_embeddings": 4096})",
      "jetmoe", "config.json");
  for (const Binding& binding : bindings_of(config)) expect_valid(map(config, binding));
  const auto decode = [&](std::int64_t batch) {
    Binding binding = binding_of(Phase::kDecode, batch, 128, 1);
    binding.routing = "balanced";
    return map(config, binding);
  };
  const double expert = 2.0 * (3.0 * 2048 * 5632 + 2.0 * 2048 * 2048);  // bytes of one of each
  const double more =
      static_cast<double>(weight_bytes(decode(2))) - static_cast<double>(weight_bytes(decode(1)));
  EXPECT_NEAR(more / (kLayers * expert), 2, 0.05);
  const Binding binding = binding_of(Phase::kPrefill, 1, 256, 1);
  const Program prompt = map(config, binding);
  const double flops = build_graph(config, binding).total_flops().value();
  EXPECT_GT(2 * static_cast<double>(multiplied_columns(prompt)), 0.97 * flops);
  EXPECT_LT(2 * static_cast<double>(multiplied_columns(prompt)), 1.15 * flops);
  EXPECT_EQ(moved_bytes(prompt), kLayers * 2 * 256 * 2 * 2048 * 2);
}

// nomic-embed v2: one of its two layers has experts, and all of them have tokens.
TEST(Mixture, EncodersReadTheirExperts) {
  const auto mapped = [](const std::string& experts) {
    const ModelConfig config = parse_model_config(
        R"({"model_type": "nomic_bert", "activation_function": "gelu", "n_embd": 768, "n_head": 12,
          "n_inner": 3072, "n_layer": 2, "n_positions": 2048, "vocab_size": 1000)" +
            experts + "}",
        "nomic", "config.json");
    const Program program = map(config, binding_of(Phase::kForward, 1, 512, 1));
    expect_valid(program);
    return program;
  };
  const Program dense = mapped("");
  const Program two = mapped(R"(, "num_experts": 8, "moe_top_k": 2, "moe_every_n_layers": 2)");
  const double network = 2.0 * 768 * 3072;
  EXPECT_NEAR(static_cast<double>(weight_bytes(two)) - static_cast<double>(weight_bytes(dense)),
              7 * 2 * network, 0.01 * 7 * 2 * network);
  const auto macs = [](const Program& program) {
    return static_cast<double>(multiplied_columns(program));
  };
  EXPECT_NEAR(macs(two) - macs(dense), 512 * network, 0.15 * 512 * network);
}

struct Exchanged {
  std::uint64_t count = 0;
  double bytes_per_rank = 0;  // sent by each of the ranks around a ring
};

Exchanged exchanged(const Program& program, CollectiveKind kind, double ranks) {
  Exchanged result;
  for (const Collective& c : program.collectives()) {
    if (c.kind != kind) continue;
    ++result.count;
    const double passes = kind == CollectiveKind::kAllReduce ? 2 : 1;
    result.bytes_per_rank += passes * static_cast<double>(c.bytes) * (ranks - 1) / ranks;
  }
  return result;
}

TEST(SequenceParallel, MovesWhatTheSumsMovedInTwoHalves) {
  const ModelConfig config = few_layers("Llama-2-7b");
  Binding binding = binding_of(Phase::kPrefill, 1, 1024, 8);
  const Exchanged sums = exchanged(map(config, binding), CollectiveKind::kAllReduce, 8);
  binding.sequence_parallel = true;
  const Program spread = map(config, binding);
  expect_valid(spread);
  EXPECT_EQ(exchanged(spread, CollectiveKind::kAllReduce, 8).count, 0U);
  const Exchanged scattered = exchanged(spread, CollectiveKind::kReduceScatter, 8);
  const Exchanged gathered = exchanged(spread, CollectiveKind::kAllGather, 8);
  EXPECT_EQ(scattered.count, sums.count);
  EXPECT_EQ(gathered.count, sums.count);  // not of the embeddings, but of the last token
  const auto token = static_cast<double>(config.hidden * 2);
  EXPECT_DOUBLE_EQ(
      scattered.bytes_per_rank + gathered.bytes_per_rank + 1024 * token * 7 / 8 - 7 * token,
      sums.bytes_per_rank);
}

TEST(SequenceParallel, NormalisesTheShareOfACore) {
  const ModelConfig config = few_layers("Llama-2-7b");
  const auto squares = [&](bool spread) {
    Binding binding = binding_of(Phase::kPrefill, 1, 2048, 8);
    binding.sequence_parallel = spread;
    std::uint64_t columns = 0;
    const Program program = map(config, binding);
    for (const Instruction& i : program.engine(Engine::kScalar)) {
      if (i.opcode == Opcode::kActivateReduce) columns += i.n;
    }
    return columns;
  };
  EXPECT_EQ(squares(false), 8 * squares(true));
}

}  // namespace
}  // namespace foretell

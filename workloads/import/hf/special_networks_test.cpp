// Networks with parts that few others have: layers that images alone reach, predicted copies of the
// stream, experts that do nothing, blocks that layers share, scores from places.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "workloads/import/hf/config/network_facts.hpp"
#include "workloads/import/hf/config/stored_formats.hpp"
#include "workloads/import/hf/testing/flops_of_phases.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

ModelConfig special_network(const std::string& text) {
  return parse_model_config(text, "net", "config.json");
}

std::string special_error(const std::string& text) {
  try {
    special_network(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

NetworkFacts special_facts(const std::string& text) {
  return facts_of(special_network(text), find_precision("bf16"));
}

// Multiply-accumulates of its products.
double products_of(const Graph& graph) {
  double flops = 0;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    if (graph.op(id).kind == "MatMul") flops += graph.flops(id).value();
  }
  return flops / 2;
}

// `text` with the value of `key` replaced.
std::string having(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const std::string kMllama = R"({"model_type": "mllama", "text_config": {"model_type":
  "mllama_text_model", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
  "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
  "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38], "max_position_embeddings": 131072},
  "vision_config": {"model_type": "mllama_vision_model", "hidden_size": 1280,
  "num_hidden_layers": 32, "num_global_layers": 8, "attention_heads": 16, "intermediate_size":
  5120, "image_size": 560, "patch_size": 14, "max_num_tiles": 4, "vision_output_dim": 7680}})";

const std::string kGemma3n = R"({"model_type": "gemma3n", "text_config": {"model_type":
  "gemma3n_text", "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 35,
  "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 262400,
  "vocab_size_per_layer_input": 262144, "hidden_size_per_layer_input": 256, "laurel_rank": 64,
  "altup_num_inputs": 4, "num_kv_shared_layers": 15, "sliding_window": 512,
  "activation_sparsity_pattern": 0.95, "max_position_embeddings": 32768}})";

const std::string kLongcat = R"({"model_type": "longcat_flash", "vocab_size": 131072,
  "hidden_size": 6144, "ffn_hidden_size": 12288, "expert_ffn_hidden_size": 2048, "num_layers": 28,
  "num_attention_heads": 64, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "qk_nope_head_dim": 128, "n_routed_experts": 512, "moe_topk": 12,
  "zero_expert_num": 256, "zero_expert_type": "identity", "max_position_embeddings": 131072})";

const std::string kZamba = R"({"model_type": "zamba2", "hidden_size": 2560, "num_hidden_layers": 54,
  "num_attention_heads": 32, "attention_head_dim": 160, "attention_hidden_size": 5120,
  "intermediate_size": 10240, "vocab_size": 32000, "max_position_embeddings": 4096,
  "num_mem_blocks": 2, "hybrid_layer_ids": [6, 12, 18, 24, 30, 36, 42, 47, 51], "mamba_d_state":
  64, "mamba_expand": 2, "mamba_ngroups": 1, "mamba_headdim": 64, "n_mamba_heads": 80,
  "use_shared_attention_adapter": false, "adapter_rank": 128})";

const std::string kOpt = R"({"model_type": "opt", "activation_function": "relu",
  "do_layer_norm_before": false, "ffn_dim": 4096, "hidden_size": 1024, "max_position_embeddings":
  2048, "num_attention_heads": 16, "num_hidden_layers": 24, "vocab_size": 50272,
  "word_embed_proj_dim": 512})";

// What model cards state: of mllama and OPT the files' counts, of Gemma 3n that of the text alone.
TEST(SpecialNetworks, HaveTheirParameters) {
  EXPECT_NEAR(special_facts(kMllama).parameters, 10670220835, 1e3);
  EXPECT_NEAR(special_facts(kGemma3n).parameters, 6.87e9, 0.005 * 6.87e9);
  EXPECT_NEAR(special_facts(kLongcat).parameters, 560e9, 0.005 * 560e9);
  EXPECT_NEAR(special_facts(kZamba).parameters, 2.66e9, 0.005 * 2.66e9);
  EXPECT_DOUBLE_EQ(special_facts(kOpt).parameters, 331196416);
}

TEST(SpecialNetworks, OfTwoStacksHaveTheirParameters) {
  const std::string stacks = R"("activation_function": "relu", "encoder_attention_heads": 16,
    "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096, "d_model":
    1024, "max_position_embeddings": 1024, )";
  const auto count = [](const std::string& text) {
    return parameters_of(encoded_parts(special_network(text), {}, 16));
  };
  EXPECT_NEAR(count(R"({"model_type": "pegasus", "encoder_layers": 16, "decoder_layers": 16, )" +
                    stacks + R"("vocab_size": 96103})"),
              570797056, 1e5);
  // NLLB-200 distilled, 600M: 615 million, sines not counted.
  EXPECT_NEAR(count(R"({"model_type": "m2m_100", "encoder_layers": 12, "decoder_layers": 12, )" +
                    stacks + R"("vocab_size": 256206})"),
              615.1e6, 0.005 * 615.1e6);
}

TEST(SpecialNetworks, RunInEveryPhaseAndOnRanks) {
  for (const std::string& text : {kMllama, kGemma3n, kLongcat, kZamba, kOpt}) {
    const ModelConfig config = special_network(text);
    const FlopsOfPhases flops = flops_of_phases(config);
    EXPECT_LT(flops.token * 50, flops.prompt) << config.model_type;
  }
}

// 32 of 40 layers have keys and values of the text; the others cost memory and no work.
TEST(SpecialNetworks, LayersThatReadImagesAreSkippedByText) {
  const NetworkFacts facts = special_facts(kMllama);
  EXPECT_DOUBLE_EQ(facts.kv_bytes_per_token, 32 * 2 * 8 * 128 * 2);
  const double layer = 2.0 * 4096 * (4096 + 1024) + 3.0 * 4096 * 14336;
  EXPECT_NEAR(facts.active, 32 * layer + 4096.0 * 128256, 1e6);
}

// 20 layers have caches, 4 of which see everything.
TEST(SpecialNetworks, LastLayersOfGemma3nReadEarlierCaches) {
  const NetworkFacts facts = special_facts(kGemma3n);
  EXPECT_DOUBLE_EQ(facts.kv_bytes_per_token, 4 * 2 * 2 * 256 * 2);
  EXPECT_DOUBLE_EQ(facts.window_bytes, 16 * 512 * 2 * 2 * 256 * 2);
}

// "27B on average" (LongCat-Flash technical report, arXiv 2509.01322); two latents in a layer.
TEST(SpecialNetworks, IdleExpertsLeaveWorkOut) {
  const NetworkFacts facts = special_facts(kLongcat);
  EXPECT_NEAR(facts.active, 27e9, 0.02 * 27e9);
  EXPECT_DOUBLE_EQ(facts.kv_bytes_per_token, 2 * 28 * (512 + 64) * 2);
  const NetworkFacts without =
      special_facts(having(kLongcat, R"("zero_expert_num": 256)", R"("zero_expert_num": 0)"));
  EXPECT_GT(without.active, 31e9);
}

// Nine layers have keys and values; blocks are two sets of weights.
TEST(SpecialNetworks, SharedBlocksHaveOneSetOfWeightsAndCachesOfTheirOwn) {
  const NetworkFacts two = special_facts(kZamba);
  EXPECT_DOUBLE_EQ(two.kv_bytes_per_token, 9 * 2 * 32 * 160 * 2);
  const double attention = 3.0 * 5120 * 5120 + 5120.0 * 2560;
  const double block = attention + 3.0 * 2560 * 10240 + 5120 + 2560;
  const NetworkFacts one =
      special_facts(having(kZamba, R"("num_mem_blocks": 2)", R"("num_mem_blocks": 1)"));
  EXPECT_DOUBLE_EQ(two.parameters - one.parameters, block);
  EXPECT_DOUBLE_EQ(two.flops_per_token, one.flops_per_token);
}

TEST(SpecialNetworks, ContradictionsAreNamed) {
  EXPECT_THAT(special_error(having(kMllama, "33, 38]", "33, 40]")),
              HasSubstr("names layer 40, but num_hidden_layers is 40"));
  EXPECT_THAT(special_error(having(kMllama, "33, 38]", "33, 33]")), HasSubstr("33 twice"));
  EXPECT_THAT(special_error(having(kMllama, R"("cross_attention_layers")", R"("other")")),
              HasSubstr("must list the layers that read images"));
  EXPECT_THAT(special_error(having(kGemma3n, R"("intermediate_size": 16384)",
                                   R"("intermediate_size": [16384, 8192])")),
              HasSubstr("names 2 layers, but num_hidden_layers is 35"));
  EXPECT_THAT(special_error(having(kGemma3n, R"("num_kv_shared_layers": 15)",
                                   R"("num_kv_shared_layers": 35)")),
              HasSubstr("all layers read earlier ones"));
  EXPECT_THAT(special_error(having(kLongcat, R"("moe_topk": 12)", R"("moe_topk": 600)")),
              HasSubstr("is more than the 512 experts"));
  EXPECT_THAT(special_error(having(kLongcat, R"("identity")", R"("copy")")),
              HasSubstr("unknown kind of expert 'copy'"));
  EXPECT_THAT(special_error(having(kZamba, "47, 51]", "47, 54]")),
              HasSubstr("names layer 54, but num_hidden_layers is 54"));
  EXPECT_THAT(special_error(having(kZamba, R"("n_mamba_heads": 80)", R"("n_mamba_heads": 77)")),
              HasSubstr("77 heads of 64 do not make 2 times the hidden size"));
  EXPECT_THAT(special_error(R"({"model_type": "qwen2_5_omni", "thinker_config": "x"})"),
              HasSubstr("thinker_config"));
}

// All formats of INT4, INT8 and FP8 that libraries write, and codebooks, which none of ours reads.
TEST(SpecialNetworks, FormatsOfLibrariesAreRead) {
  const auto dtype = [](const std::string& format) {
    return special_network(
               having(kOpt, R"("activation_function")",
                      R"("quantization_config": )" + format + R"(, "activation_function")"))
        .checkpoint.dtype;
  };
  EXPECT_EQ(dtype(R"({"quant_method": "hqq", "quant_config": {"weight_quant_params":
    {"nbits": 8}}})"),
            "int8-weights");
  EXPECT_EQ(dtype(R"({"quant_method": "torchao", "quant_type": "int4_weight_only"})"),
            "int4-weights");
  EXPECT_EQ(dtype(R"({"quant_method": "torchao", "quant_type": {"default": {"_type":
    "Float8DynamicActivationFloat8WeightConfig"}}})"),
            "fp8");
  EXPECT_EQ(dtype(R"({"quant_method": "eetq", "weights": "int8"})"), "int8-weights");
  EXPECT_EQ(dtype(R"({"quant_method": "quanto", "weights": "float8"})"), "fp8-weights");
  EXPECT_THAT(special_error(having(kOpt, R"("activation_function")",
                                   R"("quantization_config": {"quant_method": "aqlm"},
    "activation_function")")),
              HasSubstr("missing is sums of entries of codebooks"));
}

// Scores gain two products with the 512 places of the table.
TEST(SpecialNetworks, PlacesArePartOfTheScoresOfDeberta) {
  const WorkloadLibrary library;
  ModelConfig config = library.load("deberta-v3-base");
  const Binding binding{2, 64};
  const double with_places = products_of(build_graph(config, binding));
  config.disentangled = {};
  const double without = products_of(build_graph(config, binding));
  const double projections = 12 * 2 * 512.0 * 768 * 768;
  EXPECT_NEAR(with_places - without, projections + 12 * 2 * 2 * 64.0 * 512 * 768, 1);
  const std::string unknown = R"({"model_type": "deberta-v2", "hidden_act": "gelu", "hidden_size":
    64, "intermediate_size": 128, "max_position_embeddings": 512, "num_attention_heads": 4,
    "num_hidden_layers": 1, "vocab_size": 100, "relative_attention": true, "pos_att_type": "p2p"})";
  EXPECT_THAT(special_error(unknown), HasSubstr("unknown kind of position in scores 'p2p'"));
}

const std::string kArctic = R"({"model_type": "arctic", "hidden_size": 7168, "intermediate_size":
  4864, "num_hidden_layers": 35, "num_attention_heads": 56, "num_key_value_heads": 8,
  "num_local_experts": 128, "num_experts_per_tok": 2, "moe_layer_frequency": 1, "use_residual":
  true, "vocab_size": 32000, "max_position_embeddings": 4096})";

const std::string kGriffin = R"({"model_type": "recurrent_gemma", "hidden_size": 2560,
  "intermediate_size": 15360, "num_hidden_layers": 26, "num_attention_heads": 10,
  "num_key_value_heads": 1, "head_dim": 256, "lru_width": 2560, "attention_window_size": 2048,
  "vocab_size": 256000, "max_position_embeddings": 8192})";

// A dense network of 7168 columns beside two experts: 17 of 480 billion are at work.
TEST(SpecialNetworks, ExpertsOfArcticStandBesideADenseNetwork) {
  const NetworkFacts facts = special_facts(kArctic);
  EXPECT_NEAR(facts.active / 1e9, 17, 0.3);
  const NetworkFacts without =
      special_facts(having(kArctic, "\"use_residual\":\n  true", "\"use_residual\":\n  false"));
  EXPECT_NEAR(facts.active - without.active, 35 * (3.0 * 7168 * 7168 + 7168), 1);
  // Both results are summed over the ranks at once.
  Binding binding;
  binding.seq_len = 16;
  binding.tensor_parallel = 8;
  const Graph graph = build_graph(special_network(kArctic), binding);
  std::int64_t sums = 0;
  for (const Op& op : graph.ops()) sums += op.kind == "AllReduce" ? 1 : 0;
  EXPECT_EQ(sums, 1 + 2 * 35);
}

// One head of 256 columns in 8 of 26 layers, of a window; the others have a number per channel and
// the last three inputs of a convolution.
TEST(SpecialNetworks, ChannelsOfRecurrentGemmaKeepOneNumber) {
  const NetworkFacts facts = special_facts(kGriffin);
  EXPECT_EQ(facts.kv_bytes_per_token, 0);
  EXPECT_EQ(facts.window_bytes, 8 * 2 * 256 * 2 * 2048);
  EXPECT_EQ(facts.state_bytes, 18 * (2560 * 4 + 2560 * 3 * 2));
  EXPECT_THAT(special_error(having(kGriffin, "\"lru_width\": 2560", "\"lru_width\": 2555")),
              HasSubstr("2555 columns do not divide into 10 blocks"));
  EXPECT_THAT(special_error(having(kGriffin, "\"lru_width\": 2560",
                                   "\"lru_width\": 2560, \"block_types\": [\"recurent\"]")),
              HasSubstr("nearest is 'recurrent'"));
}

const std::string kJetMoe = R"({"model_type": "jetmoe", "hidden_size": 2048, "num_hidden_layers":
  24, "num_key_value_heads": 16, "kv_channels": 128, "intermediate_size": 5632,
  "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000, "activation_function":
  "silu", "max_position_embeddings": 4096})";

// arXiv 2404.07413 states 8.52 billion parameters and 2.2 that are active. Sixteen heads of keys
// for twice as many queries.
TEST(SpecialNetworks, ProjectionsOfJetMoeAreExperts) {
  const NetworkFacts facts = special_facts(kJetMoe);
  EXPECT_NEAR(facts.parameters, 8.52e9, 0.005 * 8.52e9);
  EXPECT_NEAR((facts.active - 32000.0 * 2048) / 1e9, 2.2, 0.1);
  EXPECT_DOUBLE_EQ(facts.kv_bytes_per_token, 24 * 2 * 16 * 128 * 2);
  Binding binding;
  binding.seq_len = 16;
  const Graph graph = build_graph(special_network(kJetMoe), binding);
  double flops = 0;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    if (graph.op(id).kind == "ExpertMatMul") flops += graph.flops(id).value();
  }
  EXPECT_DOUBLE_EQ(flops, 24.0 * 16 * 2 * 2 * 2 * 2048 * 2048) << "two of eight, there and back";
  binding.tensor_parallel = 4;
  const auto quarter =
      static_cast<double>(build_graph(special_network(kJetMoe), binding).parameter_count());
  EXPECT_NEAR(quarter, facts.parameters / 4, 0.01 * facts.parameters);
  EXPECT_THAT(special_error(having(kJetMoe, "\"kv_channels\"",
                                   "\"num_attention_heads\": 16, \"kv_channels\"")),
              HasSubstr("2 experts of 16 heads each are 32"));
}

const std::string kPhi3Small = R"({"model_type": "phi3small", "hidden_size": 4096,
  "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
  "ff_intermediate_size": 14336, "hidden_act": "gegelu", "gegelu_limit": 20.0,
  "dense_attention_every_n_layers": 2, "blocksparse_block_size": 64,
  "blocksparse_num_local_blocks": 16, "blocksparse_vert_stride": 8,
  "blocksparse_homo_head_pattern": false, "vocab_size": 100352, "max_position_embeddings": 8192})";

// Its card on huggingface.co: 7.39 billion. Half of the layers see 1024 keys and an eighth of those
// before; all keep the keys of all tokens.
TEST(SpecialNetworks, HalfOfTheLayersOfPhi3SmallSeeBlocks) {
  const NetworkFacts facts = special_facts(kPhi3Small);
  EXPECT_NEAR(facts.parameters, 7.39e9, 0.005 * 7.39e9);
  EXPECT_DOUBLE_EQ(facts.kv_bytes_per_token, 32 * 2 * 8 * 128 * 2);
  EXPECT_EQ(facts.window_bytes, 0);
  Binding binding;
  binding.phase = Phase::kDecode;
  binding.seq_len = 1;
  binding.kv_len = 5120;
  const Graph graph = build_graph(special_network(kPhi3Small), binding);
  std::map<double, int> flops;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    if (graph.op(id).kind == "Attention") ++flops[graph.flops(id).value()];
  }
  const double key = 32 * (4 * 128 + 5);
  EXPECT_EQ(flops[key * 5120], 16);
  EXPECT_EQ(flops[key * (1024 + 4096 / 8.0)], 16);
  EXPECT_THAT(special_error(having(kPhi3Small, "head_pattern\": false", "head_pattern\": true")),
              HasSubstr("one pattern for all heads, cannot be imported"));
}

// DeepSeek-OCR's decoder has the name of DeepSeek-V2 and attention over heads.
TEST(SpecialNetworks, DecodersOfDeepSeekMayHaveNoLatents) {
  const std::string ocr = R"({"model_type": "deepseek_v2", "use_mla": false, "hidden_size": 1280,
    "num_hidden_layers": 12, "num_attention_heads": 10, "num_key_value_heads": 10,
    "intermediate_size": 6848, "moe_intermediate_size": 896, "n_routed_experts": 64,
    "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
    "kv_lora_rank": null, "qk_nope_head_dim": 0, "v_head_dim": 0, "vocab_size": 129280,
    "topk_method": "greedy", "max_position_embeddings": 8192})";
  EXPECT_EQ(special_facts(ocr).kv_bytes_per_token, 12 * 2 * 1280 * 2);
}

TEST(SpecialNetworks, ADecoderOfAnotherKindInsideIsRefused) {
  EXPECT_THAT(special_error(R"({"model_type": "mistral3", "text_config": {"model_type":
      "mistral9", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
      "vocab_size": 10, "intermediate_size": 8}})"),
              HasSubstr("text_config: model_type: architecture 'mistral9' cannot be imported"));
}

// Jina's BERT has the model_type of BERT, and its class says which it is.
TEST(SpecialNetworks, JinaHasScoresThatFallWithTheDistanceAndAGate) {
  const std::string jina = R"({"model_type": "bert", "architectures": ["JinaBertModel"],
    "feed_forward_type": "geglu", "position_embedding_type": "alibi", "hidden_act": "gelu",
    "hidden_size": 64, "intermediate_size": 128, "max_position_embeddings": 8192,
    "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100})";
  Binding binding;
  binding.seq_len = 16;
  const Graph graph = build_graph(special_network(jina), binding);
  std::map<std::string, int> kinds;
  for (const Op& op : graph.ops()) ++kinds[op.kind];
  EXPECT_EQ(kinds["Alibi"], 2);
  EXPECT_EQ(kinds["MatMul"], 2 * (4 + 2 + 3) + 1);
  const Graph plain = build_graph(special_network(having(jina, "geglu", "original")), binding);
  EXPECT_EQ(graph.parameter_count() - plain.parameter_count(), 2 * (64 * 128 - 128));
  EXPECT_THAT(special_error(having(jina, "geglu", "moglu")),
              HasSubstr("unknown kind of feed-forward network 'moglu'"));
  EXPECT_THAT(special_error(having(jina, "alibi", "rotary")),
              HasSubstr("only 'absolute' and 'alibi' can be imported"));
  EXPECT_THAT(special_error(having(jina, "JinaBertModel", "BertModel")),
              HasSubstr("position_embedding_type: only 'absolute' can be imported"));
}

// Of Jina v3 the matrices of its tasks are stored, and a call reads those of none apart.
TEST(SpecialNetworks, AdaptersOfTasksAreStoredBesideTheOthers) {
  const std::string adapted = R"({"model_type": "xlm-roberta", "architectures": ["XLMRobertaLoRA"],
    "position_embedding_type": "rotary", "hidden_act": "gelu", "hidden_size": 64,
    "intermediate_size": 128, "max_position_embeddings": 514, "num_attention_heads": 4,
    "num_hidden_layers": 2, "vocab_size": 100, "type_vocab_size": 1, "lora_rank": 2,
    "lora_adaptations": ["a", "b", "c"]})";
  Binding binding;
  binding.seq_len = 16;
  const Graph graph = build_graph(special_network(adapted), binding);
  const Graph plain =
      build_graph(special_network(having(adapted, R"(["a", "b", "c"])", "[]")), binding);
  const std::int64_t layer = (64 + 192) + (64 + 64) + 2 * (64 + 128);
  EXPECT_EQ(graph.parameter_count() - plain.parameter_count(),
            3 * 2 * (2 * layer + (100 + 64) + (1 + 64) + (64 + 64)));
  EXPECT_EQ(graph.total_flops().value(), plain.total_flops().value());
  EXPECT_THAT(special_network(adapted).notes, ::testing::Contains(HasSubstr("one of 3 tasks")));
}

TEST(SpecialNetworks, SizesOfAClassAreSaidToBeTaken) {
  const ModelConfig config = special_network(R"({"model_type": "phi3", "vocab_size": 100})");
  ASSERT_FALSE(config.notes.empty());
  EXPECT_THAT(config.notes.front(),
              HasSubstr("states no size of num_hidden_layers 32, hidden_size 3072"));
}

TEST(SpecialNetworks, FormatsAreReadByGroup) {
  const auto narrow = [](const std::string& quantization) {
    return special_network(having(kArctic, "{\"model_type\"",
                                  "{\"quantization_config\": " + quantization + ", \"model_type\""))
        .checkpoint;
  };
  const std::string two = R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
      {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float"},
      "input_activations": {}}, "group_1": {"targets": ["re:.*mlp.experts.*"], "weights":
      {"num_bits": 4, "type": "float", "group_size": 16}, "input_activations": {}}}})";
  EXPECT_EQ(narrow(two).dtype, "nvfp4");
  EXPECT_EQ(
      stored_text(narrow(two)),
      "NVFP4 in routed experts; 16 bits in dense networks; FP8 in attention, attention outputs");
  EXPECT_EQ(narrow(R"({"quant_method": "gptq_marlin", "bits": 4})").dtype, "int4-weights");
  const auto wrong = [](const std::string& quantization) {
    return special_error(having(kArctic, "{\"model_type\"",
                                "{\"quantization_config\": " + quantization + ", \"model_type\""));
  };
  EXPECT_THAT(wrong(R"({"bits": 4})"), HasSubstr("states no quant_method; there are: fp8"));
  EXPECT_THAT(wrong(R"({"quant_method": 4})"), HasSubstr("quant_method: is 4; it must be text"));
  EXPECT_THAT(wrong(R"({"quant_method": "gguf"})"), HasSubstr("missing is weights in blocks"));
  EXPECT_THAT(wrong(R"({"quant_method": "compressed-tensors", "config_groups": {}})"),
              HasSubstr("config_groups: is empty"));
  EXPECT_THAT(
      special_error(having(kGriffin, "{\"model_type\"", "{\"rope_scaling\": 4, \"model_type\"")),
      HasSubstr("rope_scaling: must be an object"));
}

}  // namespace
}  // namespace foretell

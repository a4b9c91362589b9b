// The networks that people serve: read from small files as published ones spell them.
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "model/base/errors.hpp"
#include "workloads/import/hf/config/network_facts.hpp"
#include "workloads/import/hf/config/stored_formats.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ModelConfig read_network(const std::string& text) {
  return parse_model_config(text, "net", "config.json");
}

std::string error_of_network(const std::string& text) {
  try {
    read_network(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

double billions(const std::string& text) {
  return facts_of(read_network(text), find_precision("bf16")).parameters / 1e9;
}

double active_billions(const std::string& text) {
  return facts_of(read_network(text), find_precision("bf16")).active / 1e9;
}

const std::string kDeepSeek = R"({"model_type": "deepseek_v3", "hidden_size": 7168,
  "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
  "vocab_size": 129280, "intermediate_size": 18432, "moe_intermediate_size": 2048,
  "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "n_group": 8,
  "topk_group": 4, "topk_method": "noaux_tc", "scoring_func": "sigmoid",
  "first_k_dense_replace": 3, "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512,
  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "max_position_embeddings": 163840, "num_nextn_predict_layers": 1,
  "rope_scaling": {"type": "yarn", "factor": 40},
  "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})";

const std::string kGptOss = R"({"model_type": "gpt_oss", "hidden_size": 2880,
  "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
  "vocab_size": 201088, "intermediate_size": 2880, "num_local_experts": 128,
  "num_experts_per_tok": 4, "sliding_window": 128, "max_position_embeddings": 131072,
  "tie_word_embeddings": false, "quantization_config": {"quant_method": "mxfp4",
  "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]}})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Networks, HaveThePublishedParameters) {
  EXPECT_NEAR(billions(kDeepSeek), 671.03, 0.005 * 671);  // technical report: 671B, 37B active
  EXPECT_NEAR(active_billions(kDeepSeek), 37, 1);
  EXPECT_NEAR(billions(kGptOss), 116.83, 0.005 * 116.83);  // model card: 116.83B, 5.13B active
  EXPECT_NEAR(active_billions(kGptOss), 5.13, 0.06);
}

TEST(Networks, LatentCachesAreNarrow) {
  const NetworkFacts facts = facts_of(read_network(kDeepSeek), find_precision("bf16"));
  EXPECT_EQ(facts.kv_bytes_per_token, 61.0 * 576 * 2);
  EXPECT_EQ(facts.window_bytes, 0);
  EXPECT_GT(facts.draft, 11e9);
}

TEST(Networks, WindowsHoldTheirRowsAlone) {
  const NetworkFacts facts = facts_of(read_network(kGptOss), find_precision("bf16"));
  EXPECT_EQ(facts.kv_bytes_per_token, 18.0 * 2 * 8 * 64 * 2) << "half of the layers see all";
  EXPECT_EQ(facts.window_bytes, 18.0 * 128 * 2 * 8 * 64 * 2);
}

TEST(Networks, PrefillDecodeAndForwardCanBeBuilt) {
  for (const std::string& text : {kDeepSeek, kGptOss}) {
    ModelConfig config = read_network(
        with(text, text == kDeepSeek ? "\"num_hidden_layers\": 61" : "\"num_hidden_layers\": 36",
             "\"num_hidden_layers\": 4"));
    Binding binding;
    binding.seq_len = 300;
    const double forward = build_graph(config, binding).total_flops().value();
    binding.phase = Phase::kPrefill;
    binding.kv_len = 400;
    const double prefill = build_graph(config, binding).total_flops().value();
    EXPECT_LT(prefill, forward * 1.01) << "logits of the last token alone";
    binding.phase = Phase::kDecode;
    binding.seq_len = 1;
    EXPECT_LT(build_graph(config, binding).total_flops().value() * 50, prefill);
  }
}

TEST(Networks, ExpertsAreSharedAmongRanks) {
  const ModelConfig config =
      read_network(with(kDeepSeek, "\"num_hidden_layers\": 61", "\"num_hidden_layers\": 5"));
  Binding binding;
  binding.phase = Phase::kDecode;
  binding.seq_len = 1;
  binding.kv_len = 64;
  binding.batch = 64;
  const double whole = static_cast<double>(build_graph(config, binding).parameter_count());
  binding.tensor_parallel = 8;
  const auto wide = static_cast<double>(build_graph(config, binding).parameter_count());
  binding.expert_parallel = 8;
  const auto split = static_cast<double>(build_graph(config, binding).parameter_count());
  EXPECT_NEAR(wide, split, 1e-3 * wide) << "an eighth of each, or each eighth";
  EXPECT_LT(split, whole / 5);
  binding.tensor_parallel = 1;
  binding.attention_data_parallel = 8;
  const Graph exchanged = build_graph(config, binding);
  int exchanges = 0;
  for (const Op& op : exchanged.ops()) exchanges += op.kind == "ExpertExchange" ? 1 : 0;
  EXPECT_EQ(exchanges, 2 * 4) << "tokens, weights and numbers there, results back";
  binding.expert_parallel = 3;
  EXPECT_THROW(build_graph(config, binding), UserError);
}

// A norm over the heads of all ranks needs what each has, of queries and keys at once: one exchange
// more in every layer, of two numbers for a token.
TEST(Networks, NormsOverAllHeadsAreExchanged) {
  const std::string text = R"({"model_type": "minimax_m2", "num_hidden_layers": 3,
    "hidden_size": 3072, "num_attention_heads": 48, "num_key_value_heads": 8, "head_dim": 128,
    "intermediate_size": 1536, "vocab_size": 200064, "num_experts_per_tok": 8,
    "num_local_experts": 256, "max_position_embeddings": 196608, "rope_theta": 5000000,
    "rotary_dim": 64, "qk_norm_type": "per_layer"})";
  Binding binding;
  binding.phase = Phase::kDecode;
  binding.seq_len = 1;
  binding.kv_len = 64;
  binding.batch = 16;
  const auto sums = [&](const std::string& network, int ranks) {
    binding.tensor_parallel = ranks;
    const Graph graph = build_graph(read_network(network), binding);
    int small = 0;
    int all = 0;
    for (const Op& op : graph.ops()) {
      if (op.kind != "AllReduce") continue;
      ++all;
      if (op.inputs.size() != 2) continue;
      ++small;
      for (const TensorId one : op.outputs) EXPECT_EQ(graph.tensor(one).shape, (Shape{16, 1, 1}));
    }
    return std::pair{all, small};
  };
  const std::string per_head = with(text, "per_layer", "per_head");
  EXPECT_EQ(sums(text, 1), (std::pair{0, 0}));
  EXPECT_EQ(sums(text, 4).second, 3);
  EXPECT_EQ(sums(text, 4).first, sums(per_head, 4).first + 3);
  EXPECT_EQ(sums(per_head, 4).second, 0);
  binding.tensor_parallel = 4;
  EXPECT_EQ(build_graph(read_network(text), binding).parameter_count() -
                build_graph(read_network(per_head), binding).parameter_count(),
            3 * (48 + 8) / 4 * 128 - 3 * 2 * 128)
      << "weights of the norms: of a rank's heads, or of one";
}

TEST(Networks, FormatsOfWeightsAreRead) {
  const ModelConfig fp8 = read_network(kDeepSeek);
  EXPECT_EQ(fp8.checkpoint.dtype, "fp8");
  EXPECT_TRUE(fp8.checkpoint.block_scales);
  EXPECT_FALSE(read_network(with(kDeepSeek, "[128, 128]", "[1, 32]")).checkpoint.block_scales);
  const ModelConfig mxfp4 = read_network(kGptOss);
  EXPECT_EQ(mxfp4.checkpoint.dtype, "mxfp4-weights");
  EXPECT_EQ(stored_text(mxfp4.checkpoint),
            "MXFP4 in routed experts; 16 bits in attention, attention outputs");
  EXPECT_THAT(error_of_network(with(kGptOss, "mxfp4", "sparta")),
              HasSubstr("unknown quantisation 'sparta'"));
  EXPECT_EQ(read_network(with(kDeepSeek, "\"num_nextn_predict_layers\": 1",
                              "\"num_nextn_predict_layers\": NaN"))
                .parts_of_decoder.draft_layers,
            0)
      << "NaN of Python is null";
}

TEST(Networks, TypesOfQuarkAreRead) {
  const auto stored = [](const std::string& types) {
    const std::string quark = R"({"quant_method": "quark", "global_quant_config": )" + types + "}";
    const std::string text = R"({"model_type": "llama", "hidden_size": 64, "hidden_act": "silu",
      "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100,
      "max_position_embeddings": 1024, "quantization_config": )" +
                             quark + "}";
    const std::string error = error_of_network(text);
    return error == "no error" ? read_network(text).checkpoint.dtype : error;
  };
  EXPECT_EQ(stored(R"({"weight": {"dtype": "fp4", "scale_format": "e8m0"}, "input_tensors": {}})"),
            "mxfp4-weights");
  EXPECT_EQ(stored(R"({"weight": {"dtype": "fp8_e4m3"}, "input_tensors": {}})"), "fp8");
  EXPECT_EQ(stored(R"({"weight": {"dtype": "fp8_e4m3"}, "input_tensors": null})"), "fp8-weights");
  EXPECT_EQ(stored(R"({"weight": {"dtype": "uint4"}})"), "int4-weights");
  EXPECT_THAT(stored(R"({"weight": {"dtype": "fp5"}})"),
              HasSubstr("unknown type of weights 'fp5'"));
}

TEST(Networks, WeightsOfFourAndEightBitsAreKnown) {
  const auto error = [](const std::string& bits) {
    return error_of_network(R"({"model_type": "llama", "hidden_size": 64, "hidden_act": "silu",
      "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100,
      "max_position_embeddings": 1024, "quantization_config": {"quant_method": "gptq", "bits": )" +
                            bits + "}}");
  };
  EXPECT_EQ(error("4"), "no error");
  EXPECT_EQ(error("8"), "no error");
  EXPECT_THAT(error("3"), HasSubstr("weights of 3 bits cannot be imported"));
}

TEST(Networks, AFormatIsAnObject) {
  EXPECT_THAT(error_of_network(R"({"model_type": "llama", "hidden_size": 64, "hidden_act": "silu",
      "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100,
      "max_position_embeddings": 1024, "quantization_config": "fp8"})"),
              HasSubstr("quantization_config: must be an object with a quant_method"));
}

TEST(Networks, AMethodInThePlaceOfTheFunctionOfARouter) {
  const ModelConfig dots = read_network(R"({"model_type": "dots1", "hidden_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100,
    "moe_intermediate_size": 32, "n_routed_experts": 8, "num_experts_per_tok": 2,
    "first_k_dense_replace": 1, "scoring_func": "noaux_tc"})");
  const RouterPart& router = dots.parts_of_decoder.layers[1].feed_forward.router;
  EXPECT_EQ(router.function, "sigmoid");
  EXPECT_TRUE(router.bias);
}

TEST(Networks, LayersOfBambaThatAttendAreThere) {
  EXPECT_THAT(error_of_network(R"({"model_type": "bamba", "hidden_size": 4096, "vocab_size": 100,
      "num_hidden_layers": 2, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 128, "attn_layer_indices": [2]})"),
              HasSubstr("attn_layer_indices: contradiction: names layer 2"));
}

TEST(Networks, BlocksOfScalesAreReadInEverySpelling) {
  const auto blocks = [](const std::string& format) {
    return read_network(
               with(kDeepSeek, R"("quant_method": "fp8", "weight_block_size": [128, 128])", format))
        .checkpoint.block_scales;
  };
  const std::string group = R"("quant_method": "compressed-tensors", "config_groups": {"group_0": {
      "weights": {"num_bits": 8, "type": "float", "strategy": "block"BLOCK},
      "input_activations": {"num_bits": 8, "type": "float"}}})";
  EXPECT_TRUE(blocks(with(group, "BLOCK", R"(, "block_structure": [128, 128])")));
  EXPECT_FALSE(blocks(with(group, "BLOCK", "")));
  EXPECT_TRUE(blocks(R"("quant_method": "modelopt", "quant_algo": "FP8_PB_WO")"));
  EXPECT_FALSE(blocks(R"("quant_method": "modelopt", "quant_algo": "FP8")"));
  EXPECT_FALSE(blocks(R"("quant_method": "modelopt", "quant_algo": "NVFP4",
      "weight_block_size": [128, 128])"));
}

// For the projections of attention: which of them the first layer stores in four bits.
std::set<std::string> narrow_projections(const std::string& kept) {
  ModelConfig config = read_network(
      with(with(kDeepSeek, "\"num_hidden_layers\": 61", "\"num_hidden_layers\": 4"),
           R"("quant_method": "fp8", "weight_block_size": [128, 128])",
           R"("quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": [)" + kept + "]"));
  Binding binding;
  binding.seq_len = 64;
  Graph graph = build_graph(config, binding);
  apply_precision(find_precision("nvfp4"), &graph);
  std::set<std::string> narrow;
  for (const Tensor& tensor : graph.tensors()) {
    const std::size_t part = tensor.name.find("attention.");
    if (tensor.dtype == DType::kNvfp4 && part != std::string::npos)
      narrow.insert(tensor.name.substr(part));
  }
  return narrow;
}

TEST(Networks, ProjectionsThatAFileNamesOneByOneStayWide) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(narrow_projections(R"("lm_head", "model.layers.*.self_attn*")"), IsEmpty());
  EXPECT_THAT(narrow_projections(R"("model.layers.*.self_attn.q_a_proj",
      "model.layers.*.self_attn.q_b_proj", "model.layers.*.self_attn.kv_a_proj_with_mqa",
      "model.layers.*.self_attn.kv_b_proj")"),
              ElementsAre("attention.output.weight"));
  EXPECT_GT(narrow_projections(R"("lm_head")").size(), 3U);
}

// The columns of a head that are rotated, by layer.
std::vector<std::int64_t> rotated_columns(const std::string& text) {
  std::vector<std::int64_t> columns;
  for (const LayerPart& part : read_network(text).parts_of_decoder.layers)
    columns.push_back(part.mixer.rotary_dim);
  return columns;
}

TEST(Networks, KindsOfLayersRotateSharesOfTheirOwn) {
  using ::testing::ElementsAre;
  const std::string sizes = R"("hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 100, "intermediate_size": 128,
    "sliding_window": 16, "layer_types": ["sliding_attention", "full_attention",
    "sliding_attention"], )";
  const std::string kinds = R"("rope_parameters": {"full_attention": {"rope_type": "proportional",
    "partial_rotary_factor": 0.25}, "sliding_attention": {"rope_type": "default"}}})";
  EXPECT_THAT(
      rotated_columns(R"({"model_type": "gemma4_text", "global_head_dim": 64, )" + sizes + kinds),
      ElementsAre(32, 16, 32));
  const std::string experts = R"("num_experts": 4, "num_experts_per_tok": 2,
    "moe_intermediate_size": 32, )";
  EXPECT_THAT(rotated_columns(R"({"model_type": "laguna", )" + sizes + experts +
                              R"("partial_rotary_factor": 0.5, "swa_rope_parameters": {"rope_type":
                              "default", "partial_rotary_factor": 1.0}})"),
              ElementsAre(32, 16, 32));
  const std::string step = R"({"model_type": "step3p5", "num_attention_groups": 2, )" + sizes +
                           experts + R"("partial_rotary_factors": [1.0, 0.5, 1.0]})";
  EXPECT_THAT(rotated_columns(step), ElementsAre(32, 16, 32));
  EXPECT_THAT(error_of_network(with(step, "[1.0, 0.5, 1.0]", "[1.0, 0.5]")),
              HasSubstr("partial_rotary_factors: contradiction: names 2 layers"));
  EXPECT_THAT(error_of_network(with(step, "[1.0, 0.5, 1.0]", "[1.0, 0, 1.0]")),
              HasSubstr("must be above 0"));
  // Without words, windows say the kind: of six layers the last sees all.
  const std::string pattern = R"({"model_type": "gemma3_text", "hidden_size": 64,
    "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
    "vocab_size": 100, "intermediate_size": 128, "sliding_window": 16, )" +
                              kinds;
  EXPECT_THAT(rotated_columns(pattern), ElementsAre(32, 32, 32, 32, 32, 8));
}

TEST(Networks, SayWhatIsWrong) {
  EXPECT_THAT(
      error_of_network(with(kGptOss, "\"num_experts_per_tok\": 4", "\"num_experts_per_tok\": 200")),
      HasSubstr("is more than the 128 experts"));
  EXPECT_THAT(error_of_network(with(kDeepSeek, "\"type\": \"yarn\"", "\"type\": \"spiral\"")),
              AllOf(HasSubstr("unknown kind of rotary positions 'spiral'"), HasSubstr("yarn")));
  EXPECT_THAT(error_of_network(with(kDeepSeek, "sigmoid", "tanhish")),
              HasSubstr("unknown kind of router 'tanhish'"));
  EXPECT_THAT(error_of_network(with(kDeepSeek, "\"topk_group\": 4", "\"topk_group\": 9")),
              HasSubstr("more than the 8 groups"));
  EXPECT_THAT(error_of_network(with(kGptOss, "\"sliding_window\": 128",
                                    R"("sliding_window": 128, "layer_types": ["full_attention"])")),
              HasSubstr("contradiction: names 1 layers"));
  EXPECT_THAT(
      error_of_network(with(kDeepSeek, "\"n_routed_experts\": 256", "\"n_routed_experts\": 2.5")),
      AllOf(HasSubstr("n_routed_experts: is 2.5"), Not(HasSubstr("num_experts_per_tok"))));
  EXPECT_THAT(error_of_network(with(kDeepSeek, "deepseek_v3", "deepsea")),
              HasSubstr("architecture 'deepsea' cannot be imported"));
}

const std::string kGptNeo = R"({"model_type": "gpt_neo", "hidden_size": 64, "num_layers": 4,
  "num_heads": 4, "max_position_embeddings": 128, "vocab_size": 1000, "window_size": 32})";

// Every other layer sees a window; a table of positions is added once.
TEST(Networks, LearnedPositionsAreATableAndWindowsAlternate) {
  const ModelConfig config = read_network(kGptNeo);
  const std::vector<LayerPart>& layers = config.parts_of_decoder.layers;
  EXPECT_EQ(layers[0].mixer.window, 0);
  EXPECT_EQ(layers[1].mixer.window, 32);
  EXPECT_EQ(layers[2].mixer.window, 0);
  const std::string longer = with(kGptNeo, "128", "256");
  EXPECT_NEAR((billions(longer) - billions(kGptNeo)) * 1e9, 128 * 64, 0.5);
  EXPECT_THAT(error_of_network(with(kGptNeo, R"("num_heads": 4)", R"("num_heads": 5)")),
              HasSubstr("64 is no multiple of 5 heads"));
  EXPECT_THAT(error_of_network(with(kGptNeo, R"("num_heads": 4)",
                                    R"("num_heads": 4, "attention_layers": ["global"])")),
              HasSubstr("names 1 layers"));
  EXPECT_THAT(error_of_network(with(kGptNeo, R"("num_heads": 4)",
                                    R"("num_heads": 4,
                  "attention_layers": ["global", "near", "global", "local"])")),
              AllOf(HasSubstr("unknown kind of attention 'near'"), HasSubstr("local")));
}

// One key for all queries holds as many times less of the cache as there are heads.
TEST(Networks, OneKeyForAllQueries) {
  const std::string many = R"({"model_type": "gpt_bigcode", "n_embd": 64, "n_layer": 2,
    "n_head": 4, "n_positions": 4096, "vocab_size": 1000, "multi_query": false})";
  const auto cache = [](const std::string& text) {
    return facts_of(read_network(text), find_precision("bf16")).kv_bytes_per_token;
  };
  EXPECT_DOUBLE_EQ(cache(many), 4 * cache(with(many, "false", "true")));
  const std::string mpt = R"({"model_type": "mpt", "d_model": 64, "n_layers": 2, "n_heads": 4,
    "max_seq_len": 4096, "vocab_size": 1000, "attn_config": {"alibi": true, "attn_type":
    "grouped_query_attention", "kv_n_heads": 2}})";
  EXPECT_DOUBLE_EQ(cache(many), 2 * cache(mpt));
  EXPECT_THAT(error_of_network(with(mpt, "grouped_query", "looked_up")),
              AllOf(HasSubstr("unknown kind of attention 'looked_up_attention'"),
                    HasSubstr("multiquery_attention")));
  EXPECT_THAT(error_of_network(with(mpt, R"(, "kv_n_heads": 2)", "")), HasSubstr("kv_n_heads"));
}

TEST(Networks, WhatIsMissingOfOtherArchitecturesIsSaid) {
  EXPECT_THAT(error_of_network(R"({"model_type": "diffllama", "hidden_size": 64})"),
              HasSubstr("difference of two softmaxes"));
  EXPECT_THAT(error_of_network(R"({"model_type": "roformer", "hidden_size": 64})"),
              HasSubstr("nomic_bert has these"));
  // The part between tower and decoder is missing, though the decoder is known.
  EXPECT_THAT(error_of_network(R"({"model_type": "blip-2", "text_config": {"model_type": "opt",
    "hidden_size": 64, "ffn_dim": 128, "vocab_size": 100, "num_attention_heads": 4,
    "num_hidden_layers": 2, "max_position_embeddings": 1024, "activation_function": "relu"}})"),
              HasSubstr("Q-Former"));
}

// index_topk_freq and its offset, or the list that says the same (GLM-5.2).
TEST(Networks, LayersThatReadAnEarlierChoiceHaveNoIndexer) {
  const std::string latent =
      with(with(kDeepSeek, R"("num_hidden_layers": 61)", R"("num_hidden_layers": 8)"),
           R"("q_lora_rank": 1536)",
           R"("q_lora_rank": 1536, "index_n_heads": 64,
      "index_head_dim": 128, "index_topk": 2048)");
  const std::string every = with(latent, R"("index_topk": 2048)",
                                 R"("index_topk": 2048, "index_topk_freq": 4,
      "index_skip_topk_offset": 3)");
  const ModelConfig config = read_network(every);
  const bool shared[] = {false, false, false, true, true, true, false, true};
  for (std::size_t i = 0; i < std::size(shared); ++i) {
    EXPECT_EQ(config.parts_of_decoder.layers[i].mixer.indexer.shared, shared[i]) << i;
  }
  const std::string named = with(latent, R"("index_topk": 2048)",
                                 R"("index_topk": 2048, "indexer_types": ["full", "full", "full",
      "shared", "shared", "shared", "full", "shared"])");
  EXPECT_EQ(billions(named), billions(every));
  const double indexer = (64.0 * 128 * 1536 + 7168 * (128 + 64) + 128) / 1e9;
  EXPECT_NEAR(billions(latent) - billions(every), 4 * indexer, 1e-6);
  EXPECT_THAT(error_of_network(with(named, R"(["full", )", R"([)")),
              HasSubstr("names 7 layers, but num_hidden_layers is 8"));
  EXPECT_THAT(error_of_network(with(named, R"(["full")", R"(["shared")")),
              HasSubstr("no earlier one"));
}

}  // namespace
}  // namespace foretell

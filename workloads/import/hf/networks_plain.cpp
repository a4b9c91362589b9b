// config.json of decoders that differ from Llama in a few properties: one row each.
#include <algorithm>

#include "model/base/errors.hpp"
#include "workloads/import/hf/parts_reader.hpp"

namespace foretell {
namespace {

// What a row says holds where the file says nothing.
struct PlainDecoder {
  std::string_view model_type;
  std::string_view class_prefix;
  LayerForm form = LayerForm::kPreNorm;
  HeadNorm head_norm = HeadNorm::kNone;
  bool gated = true;
  bool layer_norm = false;
  bool qkv_bias = false;
  bool output_bias = false;
  bool ffn_bias = false;
  bool head_bias = false;
  double rotated = 1;               // share of the columns of a head
  std::int64_t window_pattern = 0;  // every such layer sees all, the others a window; 0: no windows
  const char* activation = "silu";
  bool tied_embeddings = false;
  SizeDefaults sizes = {};
};

bool first_flag(JsonFields& fields, const std::vector<std::string_view>& keys, bool otherwise) {
  for (const std::string_view key : keys) {
    if (fields.has(key)) return fields.flag_or(key, otherwise);
  }
  return otherwise;
}

// "LLLG" is a pattern of four; a number is its length.
std::int64_t read_pattern(JsonFields& fields, std::int64_t otherwise) {
  constexpr std::string_view kKey = "sliding_window_pattern";
  if (!fields.is_text(kKey)) return fields.size_or(kKey, kMaxLayers, otherwise);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(fields.text(kKey).size()));
}

void read_plain_windows(PartsReader& reader, const PlainDecoder& plain) {
  JsonFields& fields = reader.fields();
  if (!fields.has("sliding_window") || !fields.flag_or("use_sliding_window", true)) {
    reader.layer_types();
    return;
  }
  if (plain.window_pattern == 0) return reader.read_windows(every_layer, 1);
  reader.read_windows(all_but_last, read_pattern(fields, plain.window_pattern));
}

void read_plain(const PlainDecoder& plain, JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, plain.sizes);
  if (plain.layer_norm) reader.use_layer_norm();
  config->head_bias = first_flag(fields, {"lm_head_bias"}, plain.head_bias);
  const std::string activation = reader.activation(
      {"hidden_act", "hidden_activation", "activation_function"}, plain.activation);
  const bool norms =
      first_flag(fields, {"use_qk_norm", "qk_layernorm"}, plain.head_norm != HeadNorm::kNone);
  const HeadNorm norm = plain.head_norm == HeadNorm::kNone ? HeadNorm::kPerHead : plain.head_norm;
  const bool parallel = fields.flag_or("use_parallel_residual", false);
  for (LayerPart& part : reader.layers()) {
    part.form = parallel ? LayerForm::kParallel : plain.form;
    part.mixer.head_norm = norms ? norm : HeadNorm::kNone;
    part.mixer.qkv_bias = first_flag(
        fields, {"use_qkv_bias", "qkv_bias", "attention_bias", "use_bias", "bias"}, plain.qkv_bias);
    part.mixer.output_bias =
        first_flag(fields, {"attention_out_bias", "use_bias", "bias"}, plain.output_bias);
    part.feed_forward.gated = plain.gated;
    part.feed_forward.bias = first_flag(fields, {"mlp_bias", "use_bias", "bias"}, plain.ffn_bias);
    part.feed_forward.activation = activation;
    if (config->intermediate == 0) part.feed_forward.intermediate = 4 * config->hidden;
  }
  reader.read_rotation(fields.number_or("rope_pct", plain.rotated));
  read_plain_windows(reader, plain);
}

// K-EXAONE: experts by the rule of DeepSeek-V3, windows by that of EXAONE 4.
void read_exaone_moe(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  reader.norm_heads();
  reader.read_rotation();
  reader.read_windows(all_but_last, read_pattern(fields, 4), 128);
  FeedForwardPart part =
      reader.experts({{"num_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"}});
  part.router.function = "sigmoid";
  part.router.bias = true;
  reader.read_groups(&part.router);
  part.shared_intermediate =
      fields.count_or("num_shared_experts", kMaxLayers, 1) * part.expert_intermediate;
  std::vector<std::int64_t> sparse = reader.sparse_by_words(
      "mlp_layer_types",
      reader.sparse_from(fields.count_or("first_k_dense_replace", kMaxLayers, 1), 1));
  if (fields.is_list("is_moe_layer")) sparse = reader.per_layer("is_moe_layer");
  reader.spread_experts(part, sparse);
  reader.draft_layers({"num_nextn_predict_layers"});
}

// Falcon: one key for all queries (7B) or groups of them; both parts of a layer read one norm.
void read_falcon(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  reader.use_layer_norm();
  const bool groups = fields.flag_or("new_decoder_architecture", false);
  const bool one_key = !groups && fields.flag_or("multi_query", true);
  config->kv_heads = one_key ? 1 : config->kv_heads;
  const bool biased = fields.flag_or("bias", false);
  if (fields.flag_or("alibi", false))
    reader.note("alibi: the penalty for distance is no work of its own");
  for (LayerPart& part : reader.layers()) {
    part.form = groups || fields.flag_or("parallel_attn", true) ? LayerForm::kParallel
                                                                : LayerForm::kPreNorm;
    part.mixer.kv_heads = config->kv_heads;
    part.mixer.qkv_bias = part.mixer.output_bias = part.feed_forward.bias = biased;
    part.feed_forward.gated = false;
    part.feed_forward.activation = "gelu";
    part.feed_forward.intermediate =
        fields.size_or("ffn_hidden_size", kMaxWidth, 4 * config->hidden);
  }
  reader.read_rotation();
}

// Qwen of 2023: its intermediate_size is that of gate and up together.
void read_qwen1(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  for (LayerPart& part : reader.layers()) {
    part.mixer.qkv_bias = true;
    part.feed_forward.intermediate = std::max<std::int64_t>(1, config->intermediate / 2);
  }
  reader.read_rotation();
}

void read_chatglm(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  if (fields.flag_or("multi_query_attention", false))
    config->kv_heads = fields.size("multi_query_group_num", kMaxHeads);
  for (LayerPart& part : reader.layers()) {
    part.mixer.kv_heads = config->kv_heads;
    part.mixer.qkv_bias = fields.flag_or("add_qkv_bias", false);
    part.mixer.output_bias = part.feed_forward.bias = fields.flag_or("add_bias_linear", false);
  }
  reader.read_rotation(0.5);
}

// Baichuan: 7B rotates, 13B punishes distance; the file of the latter states no positions.
void read_baichuan(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  if (fields.has("max_position_embeddings")) return reader.read_rotation();
  reader.note(
      "no max_position_embeddings: positions are penalties for distance (ALiBi), "
      "which are no work of their own");
}

// Networks of before rotations: biases everywhere but where a reader says otherwise, and a row of a
// table for each position.
void set_learned_positions(PartsReader& reader, const std::string& activation) {
  ModelConfig& config = reader.config();
  reader.use_layer_norm();
  config.position_kind = Positions::kLearned;
  config.positions = config.max_seq_len;
  if (config.hidden % config.heads != 0) {
    throw UserError(config.file + ": contradiction: a hidden size of " +
                    std::to_string(config.hidden) + " is no multiple of " +
                    std::to_string(config.heads) + " heads");
  }
  for (LayerPart& part : reader.layers()) {
    part.mixer.qkv_bias = part.mixer.output_bias = part.feed_forward.bias = true;
    part.feed_forward.gated = false;
    part.feed_forward.activation = activation;
    if (config.intermediate == 0) part.feed_forward.intermediate = 4 * config.hidden;
  }
}

// GPT-Neo: every other layer sees a window.
void read_gpt_neo(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  set_learned_positions(reader, reader.activation({"activation_function"}, "gelu_new"));
  const std::int64_t window = fields.size_or("window_size", kMaxPositions, 256);
  const std::vector<std::string> kinds = fields.texts("attention_layers");
  if (!kinds.empty() && !reader.names_layers("attention_layers", kinds.size())) return;
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    MixerPart& mixer = reader.layer(i).mixer;
    mixer.qkv_bias = false;
    const std::string kind = kinds.empty() ? (i % 2 == 0 ? "global" : "local") : kinds[i];
    if (kind == "local") mixer.window = window;
    if (kind == "local" || kind == "global") continue;
    fields.problem("attention_layers",
                   unknown_name("kind of attention", kind, {"global", "local"}).what());
    return;
  }
}

// GPT-BigCode (StarCoder): one key for all queries.
void read_gpt_bigcode(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  set_learned_positions(reader, reader.activation({"activation_function"}, "gelu_pytorch_tanh"));
  if (fields.flag_or("multi_query", true)) config->kv_heads = 1;
  for (LayerPart& part : reader.layers()) part.mixer.kv_heads = config->kv_heads;
}

// XGLM: positions are sines, which lie in a table as learned ones do.
void read_xglm(JsonFields& fields, ModelConfig* config) {
  constexpr std::int64_t kReservedPositions = 2;  // rows of the table before the first position
  PartsReader reader(fields, config);
  set_learned_positions(reader, reader.activation({"activation_function"}, "gelu"));
  config->positions += kReservedPositions;
  reader.note("the table of positions holds sines and counts among the weights");
}

// CodeGen: GPT-J's layer.
void read_codegen(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  set_learned_positions(reader, reader.activation({"activation_function"}, "gelu_new"));
  config->position_kind = Positions::kRotary;
  config->head_bias = true;
  for (LayerPart& part : reader.layers()) {
    part.form = LayerForm::kParallel;
    part.mixer.qkv_bias = part.mixer.output_bias = false;
  }
  reader.read_rotation();
}

// MPT: penalties for distance in place of positions, mostly; its attention stands in an object.
void read_mpt(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  set_learned_positions(reader, "gelu");
  JsonFields attention = fields.inside("attn_config");
  if (attention.flag_or("alibi", false)) {
    config->position_kind = Positions::kAlibi;
    reader.note("alibi: the penalty for distance is no work of its own");
  }
  const std::vector<std::string> kinds = {"multihead_attention", "multiquery_attention",
                                          "grouped_query_attention"};
  const std::string kind = attention.text_or("attn_type", kinds.front());
  if (kind == kinds[1]) config->kv_heads = 1;
  if (kind == kinds[2]) config->kv_heads = attention.size("kv_n_heads", kMaxHeads);
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    attention.problem("attn_type", unknown_name("kind of attention", kind, kinds).what());
  const bool biased = !fields.flag_or("no_bias", true);
  const std::int64_t wider = fields.size_or("expansion_ratio", kMaxHeads, 4);
  for (LayerPart& part : reader.layers()) {
    part.mixer.kv_heads = config->kv_heads;
    part.mixer.head_norm = attention.flag_or("qk_ln", false) ? HeadNorm::kWhole : HeadNorm::kNone;
    part.mixer.qkv_bias = part.mixer.output_bias = part.feed_forward.bias = biased;
    part.feed_forward.intermediate = wider * config->hidden;
  }
  fields.take_problems(attention);
}

const std::vector<PlainDecoder>& plain_decoders() {
  static const std::vector<PlainDecoder> kRows = [] {
    std::vector<PlainDecoder> rows;
    const auto add = [&rows](std::string_view type, std::string_view prefix) -> PlainDecoder& {
      rows.emplace_back();
      rows.back().model_type = type;
      rows.back().class_prefix = prefix;
      return rows.back();
    };
    PlainDecoder* row = &add("starcoder2", "Starcoder2");
    row->layer_norm = row->qkv_bias = row->output_bias = row->ffn_bias = true;
    row->tied_embeddings = true;
    row->gated = false;
    row->activation = "gelu_pytorch_tanh";
    add("smollm3", "SmolLM3").tied_embeddings = true;
    add("seed_oss", "SeedOss").qkv_bias = true;
    add("ernie4_5", "Ernie4_5").tied_embeddings = true;
    add("paddleocr_vl", "PaddleOCRVL");
    // Llama and Mistral beside a tower, whose files may leave sizes out.
    add("llama_in_parts", "LlamaInParts").sizes = {4096, 32, 32, 0, 0, 11008, 32000, 2048};
    add("mistral_in_parts", "MistralInParts").sizes = {4096, 32, 32, 8, 0, 14336, 32000, 32768};
    row = &add("exaone4", "Exaone4");
    row->form = LayerForm::kPostNorm;
    row->head_norm = HeadNorm::kPerHead;
    row->window_pattern = 4;
    add("exaone", "Exaone");
    add("hunyuan_v1_dense", "HunYuanDenseV1").head_norm = HeadNorm::kPerHead;
    add("gemma", "Gemma").tied_embeddings = true;
    add("internlm2", "InternLM2");
    add("internlm3", "InternLM3");
    row = &add("internlm", "InternLM");
    row->qkv_bias = row->output_bias = true;
    row = &add("stablelm", "StableLm");
    row->layer_norm = true;
    row->rotated = 0.25;
    row = &add("nemotron", "Nemotron");
    row->layer_norm = true;
    row->gated = false;
    row->rotated = 0.5;
    row->activation = "relu2";
    row = &add("phi", "Phi");
    row->form = LayerForm::kParallel;
    row->layer_norm = row->qkv_bias = row->output_bias = row->ffn_bias = row->head_bias = true;
    row->gated = false;
    row->rotated = 0.5;
    row->activation = "gelu_new";
    row = &add("glm", "Glm");
    row->qkv_bias = true;
    row->rotated = 0.5;
    row = &add("arcee", "Arcee");
    row->gated = false;
    row->activation = "relu2";
    row = &add("apertus", "Apertus");
    row->gated = false;
    row->head_norm = HeadNorm::kPerHead;
    row->activation = "xielu";
    add("xverse", "Xverse");
    add("helium", "Helium");
    add("cwm", "Cwm").window_pattern = 4;
    row = &add("persimmon", "Persimmon");
    row->layer_norm = row->qkv_bias = row->output_bias = row->ffn_bias = true;
    row->gated = false;
    row->head_norm = HeadNorm::kPerHead;
    row->rotated = 0.5;
    row->activation = "relu2";
    add("minicpm", "MiniCPM").tied_embeddings = true;
    return rows;
  }();
  return kRows;
}

}  // namespace

std::vector<ModelType> plain_network_types() {
  std::vector<ModelType> types = {
      // The head is the table of the embeddings unless the file says otherwise (vLLM's falcon.py).
      {"falcon", "Falcon", {}, read_falcon, true},
      {"RefinedWebModel", "RW", {}, read_falcon, true},
      {"exaone_moe", "ExaoneMoe", {}, read_exaone_moe, false},
      {"qwen", "QWen", {}, read_qwen1, false},
      {"chatglm", "ChatGLM", {}, read_chatglm, false},
      {"baichuan", "Baichuan", {}, read_baichuan, false},
      {"gpt_neo", "GPTNeo", {}, read_gpt_neo, true},
      {"gpt_bigcode", "GPTBigCode", {}, read_gpt_bigcode, true},
      {"xglm", "XGLM", {}, read_xglm, true},
      {"codegen", "CodeGen", {}, read_codegen, false},
      {"mpt", "MPT", {}, read_mpt, true},
  };
  for (const PlainDecoder& row : plain_decoders()) {
    const PlainDecoder* plain = &row;
    types.push_back(
        {row.model_type,
         row.class_prefix,
         {},
         [plain](JsonFields& fields, ModelConfig* config) { read_plain(*plain, fields, config); },
         row.tied_embeddings});
  }
  return types;
}

}  // namespace foretell

// config.json of decoders that are near Llama or GPT-2, with rules of their own.
#include <algorithm>

#include "model/base/errors.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

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

}  // namespace

std::vector<ModelType> plain_network_types() {
  return {
      // The head is the table of the embeddings unless the file says otherwise (vLLM's falcon.py).
      {"falcon", "Falcon", {}, read_falcon, true},
      {"RefinedWebModel", "RW", {}, read_falcon, true},
      {"qwen", "QWen", {}, read_qwen1, false},
      {"chatglm", "ChatGLM", {}, read_chatglm, false},
      {"baichuan", "Baichuan", {}, read_baichuan, false},
      {"gpt_neo", "GPTNeo", {}, read_gpt_neo, true},
      {"gpt_bigcode", "GPTBigCode", {}, read_gpt_bigcode, true},
      {"xglm", "XGLM", {}, read_xglm, true},
      {"codegen", "CodeGen", {}, read_codegen, false},
      {"mpt", "MPT", {}, read_mpt, true},
  };
}

}  // namespace foretell

// config.json of decoders. Field names and defaults are those of the transformers library; a
// default is used only where published files leave the field out.
#include <algorithm>
#include <cmath>

#include "workloads/import/hf/config/config_readers.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

constexpr HeadName kScores{"ForSequenceClassification", Head::kSequence};
const std::vector<HeadName> kForCausalLm{
    {"ForCausalLM", Head::kCausalLm}, {"Model", Head::kNone}, kScores};

void read_vocabulary(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kDecoder;
  config->vocab = fields.size("vocab_size", kMaxVocab);
  config->embedding = config->hidden;
}

// The field under its first spelling, or under the second one where only that is there.
std::int64_t either_size(JsonFields& fields, std::string_view first, std::string_view second,
                         std::int64_t most) {
  return fields.size(fields.has(first) || !fields.has(second) ? first : second, most);
}

// The fields that GPT-2 and GPT-J share.
void read_gpt_sizes(JsonFields& fields, ModelConfig* config) {
  config->layers = fields.size("n_layer", kMaxLayers);
  config->hidden = fields.size("n_embd", kMaxWidth);
  config->heads = fields.size("n_head", kMaxHeads);
  config->intermediate = fields.size_or("n_inner", kMaxWidth, 4 * config->hidden);
  config->max_seq_len = fields.size("n_positions", kMaxPositions);
  config->activation = read_activation(fields, "activation_function");
  read_vocabulary(fields, config);
}

void read_gpt2(JsonFields& fields, ModelConfig* config) {
  read_gpt_sizes(fields, config);
  config->positions = config->max_seq_len;
  config->fused_qkv = true;
}

void read_gptj(JsonFields& fields, ModelConfig* config) {
  read_gpt_sizes(fields, config);
  config->position_kind = Positions::kRotary;
  config->rotary_dim = fields.size("rotary_dim", kMaxWidth);
  config->block_form = BlockForm::kParallelOneNorm;
  config->qkv_bias = false;
  config->attention_bias = false;
  config->head_bias = true;
}

// The fields that Llama took over from BERT and handed on.
void read_llama_sizes(JsonFields& fields, ModelConfig* config) {
  config->layers = fields.size("num_hidden_layers", kMaxLayers);
  config->hidden = fields.size("hidden_size", kMaxWidth);
  config->heads = fields.size("num_attention_heads", kMaxHeads);
  config->intermediate = fields.size("intermediate_size", kMaxWidth);
  config->max_seq_len = fields.size("max_position_embeddings", kMaxPositions);
  config->activation = read_activation(fields, "hidden_act");
  check_rotation_kind(fields);
  read_vocabulary(fields, config);
}

void read_gpt_neox(JsonFields& fields, ModelConfig* config) {
  read_llama_sizes(fields, config);
  config->position_kind = Positions::kRotary;
  const double share = fields.share("rotary_pct");
  const std::int64_t head_dim = std::max<std::int64_t>(2, config->hidden / config->heads);
  config->rotary_dim = std::llround(share * static_cast<double>(head_dim));
  config->fused_qkv = true;
  const bool biased = fields.flag_or("attention_bias", true);
  config->qkv_bias = biased;
  config->attention_bias = biased;
  const bool parallel = fields.flag_or("use_parallel_residual", true);
  config->block_form = parallel ? BlockForm::kParallel : BlockForm::kSequential;
}

void read_llama(JsonFields& fields, ModelConfig* config) {
  read_llama_sizes(fields, config);
  config->kv_heads = fields.size_or("num_key_value_heads", kMaxHeads, config->heads);
  config->head_dim = fields.count_or("head_dim", kMaxWidth, 0);
  config->norm = Norm::kRmsNorm;
  config->position_kind = Positions::kRotary;
  config->gated_ffn = true;
  const bool biased = fields.flag_or("attention_bias", false);
  config->qkv_bias = biased;
  config->attention_bias = biased;
  config->ffn_bias = fields.flag_or("mlp_bias", false);
}

// How far attention looks back; up to that context it is the same as full attention.
void read_window(JsonFields& fields, ModelConfig* config) {
  if (!fields.has("sliding_window") || !fields.flag_or("use_sliding_window", true)) return;
  const std::int64_t window = fields.size("sliding_window", kMaxPositions);
  if (window < config->max_seq_len) config->window = window;
}

// Files of late name the kind of every layer. Where only some see a window, all keys are read.
void read_layer_types(JsonFields& fields, ModelConfig* config) {
  const std::vector<std::string> types = fields.texts("layer_types");
  if (types.empty()) return;
  if (static_cast<std::int64_t>(types.size()) != config->layers) {
    return fields.problem("layer_types", "contradiction: names " + std::to_string(types.size()) +
                                             " layers, but num_hidden_layers is " +
                                             std::to_string(config->layers));
  }
  std::int64_t sliding = 0;
  for (const std::string& type : types) {
    if (type == "sliding_attention") {
      ++sliding;
    } else if (type != "full_attention") {
      return fields.problem("layer_types", "'" + type +
                                               "' cannot be imported here; known are "
                                               "full_attention and sliding_attention");
    }
  }
  if (sliding == config->layers || config->window == 0) return;
  config->window = 0;
  if (sliding == 0) return;
  config->notes.push_back("layer_types: " + std::to_string(sliding) + " of " +
                          std::to_string(config->layers) +
                          " layers see a window; all are taken to see every position");
}

void read_llama_alone(JsonFields& fields, ModelConfig* config) {
  read_llama(fields, config);
  read_layer_types(fields, config);
}

void read_mistral(JsonFields& fields, ModelConfig* config) {
  read_llama(fields, config);
  read_window(fields, config);
  read_layer_types(fields, config);
}

void read_qwen2(JsonFields& fields, ModelConfig* config) {
  read_llama(fields, config);
  config->qkv_bias = true;
  if (fields.has("use_sliding_window")) read_window(fields, config);
  read_layer_types(fields, config);
}

void read_qwen3(JsonFields& fields, ModelConfig* config) {
  read_llama(fields, config);
  config->qk_norm = true;
  if (fields.has("use_sliding_window")) read_window(fields, config);
  read_layer_types(fields, config);
}

void read_opt(JsonFields& fields, ModelConfig* config) {
  constexpr std::int64_t kReservedPositions = 2;  // rows of the table before the first position
  config->layers = fields.size("num_hidden_layers", kMaxLayers);
  config->hidden = fields.size("hidden_size", kMaxWidth);
  config->heads = fields.size("num_attention_heads", kMaxHeads);
  config->intermediate = fields.size("ffn_dim", kMaxWidth);
  config->max_seq_len = fields.size("max_position_embeddings", kMaxPositions);
  config->positions = config->max_seq_len + kReservedPositions;
  config->activation = read_activation(fields, "activation_function");
  read_vocabulary(fields, config);
  config->embedding = fields.size_or("word_embed_proj_dim", kMaxWidth, config->hidden);
  const bool norm_first = fields.flag_or("do_layer_norm_before", true);
  if (norm_first && config->embedding == config->hidden) return;
  // OPT-350m: norms after the residuals, and words of another width.
  LayerPart layer;
  layer.form = norm_first ? LayerForm::kPreNorm : LayerForm::kLastNorm;
  layer.mixer.heads = layer.mixer.kv_heads = config->heads;
  layer.mixer.head_dim = layer.mixer.value_dim = config->head_dim =
      std::max<std::int64_t>(1, config->hidden / config->heads);
  layer.mixer.qkv_bias = layer.mixer.output_bias = layer.feed_forward.bias = true;
  layer.feed_forward.gated = false;
  layer.feed_forward.activation = fields.text("activation_function");
  layer.feed_forward.intermediate = config->intermediate;
  config->parts_of_decoder.layer_norm = true;
  config->parts_of_decoder.layers.assign(static_cast<std::size_t>(config->layers), layer);
  if (config->hidden % config->heads != 0) {
    fields.problem("num_attention_heads",
                   "contradiction: a hidden size of " + std::to_string(config->hidden) +
                       " is no multiple of " + std::to_string(config->heads) + " heads");
  }
}

void read_bloom(JsonFields& fields, ModelConfig* config) {
  config->layers = fields.size("n_layer", kMaxLayers);
  config->hidden = either_size(fields, "hidden_size", "n_embed", kMaxWidth);
  config->heads = either_size(fields, "n_head", "num_attention_heads", kMaxHeads);
  config->intermediate = 4 * config->hidden;
  config->max_seq_len = fields.size_or("seq_length", kMaxPositions, 2048);
  config->activation = Activation::kGeluTanh;
  config->position_kind = Positions::kAlibi;
  config->fused_qkv = true;
  config->embedding_norm = true;
  read_vocabulary(fields, config);
}

}  // namespace

std::vector<ModelType> decoder_model_types() {
  const std::vector<HeadName> gpt2_heads{
      {"Model", Head::kNone}, {"LMHeadModel", Head::kCausalLm}, kScores};
  return {
      {"gpt2", "GPT2", gpt2_heads, read_gpt2, true},
      {"gptj", "GPTJ", kForCausalLm, read_gptj, false},
      {"gpt_neox", "GPTNeoX", kForCausalLm, read_gpt_neox, false},
      {"opt", "OPT", kForCausalLm, read_opt, true},
      {"bloom", "Bloom", kForCausalLm, read_bloom, true},
      {"llama", "Llama", kForCausalLm, read_llama_alone, false},
      {"mistral", "Mistral", kForCausalLm, read_mistral, false},
      {"qwen2", "Qwen2", kForCausalLm, read_qwen2, false},
      {"qwen3", "Qwen3", kForCausalLm, read_qwen3, false},
  };
}

}  // namespace foretell

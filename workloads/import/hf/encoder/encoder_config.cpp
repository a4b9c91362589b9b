// config.json of the encoders. Field names and defaults are those of the transformers
// library; a default is used only where the published files of these networks leave the field out.
#include <algorithm>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/config/config_readers.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

constexpr HeadName kSequenceHead{"ForSequenceClassification", Head::kSequence};
constexpr HeadName kTokenHead{"ForTokenClassification", Head::kToken};
constexpr HeadName kQuestionHead{"ForQuestionAnswering", Head::kQuestion};
constexpr HeadName kMaskedLmHead{"ForMaskedLM", Head::kMaskedLm};

std::vector<HeadName> encoder_heads(Head plain) {
  return {{"Model", plain}, kMaskedLmHead, kSequenceHead, kTokenHead, kQuestionHead};
}

// Fields under the names that BERT uses and most others took over.
void read_sizes(JsonFields& fields, ModelConfig* config) {
  config->layers = fields.size("num_hidden_layers", kMaxLayers);
  config->hidden = config->embedding = fields.size("hidden_size", kMaxWidth);
  config->heads = fields.size("num_attention_heads", kMaxHeads);
  config->intermediate = fields.size("intermediate_size", kMaxWidth);
  config->vocab = fields.size("vocab_size", kMaxVocab);
  config->max_seq_len = fields.size("max_position_embeddings", kMaxPositions);
}

// Positions of the kind that the file states, `other` or a table.
void read_position_kind(JsonFields& fields, ModelConfig* config, const std::string& other,
                        Positions kind) {
  config->positions = config->max_seq_len;
  const std::string stated = fields.text_or("position_embedding_type", "absolute");
  if (stated == "absolute") return;
  if (stated == other) {
    config->position_kind = kind;
    config->positions = 0;
    return;
  }
  fields.problem(
      "position_embedding_type",
      "only 'absolute' " + (other.empty() ? "" : "and '" + other + "' ") + "can be imported");
}

void read_bert_sizes(JsonFields& fields, ModelConfig* config, const std::string& positions = "",
                     Positions kind = Positions::kLearned) {
  read_sizes(fields, config);
  read_position_kind(fields, config, positions, kind);
  config->token_types = fields.count_or("type_vocab_size", kMaxVocab, 2);
  config->activation = read_activation(fields, "hidden_act");
  if (fields.flag_or("is_decoder", false))
    fields.problem("is_decoder", "only false can be imported");
}

void read_bert(JsonFields& fields, ModelConfig* config) {
  read_bert_sizes(fields, config);
  read_labels(fields, config);
  if (fields.has("exit_probabilities") && config->layers > 1) {
    config->exits =
        fields.shares("exit_probabilities", static_cast<std::size_t>(config->layers - 1));
  }
  config->head_activation =
      config->head == Head::kMaskedLm ? config->activation : Activation::kTanh;
}

// Jina's BERT (arXiv 2310.19923): scores that fall with the distance, and a gate.
void read_jina(JsonFields& fields, ModelConfig* config) {
  read_bert_sizes(fields, config, "alibi", Positions::kAlibi);
  read_labels(fields, config);
  const std::string form = fields.text_or("feed_forward_type", "original");
  const std::vector<std::string> forms = {"original", "geglu", "reglu"};
  if (std::find(forms.begin(), forms.end(), form) == forms.end()) {
    fields.problem("feed_forward_type",
                   unknown_name("kind of feed-forward network", form, forms).what());
  }
  config->gated_ffn = form != "original";
  config->ffn_input_bias = !config->gated_ffn;
  if (form == "geglu") config->activation = Activation::kGelu;
  if (form == "reglu") config->activation = Activation::kRelu;
  // Its later code, which files name by what it norms.
  const JsonFields code = fields.part("auto_map");
  for (const std::string& name : code.names()) {
    JsonFields copy = code;
    if (copy.is_text(name) && copy.text(name).find("-qk-") != std::string::npos)
      config->qk_norm = true;
  }
  config->head_activation =
      config->head == Head::kMaskedLm ? config->activation : Activation::kTanh;
}

// Low-rank matrices of each task beside every matrix and table (Jina v3, arXiv 2409.10173). Engines
// add those of a task to the matrices once; those of all tasks are stored.
void read_adapters(JsonFields& fields, ModelConfig* config) {
  const auto tasks = static_cast<std::int64_t>(fields.texts("lora_adaptations").size());
  if (tasks == 0) return;
  const std::int64_t rank = fields.size_or("lora_rank", kMaxWidth, 4);
  const auto beside = [rank](std::int64_t in, std::int64_t out) { return rank * (in + out); };
  const std::int64_t width = config->hidden;
  const std::int64_t layer =
      beside(width, 3 * width) + beside(width, width) + 2 * beside(width, config->intermediate);
  const std::int64_t tables = beside(config->vocab, width) +
                              (config->token_types > 0 ? beside(config->token_types, width) : 0);
  const std::int64_t pooler = config->head == Head::kPooler ? beside(width, width) : 0;
  config->adapters = tasks * (config->layers * layer + tables + pooler);
  config->notes.push_back("lora_adaptations: the matrices of one of " + std::to_string(tasks) +
                          " tasks are taken as added to the others; all are stored");
}

// RoBERTa, CamemBERT, XLM-RoBERTa: positions start after the padding index.
void read_roberta(JsonFields& fields, ModelConfig* config) {
  read_bert_sizes(fields, config, "rotary", Positions::kRotary);
  read_labels(fields, config);
  read_adapters(fields, config);
  config->head_activation = config->head == Head::kMaskedLm ? Activation::kGelu : Activation::kTanh;
  const std::int64_t reserved = fields.count_or("pad_token_id", kMaxPositions, 1) + 1;
  config->max_seq_len -= reserved;
  if (config->max_seq_len < 1) {
    fields.problem("max_position_embeddings", "must be above " + std::to_string(reserved) +
                                                  ": that many positions are reserved for padding");
  }
}

void read_distilbert(JsonFields& fields, ModelConfig* config) {
  config->layers = fields.size("n_layers", kMaxLayers);
  config->hidden = fields.size("dim", kMaxWidth);
  config->heads = fields.size("n_heads", kMaxHeads);
  config->intermediate = fields.size("hidden_dim", kMaxWidth);
  config->vocab = fields.size("vocab_size", kMaxVocab);
  config->positions = fields.size("max_position_embeddings", kMaxPositions);
  config->activation = read_activation(fields, "activation");
  config->embedding = config->hidden;
  config->max_seq_len = config->positions;
  read_labels(fields, config);
  config->head_activation =
      config->head == Head::kSequence ? Activation::kRelu : config->activation;
}

void read_albert(JsonFields& fields, ModelConfig* config) {
  read_bert(fields, config);
  config->embedding = fields.size("embedding_size", kMaxWidth);
  config->shared_layers = true;
  for (const char* key : {"num_hidden_groups", "inner_group_num"}) {
    if (fields.size_or(key, kMaxLayers, 1) != 1) {
      fields.problem(key, "only 1 can be imported: all layers share one set of weights");
    }
  }
}

void read_electra(JsonFields& fields, ModelConfig* config) {
  read_bert_sizes(fields, config);
  read_labels(fields, config);
  config->embedding = fields.size("embedding_size", kMaxWidth);
  config->head_activation =
      config->head == Head::kDiscriminator ? config->activation : Activation::kGelu;
}

// MPNet: what distances add to scores is a table that all layers share.
void read_mpnet(JsonFields& fields, ModelConfig* config) {
  read_roberta(fields, config);
  config->token_types = 0;
  config->relative_buckets = fields.size_or("relative_attention_num_buckets", kMaxPositions, 32);
}

// "c2p|p2c", or a list of the two.
void read_place_kinds(JsonFields& fields, DisentangledConfig* places) {
  constexpr std::string_view kKey = "pos_att_type";
  std::vector<std::string> kinds =
      fields.is_text(kKey) ? split(fields.text(kKey), '|') : fields.texts(kKey);
  for (const std::string& kind : kinds) {
    if (kind == "c2p") {
      places->word_to_place = true;
    } else if (kind == "p2c") {
      places->place_to_word = true;
    } else {
      fields.problem(kKey, unknown_name("kind of position in scores", kind, {"c2p", "p2c"}).what());
    }
  }
}

// DeBERTa v2 and v3.
void read_deberta_v2(JsonFields& fields, ModelConfig* config) {
  read_bert_sizes(fields, config);
  read_labels(fields, config);
  config->token_types = fields.count_or("type_vocab_size", kMaxVocab, 0);
  config->embedding = fields.size_or("embedding_size", kMaxWidth, config->hidden);
  config->head_activation = fields.has("pooler_hidden_act")
                                ? read_activation(fields, "pooler_hidden_act")
                                : Activation::kGelu;
  if (!fields.flag_or("position_biased_input", true)) {
    config->positions = 0;  // the weights set no limit
    config->max_seq_len = kMaxSequence;
  }
  const std::int64_t columns = fields.count_or("attention_head_size", kMaxWidth, 0);
  if (columns > 0 && columns * config->heads != config->hidden) {
    fields.problem("attention_head_size", "times num_attention_heads is not hidden_size");
  }
  if (!fields.flag_or("relative_attention", false)) return;
  DisentangledConfig& places = config->disentangled;
  read_place_kinds(fields, &places);
  const double stated = fields.number_or("max_relative_positions", -1);
  const std::int64_t longest = fields.size("max_position_embeddings", kMaxPositions);
  const double buckets = fields.number_or("position_buckets", -1);
  places.places = 2 * (buckets >= 1  ? fields.size("position_buckets", kMaxPositions)
                       : stated >= 1 ? fields.size("max_relative_positions", kMaxPositions)
                                     : longest);
  places.norm = fields.text_or("norm_rel_ebd", "none").find("layer_norm") != std::string::npos;
  places.shares_projections = fields.flag_or("share_att_key", false);
  places.conv_kernel = fields.count_or("conv_kernel_size", kMaxPositions, 0);
  if (places.conv_kernel > 0 && fields.has("conv_act"))
    places.conv_activation = read_activation(fields, "conv_act");
  if (places.conv_kernel > 0 && fields.size_or("conv_groups", kMaxWidth, 1) != 1)
    fields.problem("conv_groups", "only 1 can be imported");
}

// The first DeBERTa: projections of places in every layer, and keys without biases.
void read_deberta(JsonFields& fields, ModelConfig* config) {
  read_deberta_v2(fields, config);
  config->key_bias = false;
  if (fields.flag_or("talking_head", false))
    fields.problem("talking_head", "only false can be imported");
}

// ModernBERT. The window is stated with the tokens on both sides; its own comes on top.
void read_modern(JsonFields& fields, ModelConfig* config) {
  constexpr std::int64_t kUsualWindow = 128;
  config->layers = fields.size("num_hidden_layers", kMaxLayers);
  config->hidden = fields.size("hidden_size", kMaxWidth);
  config->heads = fields.size("num_attention_heads", kMaxHeads);
  config->intermediate = fields.size("intermediate_size", kMaxWidth);
  config->vocab = fields.size("vocab_size", kMaxVocab);
  config->activation = read_activation(fields, "hidden_activation");
  config->head_activation = fields.has("classifier_activation")
                                ? read_activation(fields, "classifier_activation")
                                : Activation::kGelu;
  config->embedding = config->hidden;
  config->embedding_norm = true;
  config->position_kind = Positions::kRotary;
  config->max_seq_len = fields.size("max_position_embeddings", kMaxPositions);
  config->all_tokens_every = fields.size_or("global_attn_every_n_layers", kMaxLayers, 3);
  const std::int64_t around = fields.size_or("local_attention", kMaxPositions, kUsualWindow);
  if (around % 2 != 0) fields.problem("local_attention", "must be even: half of it on each side");
  config->window = around + 1;
  config->attention_bias = fields.flag_or("attention_bias", false);
  config->ffn_bias = fields.flag_or("mlp_bias", false);
  if (fields.flag_or("norm_bias", false)) fields.problem("norm_bias", "only false can be imported");
}

// EuroBERT: layers of Llama whose tokens see all others.
void read_eurobert(JsonFields& fields, ModelConfig* config) {
  read_sizes(fields, config);
  config->kv_heads = fields.size_or("num_key_value_heads", kMaxHeads, config->heads);
  config->activation = read_activation(fields, "hidden_act");
  config->norm = Norm::kRmsNorm;
  config->position_kind = Positions::kRotary;
  config->all_tokens_every = 1;
  config->attention_bias = fields.flag_or("attention_bias", false);
  config->ffn_bias = config->head_bias = fields.flag_or("mlp_bias", false);
  check_rotation_kind(fields);
}

// The network of GTE v1.5 ("new", "gte"): a BERT with rotary positions and a gate.
void read_gte(JsonFields& fields, ModelConfig* config) {
  read_sizes(fields, config);
  config->token_types = fields.count_or("type_vocab_size", kMaxVocab, 0);
  config->activation = read_activation(fields, "hidden_act");
  const std::string positions = fields.text_or("position_embedding_type", "rope");
  if (positions != "rope" && positions != "absolute") {
    fields.problem("position_embedding_type",
                   unknown_name("kind of positions", positions, {"rope", "absolute"}).what());
  }
  config->position_kind = positions == "rope" ? Positions::kRotary : Positions::kLearned;
  if (positions == "absolute") config->positions = config->max_seq_len;
  config->gated_ffn = true;
  config->ffn_input_bias = false;
  if (fields.text_or("layer_norm_type", "layer_norm") != "layer_norm")
    fields.problem("layer_norm_type", "only 'layer_norm' can be imported");
  check_rotation_kind(fields);
  read_labels(fields, config);
  config->head_activation =
      config->head == Head::kMaskedLm ? config->activation : Activation::kTanh;
}

// Version 2: experts in one of several layers.
void read_nomic_experts(JsonFields& fields, ModelConfig* config) {
  if (fields.count_or("num_experts", kMaxVocab, 0) == 0) return;
  const std::int64_t every = fields.count_or("moe_every_n_layers", kMaxLayers, 0);
  if (every == 0) return;
  config->experts = fields.size("num_experts", kMaxVocab);
  config->experts_per_token = fields.size("moe_top_k", kMaxVocab);
  config->experts_every = every;
  if (config->experts_per_token > config->experts)
    fields.problem("moe_top_k", "is more than the experts of num_experts");
  if (config->gated_ffn)
    fields.problem("activation_function", "with experts, only 'gelu' can be imported");
  if (fields.count_or("num_shared_experts", kMaxLayers, 0) > 0)
    fields.problem("num_shared_experts", "only 0 can be imported");
  if (fields.flag_or("expert_choice_router", false))
    fields.problem("expert_choice_router", "only false can be imported: tokens choose experts");
}

// nomic-bert: a BERT with rotary positions and a gate. Its fields have the names of GPT-2's.
void read_nomic(JsonFields& fields, ModelConfig* config) {
  config->layers = fields.size("n_layer", kMaxLayers);
  config->hidden = config->embedding = fields.size("n_embd", kMaxWidth);
  config->heads = fields.size("n_head", kMaxHeads);
  config->intermediate = fields.size("n_inner", kMaxWidth);
  config->vocab = fields.size("vocab_size", kMaxVocab);
  config->token_types = fields.count_or("type_vocab_size", kMaxVocab, 2);
  config->max_seq_len = fields.size("n_positions", kMaxPositions);
  config->position_kind = Positions::kRotary;
  config->qkv_bias = config->attention_bias = fields.flag_or("qkv_proj_bias", true);
  config->ffn_bias = fields.flag_or("mlp_fc1_bias", true);
  if (fields.flag_or("mlp_fc2_bias", config->ffn_bias) != config->ffn_bias) {
    fields.problem("mlp_fc2_bias", "only that of mlp_fc1_bias can be imported");
  }
  const std::string activation = fields.text("activation_function");
  config->gated_ffn = activation == "swiglu";
  config->activation =
      config->gated_ffn ? Activation::kSilu : read_activation(fields, "activation_function");
  if (fields.number_or("rotary_emb_fraction", 1) != 1) {
    fields.problem("rotary_emb_fraction", "only 1 can be imported: whole heads are rotated");
  }
  if (fields.flag_or("prenorm", false)) fields.problem("prenorm", "only false can be imported");
  if (fields.flag_or("use_rms_norm", false))
    fields.problem("use_rms_norm", "only false can be imported");
  read_nomic_experts(fields, config);
  config->head_activation =
      config->head == Head::kMaskedLm ? config->activation : Activation::kTanh;
}

// XLNet. Positions are relative, so the weights set no limit.
void read_xlnet(JsonFields& fields, ModelConfig* config) {
  config->layers = fields.size("n_layer", kMaxLayers);
  config->hidden = config->embedding = fields.size("d_model", kMaxWidth);
  config->heads = fields.size("n_head", kMaxHeads);
  config->intermediate = fields.size("d_inner", kMaxWidth);
  config->vocab = fields.size("vocab_size", kMaxVocab);
  config->activation = read_activation(fields, "ff_activation");
  config->position_kind = Positions::kRelative;
  config->max_seq_len = kMaxSequence;
  config->qkv_bias = config->attention_bias = false;
  const std::int64_t columns = fields.size_or("d_head", kMaxWidth, 0);
  if (columns > 0 && columns * config->heads != config->hidden)
    fields.problem("d_head", "times n_head is not d_model");
  if (fields.text_or("attn_type", "bi") != "bi")
    fields.problem("attn_type", "only 'bi' can be imported: every token sees all");
  if (!fields.flag_or("untie_r", true))
    fields.problem("untie_r", "only true can be imported: layers have biases of their own");
}

}  // namespace

void read_labels(JsonFields& fields, ModelConfig* config) {
  const auto named = static_cast<std::int64_t>(fields.entries("id2label"));
  config->labels = fields.size_or("num_labels", kMaxWidth, named > 0 ? named : 2);
}

std::vector<ModelType> encoder_model_types() {
  const HeadName discriminator{"ForPreTraining", Head::kDiscriminator};
  std::vector<HeadName> electra_heads = encoder_heads(Head::kNone);
  electra_heads.push_back(discriminator);
  std::vector<HeadName> xlm_heads = encoder_heads(Head::kPooler);
  xlm_heads.push_back({"LoRA", Head::kPooler});  // Jina v3
  return {
      {"bert", "Bert", encoder_heads(Head::kPooler), read_bert, true},
      {"roberta", "Roberta", encoder_heads(Head::kPooler), read_roberta, true},
      {"camembert", "Camembert", encoder_heads(Head::kPooler), read_roberta, true},
      {"xlm-roberta", "XLMRoberta", xlm_heads, read_roberta, true},
      {"jina_bert", "JinaBert", encoder_heads(Head::kPooler), read_jina, true},
      {"distilbert", "DistilBert", encoder_heads(Head::kNone), read_distilbert, true},
      {"albert", "Albert", encoder_heads(Head::kPooler), read_albert, true},
      {"electra", "Electra", electra_heads, read_electra, true},
      {"mpnet", "MPNet", encoder_heads(Head::kPooler), read_mpnet, true},
      {"deberta", "Deberta", encoder_heads(Head::kNone), read_deberta, true},
      {"deberta-v2", "DebertaV2", encoder_heads(Head::kNone), read_deberta_v2, true},
      {"eurobert", "EuroBert", {{"Model", Head::kNone}, kMaskedLmHead}, read_eurobert, false},
      {"new", "New", encoder_heads(Head::kNone), read_gte, true},
      {"gte", "Gte", encoder_heads(Head::kNone), read_gte, true},
      {"xlnet", "XLNet", {{"Model", Head::kNone}}, read_xlnet, false},
      {"nomic_bert", "NomicBert", {{"Model", Head::kNone}}, read_nomic, true},
      {"modernbert", "ModernBert", {{"Model", Head::kNone}, kMaskedLmHead}, read_modern, true},
  };
}

}  // namespace foretell

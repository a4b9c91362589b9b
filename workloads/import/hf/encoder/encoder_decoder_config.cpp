// config.json of networks of an encoder and a decoder: T5 (1.0: one ReLU layer, tied table), T5 1.1
// and Flan-T5 (gated GELU, a vocabulary projection of its own), Whisper, BART, mBART, Pegasus,
// Marian, M2M-100 and NLLB, T5Gemma.
#include <algorithm>

#include "model/base/text.hpp"
#include "workloads/import/hf/config/config_readers.hpp"
#include "workloads/import/hf/config/plain_fields.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kRelativeBuckets = 32;  // of T5's class, where a file says nothing

void read_feed_forward(JsonFields& fields, ModelConfig* config) {
  const std::string given = fields.text("feed_forward_proj");
  if (given == "relu") {
    config->activation = Activation::kRelu;
  } else if (given == "gated-gelu") {
    config->activation = Activation::kGeluTanh;
    config->gated_ffn = true;
  } else if (!given.empty()) {
    fields.problem("feed_forward_proj",
                   "is '" + given + "'; 'relu' and 'gated-gelu' can be imported");
  }
}

void read_t5(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kEncoderDecoder;
  config->layers = fields.size("num_layers", kMaxLayers);
  config->decoder_layers = fields.size_or("num_decoder_layers", kMaxLayers, config->layers);
  config->hidden = fields.size("d_model", kMaxWidth);
  config->heads = fields.size("num_heads", kMaxHeads);
  config->head_dim = fields.size("d_kv", kMaxWidth);
  config->intermediate = fields.size("d_ff", kMaxWidth);
  config->vocab = fields.size("vocab_size", kMaxVocab);
  config->embedding = config->hidden;
  config->relative_buckets =
      fields.size_or("relative_attention_num_buckets", kMaxPositions, kRelativeBuckets);
  config->position_kind = Positions::kRelative;
  // Positions are relative, so the weights set no limit; the published files name the length the
  // network was trained at, which users exceed. What is refused is what no memory holds.
  config->max_seq_len = kMaxSequence;
  config->norm = Norm::kRmsNorm;
  config->qkv_bias = config->attention_bias = config->ffn_bias = false;
  read_feed_forward(fields, config);
}

// The encoder alone, as image generators read texts with it.
void read_t5_by_class(JsonFields& fields, ModelConfig* config) {
  read_t5(fields, config);
  if (!ends_with(config->architecture, "EncoderModel")) return;
  config->family = Family::kEncoder;
  config->decoder_layers = 0;
}

// What stacks of Whisper and BART have in common: learned positions and layer norms, with biases.
void read_two_stacks(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kEncoderDecoder;
  config->layers = fields.size("encoder_layers", kMaxLayers);
  config->decoder_layers = fields.size("decoder_layers", kMaxLayers);
  fields.size_or("num_hidden_layers", kMaxLayers, config->layers);  // those of the encoder again
  config->hidden = config->embedding = fields.size("d_model", kMaxWidth);
  config->heads = fields.size("decoder_attention_heads", kMaxHeads);
  config->kv_heads = config->heads;
  config->intermediate = fields.size("decoder_ffn_dim", kMaxWidth);
  config->vocab = fields.size("vocab_size", kMaxVocab);
  config->activation = read_activation(fields, "activation_function");
  EncoderConfig& encoder = config->encoder;
  encoder.hidden = config->hidden;
  encoder.heads = encoder.kv_heads = fields.size("encoder_attention_heads", kMaxHeads);
  encoder.intermediate = fields.size("encoder_ffn_dim", kMaxWidth);
  for (const char* key : {"encoder_attention_heads", "decoder_attention_heads"}) {
    const std::int64_t heads = fields.size_or(key, kMaxHeads, 1);
    if (config->hidden % heads != 0) {
      fields.problem(key, "contradiction: a d_model of " + std::to_string(config->hidden) +
                              " is no multiple of " + std::to_string(heads) + " heads");
    }
  }
  config->head_dim = std::max<std::int64_t>(1, config->hidden / config->heads);
  encoder.head_dim = std::max<std::int64_t>(1, config->hidden / encoder.heads);
}

// Whisper: the encoder hears windows of a fixed length, the decoder writes.
void read_whisper(JsonFields& fields, ModelConfig* config) {
  read_two_stacks(fields, config);
  config->max_seq_len = config->positions = fields.size("max_target_positions", kMaxPositions);
  config->key_bias = false;
  config->encoder.max_len = fields.size("max_source_positions", kMaxPositions);
  config->encoder.mel_bins = fields.size("num_mel_bins", kMaxWidth);
}

// What BART and its kin have where a file says nothing.
struct BartDefaults {
  bool norm_first = false;
  bool embedding_norm = true;
  std::int64_t reserved = 2;  // rows of the table of positions before the first
  bool sines = false;         // positions are sines and cosines
};

// Both stacks read words of one table.
void read_bart_of(JsonFields& fields, const BartDefaults& otherwise, ModelConfig* config) {
  read_two_stacks(fields, config);
  config->max_seq_len = fields.size("max_position_embeddings", kMaxPositions);
  config->positions = config->max_seq_len +
                      fields.count_or("extra_pos_embeddings", kMaxPositions, otherwise.reserved);
  config->encoder.max_len = config->max_seq_len;
  config->embedding_norm = fields.flag_or("normalize_embedding", otherwise.embedding_norm);
  config->post_norm = !fields.flag_or("normalize_before", otherwise.norm_first);
  if (fields.flag_or("add_final_layer_norm", !config->post_norm) == config->post_norm) {
    fields.problem("add_final_layer_norm",
                   "contradiction: a stack ends in a norm where normalize_before is true");
  }
  if (fields.flag_or("static_position_embeddings", otherwise.sines) != otherwise.sines) {
    fields.problem(
        "static_position_embeddings",
        std::string("only ") + (otherwise.sines ? "true" : "false") + " can be imported");
  }
}

void read_bart(JsonFields& fields, ModelConfig* config) {
  read_bart_of(fields, {false, true, 2, false}, config);
}

void read_mbart(JsonFields& fields, ModelConfig* config) {
  read_bart_of(fields, {true, true, 2, false}, config);
}

// Sines that lie in a table, which counts among the weights.
void read_pegasus(JsonFields& fields, ModelConfig* config) {
  read_bart_of(fields, {true, false, 0, true}, config);
}

void read_marian(JsonFields& fields, ModelConfig* config) {
  read_bart_of(fields, {false, false, 0, true}, config);
}

// M2M-100 and NLLB: sines that are made when the network is loaded.
void read_m2m(JsonFields& fields, ModelConfig* config) {
  read_bart_of(fields, {true, false, 2, true}, config);
  config->sine_positions = true;
}

// One of the two stacks of T5Gemma, both of which are layers of Gemma 2.
ModelConfig read_gemma_stack(JsonFields& fields, std::string_view key) {
  ModelConfig stack;
  JsonFields inner = fields.inside(key);
  PartsReader reader(inner, &stack);
  reader.read_rotation();
  reader.read_windows([](std::int64_t layer, std::int64_t every) { return layer % every == 0; }, 2,
                      4096);
  stack.activation = inner.has("hidden_activation") ? read_activation(inner, "hidden_activation")
                                                    : Activation::kGeluTanh;
  inner.count_or("cross_attention_hidden_size", kMaxWidth, 0);  // that of the encoder again
  inner.text_or("model_type", "");
  for (const std::string& name : fields_that_may_matter(inner.unread())) {
    stack.notes.push_back("not read, though the computation may depend on it: " + std::string(key) +
                          "." + name);
  }
  fields.take_problems(inner);
  return stack;
}

void read_t5gemma(JsonFields& fields, ModelConfig* config) {
  for (const char* key : {"encoder", "decoder"}) {
    if (!fields.is_object(key)) fields.problem(key, "must hold the sizes of that stack");
  }
  fields.check();
  const ModelConfig encoder = read_gemma_stack(fields, "encoder");
  const ModelConfig decoder = read_gemma_stack(fields, "decoder");
  fields.size_or("vocab_size", kMaxVocab, decoder.vocab);  // that of both stacks again
  config->family = Family::kEncoderDecoder;
  config->layers = encoder.layers;
  config->decoder_layers = decoder.layers;
  config->hidden = config->embedding = decoder.hidden;
  config->heads = decoder.heads;
  config->kv_heads = decoder.kv_heads;
  config->head_dim = decoder.head_dim;
  config->intermediate = decoder.intermediate;
  config->vocab = decoder.vocab;
  config->max_seq_len = decoder.max_seq_len;
  config->position_kind = Positions::kRotary;
  config->norm = Norm::kRmsNorm;
  config->norm_after = config->gated_ffn = true;
  const MixerPart& mixer = decoder.parts_of_decoder.layers.front().mixer;
  config->qkv_bias = config->attention_bias = mixer.qkv_bias;
  config->ffn_bias = false;
  config->activation = decoder.activation;
  for (const LayerPart& layer : decoder.parts_of_decoder.layers)
    config->decoder_windows.push_back(layer.mixer.window);
  config->encoder = {encoder.hidden,   encoder.heads,        encoder.kv_heads,
                     encoder.head_dim, encoder.intermediate, true,
                     encoder.vocab,    encoder.max_seq_len,  0};
  for (const ModelConfig* stack : {&encoder, &decoder})
    config->notes.insert(config->notes.end(), stack->notes.begin(), stack->notes.end());
  for (const LayerPart& layer : encoder.parts_of_decoder.layers) {
    if (layer.mixer.window == 0 || layer.mixer.window >= encoder.max_seq_len) continue;
    config->notes.push_back("windows of " + std::to_string(layer.mixer.window) +
                            " tokens in the encoder: all scores are computed, and masked");
    break;
  }
}

}  // namespace

std::vector<ModelType> encoder_decoder_types() {
  // The class without a head is stored without one more weight: the head is the table of words.
  const std::vector<HeadName> bart_heads{{"ForConditionalGeneration", Head::kCausalLm},
                                         {"Model", Head::kCausalLm}};
  const std::vector<HeadName> t5_heads{{"ForConditionalGeneration", Head::kCausalLm},
                                       {"EncoderModel", Head::kNone}};
  const std::vector<HeadName> marian_heads{{"MTModel", Head::kCausalLm},
                                           {"Model", Head::kCausalLm}};
  return {
      {"t5", "T5", t5_heads, read_t5_by_class, true},
      {"whisper", "Whisper", {{"ForConditionalGeneration", Head::kCausalLm}}, read_whisper, true},
      {"bart", "Bart", bart_heads, read_bart, true},
      {"mbart", "MBart", bart_heads, read_mbart, true},
      {"pegasus", "Pegasus", bart_heads, read_pegasus, true},
      {"marian", "Marian", marian_heads, read_marian, true},
      {"m2m_100", "M2M100", bart_heads, read_m2m, true},
      {"mt5", "MT5", t5_heads, read_t5_by_class, false},
      {"t5gemma", "T5Gemma", {{"ForConditionalGeneration", Head::kCausalLm}}, read_t5gemma, true}};
}

}  // namespace foretell

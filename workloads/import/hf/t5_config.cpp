// config.json of T5 (1.0: one ReLU layer, tied table) and of T5 1.1 and Flan-T5 (gated GELU, a
// vocabulary projection of its own).
#include "model/base/text.hpp"
#include "workloads/import/hf/config_readers.hpp"

namespace foretell {
namespace {

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
  config->relative_buckets = fields.size("relative_attention_num_buckets", kMaxPositions);
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

}  // namespace

std::vector<ModelType> t5_model_types() {
  return {{"t5",
           "T5",
           {{"ForConditionalGeneration", Head::kCausalLm}, {"EncoderModel", Head::kNone}},
           read_t5_by_class,
           true}};
}

}  // namespace foretell

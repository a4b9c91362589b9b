// A network as its published Hugging Face config.json describes it, checked and typed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

// Which graph builder a network needs.
enum class Family {
  kEncoder,  // post-norm encoder: BERT, RoBERTa, CamemBERT, XLM-RoBERTa, DistilBERT, ALBERT,
             // ELECTRA
  kGpt2,     // pre-norm decoder with fused QKV, run as one full forward pass
};

enum class Activation { kGelu, kGeluTanh, kRelu, kSilu, kTanh };

// What stands on top of the last block.
enum class Head {
  kNone,           // the hidden states are the output
  kPooler,         // also: dense + tanh of the first token
  kSequence,       // class logits of the first token: dense + activation + classifier
  kToken,          // class logits of every token
  kQuestion,       // start and end logits of every token
  kMaskedLm,       // vocabulary logits of every token through a transform
  kDiscriminator,  // one logit per token: dense + activation + dense
  kCausalLm,       // vocabulary logits of every token
};

struct ModelConfig {
  std::string name;          // "bert-large-uncased"
  std::string file;          // where it was read from
  std::string published_as;  // its name on huggingface.co; empty for a file of the user's own
  std::string model_type;    // "bert"
  std::string architecture;  // "BertModel"; empty: not stated, the plain model
  Family family = Family::kEncoder;
  Head head = Head::kNone;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;      // heads * head_dim = hidden
  std::int64_t intermediate = 0;  // width of the feed-forward layer
  std::int64_t vocab = 0;
  std::int64_t embedding = 0;    // width of the embedding tables; unlike hidden: projected
  std::int64_t positions = 0;    // rows of the position table
  std::int64_t max_seq_len = 0;  // positions less the rows that are reserved for padding
  std::int64_t token_types = 0;  // rows of the token type table; 0: no such table
  std::int64_t labels = 0;       // of a classification head
  Activation activation = Activation::kGelu;
  Activation head_activation = Activation::kTanh;  // between the two layers of the head
  bool shared_layers = false;                      // one set of weights for all blocks (ALBERT)
  bool tied_embeddings = true;                     // the vocabulary logits reuse the word table
};

// Reads one config.json. `name` is what the network is called in reports, `file` stands in
// messages. UserError lists everything that is wrong with it: syntax, unsupported architecture,
// missing, contradictory and out-of-range fields.
ModelConfig parse_model_config(const std::string& text, const std::string& name,
                               const std::string& file);

// The values of model_type that can be imported.
std::vector<std::string> supported_model_types();

std::string_view to_string(Activation activation);

}  // namespace foretell

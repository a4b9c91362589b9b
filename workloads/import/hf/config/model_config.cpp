#include "workloads/import/hf/config/model_config.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/config/architecture.hpp"
#include "workloads/import/hf/config/config_readers.hpp"
#include "workloads/import/hf/config/plain_fields.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

constexpr const char* kDescribeIt =
    "; an architecture.yaml beside it can describe one of known parts; start from one in that list";

// Those with a reader in C++; the others are described as data.
const std::vector<ModelType>& model_types() {
  static const std::vector<ModelType> kTypes = [] {
    std::vector<ModelType> all = encoder_model_types();
    for (const auto& more :
         {decoder_model_types(), plain_network_types(), dense_network_types(),
          expert_network_types(), grouped_network_types(), scan_network_types(),
          latent_network_types(), linear_network_types(), encoder_decoder_types(),
          vision_model_types(), vision_transformer_model_types(), diffusion_model_types(),
          denoiser_model_types()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return kTypes;
}

struct ActivationName {
  std::string_view name;
  Activation activation;
};

// Names of the transformers library; several stand for the same function. quick_gelu is
// x * sigmoid(1.702 * x), a Silu with a constant.
constexpr std::array<ActivationName, 9> kActivations{{{"gelu", Activation::kGelu},
                                                      {"quick_gelu", Activation::kSilu},
                                                      {"gelu_new", Activation::kGeluTanh},
                                                      {"gelu_fast", Activation::kGeluTanh},
                                                      {"gelu_pytorch_tanh", Activation::kGeluTanh},
                                                      {"relu", Activation::kRelu},
                                                      {"silu", Activation::kSilu},
                                                      {"swish", Activation::kSilu},
                                                      {"tanh", Activation::kTanh}}};

// The class whose name starts with the longest prefix: "XLMRobertaModel" is no "RobertaModel".
const ModelType* type_of_architecture(const std::string& architecture,
                                      const std::vector<ModelType>& types) {
  const ModelType* best = nullptr;
  for (const ModelType& type : types) {
    if (!starts_with(architecture, type.class_prefix)) continue;
    if (best == nullptr || type.class_prefix.size() > best->class_prefix.size()) best = &type;
  }
  return best;
}

std::vector<ModelType> all_model_types() {
  std::vector<ModelType> types = model_types();
  for (const std::string& name : described_architectures())
    types.push_back(type_of(load_architecture(file_of_architecture(name))));
  return types;
}

// "qwen3_vl_text" is the text part of "qwen3_vl". `own`: of the user's; null: none.
std::optional<ModelType> find_type(std::string_view name, const Architecture* own = nullptr) {
  constexpr std::string_view kText = "_text";
  for (const ModelType& type : model_types()) {
    if (type.model_type == name) return type;
  }
  const std::string file = file_of_architecture(name);
  if (!file.empty()) return type_of(load_architecture(file));
  if (own != nullptr && own->model_type == name) return type_of(*own);
  if (!ends_with(name, kText)) return std::nullopt;
  return find_type(name.substr(0, name.size() - kText.size()), own);
}

// Exactly this class of decoders: "DeepseekV4ForCausalLM".
std::optional<ModelType> type_of_decoder(const std::string& architecture) {
  if (architecture.empty()) return std::nullopt;
  for (const ModelType& type : all_model_types()) {
    if (!type.heads.empty() || !starts_with(architecture, type.class_prefix)) continue;
    const std::string rest = architecture.substr(type.class_prefix.size());
    if (rest == "ForCausalLM" || rest == "ForConditionalGeneration") return type;
  }
  return std::nullopt;
}

// Refuses architectures of which it is known what they need beyond what can be built.
void check_missing(const std::string& name, const std::string& file) {
  const std::string part = missing_part(name);
  if (part.empty()) return;
  throw UserError(file + ": model_type: architecture '" + name +
                  "' cannot be imported; missing is " + part +
                  "; `foretell list architectures` shows all that can be imported");
}

ModelType choose_type(JsonFields& fields, const ModelConfig& config) {
  const std::string& file = config.file;
  const std::string& architecture = config.architecture;
  const std::string all = "; `foretell list architectures` shows all that can be imported";
  if (!fields.has("model_type")) {
    const std::vector<ModelType> types = all_model_types();
    const ModelType* type = type_of_architecture(architecture, types);
    if (type != nullptr) return *type;
    throw UserError(file + ": model_type: is missing" + all);
  }
  const std::string name = fields.text("model_type");
  fields.check();
  if (const std::optional<ModelType> type = find_type(name, config.own_architecture.get())) {
    // "JinaBertModel" of "bert": a network of its own with the model_type of what it began as.
    const ModelType* own = type_of_architecture(architecture, model_types());
    const bool is_variant = own != nullptr && own->class_prefix != type->class_prefix &&
                            own->class_prefix == "Jina" + type->class_prefix;
    return is_variant ? *own : *type;
  }
  if (const std::optional<ModelType> type = type_of_decoder(architecture)) return *type;
  check_missing(name, file);
  const std::string nearest = nearest_name(name, supported_model_types());
  throw UserError(file + ": model_type: architecture '" + name + "' cannot be imported" +
                  (nearest.empty() ? "" : "; nearest is '" + nearest + "'") + all + kDescribeIt);
}

// Classes of decoders differ from release to release. Of those that generate no tokens, the ones
// that score a text (rerankers, reward models) are read.
Head head_of_decoder(JsonFields& fields, const std::string& architecture) {
  if (ends_with(architecture, "ForSequenceClassification")) return Head::kSequence;
  for (const char* other :
       {"ForTokenClassification", "ForQuestionAnswering", "RewardModel", "ForMaskedLM"}) {
    if (!ends_with(architecture, other)) continue;
    fields.problem("architectures", "'" + architecture +
                                        "' generates no tokens and cannot be imported; classes "
                                        "that end in ForCausalLM or ForSequenceClassification can");
  }
  return Head::kCausalLm;
}

Head choose_head(JsonFields& fields, const ModelType& type, const std::string& architecture) {
  if (type.heads.empty()) return head_of_decoder(fields, architecture);
  if (architecture.empty()) return type.heads.front().head;
  std::vector<std::string> supported;
  for (const HeadName& head : type.heads) {
    supported.push_back(type.class_prefix + std::string(head.suffix));
    if (supported.back() == architecture) return head.head;
  }
  fields.problem("architectures", "'" + architecture +
                                      "' cannot be imported; supported with model_type '" +
                                      type.model_type + "' are: " + join(supported, ", "));
  return type.heads.front().head;
}

void check_parts(const ModelConfig& config) {
  for (std::size_t i = 0; i < config.parts_of_decoder.layers.size(); ++i) {
    const MixerPart& mixer = config.parts_of_decoder.layers[i].mixer;
    if (mixer.kind == MixerKind::kNone || mixer.heads % mixer.kv_heads == 0) continue;
    throw UserError(config.file + ": contradiction: " + std::to_string(mixer.heads) +
                    " query heads of layer " + std::to_string(i) + " cannot share " +
                    std::to_string(mixer.kv_heads) + " key and value heads evenly");
  }
}

void note_projection(std::int64_t columns, ModelConfig* config) {
  config->notes.push_back("the projection to " + std::to_string(columns) +
                          " columns for each token is left out");
}

// Low-rank matrices beside those of the network, and a projection after it, in files of their own.
void note_other_files(JsonFields& fields, ModelConfig* config) {
  for (const char* key : {"task_names", "has_lora_adapter"}) {
    if (!fields.is_on(key)) continue;
    config->notes.push_back(
        std::string(key) +
        ": adapters (LoRA), which are files of their own, are left out: a call is that of the "
        "network without them, or with one added to its matrices");
  }
  if (!fields.has("multi_vector_projector_dim")) return;
  config->notes.push_back("the projection to " +
                          std::to_string(fields.size("multi_vector_projector_dim", kMaxWidth)) +
                          " columns for each token is left out");
}

// What a file says of the computation and was not read is said; so is nothing that changes none.
void note_unread(const JsonFields& fields, ModelConfig* config) {
  const std::vector<std::string> unread = fields.unread();
  if (std::find(unread.begin(), unread.end(), "vision_config") != unread.end()) {
    config->notes.emplace_back(
        "vision_config is not read: a step is that of the text, without the tower for images");
  }
  std::vector<std::string> unknown = fields_that_may_matter(unread);
  if (fields.has("use_sliding_window") && !fields.is_on("use_sliding_window")) {
    unknown.erase(std::remove(unknown.begin(), unknown.end(), "sliding_window"), unknown.end());
  }
  if (unknown.empty()) return;
  constexpr std::size_t kMostNamed = 40;
  const std::size_t more = unknown.size() - std::min(unknown.size(), kMostNamed);
  unknown.resize(unknown.size() - more);
  config->notes.push_back(
      "not read, though the computation may depend on it: " + join(unknown, ", ") +
      (more > 0 ? " and " + std::to_string(more) + " more" : ""));
}

// Fills in what follows from other fields: columns per head and heads of keys and values.
void resolve_heads(JsonFields& fields, ModelConfig* config) {
  const std::string heads = std::to_string(config->heads);
  const std::string hidden = std::to_string(config->hidden);
  if (config->kv_heads == 0) config->kv_heads = config->heads;
  if (!config->parts_of_decoder.empty()) return check_parts(*config);
  if (config->heads % config->kv_heads != 0) {
    throw UserError(config->file + ": contradiction: " + heads + " query heads cannot share " +
                    std::to_string(config->kv_heads) + " key and value heads evenly");
  }
  if (fields.has("head_dim")) config->head_dim = fields.size("head_dim", kMaxWidth);
  const bool free = config->family != Family::kEncoder;  // a stated width is the network's choice
  if (config->head_dim == 0) {
    if (config->hidden % config->heads != 0) {
      throw UserError(config->file + ": contradiction: a hidden size of " + hidden +
                      " is no multiple of " + heads + " heads" +
                      (free ? " (and no head_dim is stated)" : ""));
    }
    config->head_dim = config->hidden / config->heads;
  } else if (!free && config->heads * config->head_dim != config->hidden) {
    fields.problem("head_dim", "contradiction: " + heads + " heads of " +
                                   std::to_string(config->head_dim) +
                                   " do not make a hidden size of " + hidden);
  }
}

void read_as(const ModelType& type, JsonFields& fields, ModelConfig* config) {
  config->head = choose_head(fields, type, config->architecture);
  fields.check();
  type.read(fields, config);
  if (scores_texts(*config)) read_labels(fields, config);
  config->tied_embeddings =
      fields.flag_or("tie_word_embeddings", fields.flag_or("tie_embedding", type.tied_embeddings));
}

// Towers of texts and of images that are compared, and no decoder.
bool has_two_towers(JsonFields& fields) {
  if (!fields.is_text("model_type")) return false;
  const std::string type = fields.text("model_type");
  return starts_with(type, "clip") || starts_with(type, "siglip");
}

// Where a network for texts and images keeps the fields of its decoder; "": at the top.
std::string_view text_field(const JsonFields& fields) {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    if (fields.is_object(key)) return key;
  }
  return "";
}

// A decoder of another kind than the network around it, which cannot say how to read it.
void check_text_type(const JsonFields& inner, const std::string& outer, std::string_view place,
                     const ModelConfig& config) {
  JsonFields copy = inner;
  const std::string name = inner.is_text("model_type") ? copy.text("model_type") : "";
  const Architecture* own = config.own_architecture.get();
  if (name.empty() || starts_with(name, outer) || !find_type(outer, own)) return;
  const std::string part = missing_part(name);
  const std::string nearest = nearest_name(name, supported_model_types());
  throw UserError(config.file + ": " + std::string(place) + ": model_type: architecture '" + name +
                  "' cannot be imported" + (part.empty() ? "" : "; missing is " + part) +
                  (nearest.empty() ? "" : "; nearest is '" + nearest + "'") +
                  "; `foretell list architectures` shows all that can be imported");
}

// Readers of decoders alone, and of the same beside a tower, whose files may leave sizes out.
constexpr std::array<std::array<std::string_view, 2>, 4> kBesideTowers{
    {{"llama", "llama_in_parts"},
     {"mistral", "mistral_in_parts"},
     {"qwen2", "qwen2_in_parts"},
     {"qwen3", "qwen3_vl"}}};

// A decoder whose fields stand in `text_config`, with what stands around them.
void read_nested(JsonFields& fields, ModelConfig* config) {
  const std::string outer = fields.is_text("model_type") ? fields.text("model_type") : "";
  const Architecture* own = config->own_architecture.get();
  if (!find_type(outer, own)) check_missing(outer, config->file);
  JsonFields inner = fields.inside(text_field(fields));
  std::optional<ModelType> type;
  if (inner.is_text("model_type")) type = find_type(inner.text("model_type"), own);
  for (const auto& [alone, beside] : kBesideTowers) {
    if (type && type->model_type == alone) type = find_type(beside);
  }
  if (!type) {
    check_text_type(inner, outer, text_field(fields), *config);
    type = choose_type(fields, *config);
  }
  config->model_type = fields.text_or("model_type", type->model_type);
  config->architecture =
      inner.texts("architectures").empty() ? "" : inner.texts("architectures").front();
  if (!type->heads.empty()) config->architecture.clear();
  read_as(*type, inner, config);
  if (!type->heads.empty()) config->head = Head::kCausalLm;
  if (fields.has("tie_word_embeddings") && !inner.has("tie_word_embeddings"))
    config->tied_embeddings = fields.flag_or("tie_word_embeddings", false);
  read_checkpoint_format(inner, config);
  read_vision_tower(fields, config);
  read_audio_tower(fields, config);
  for (const std::string& key : inner.names()) fields.has(key);  // what the decoder states counts
  for (const char* key : {"vocab_size", "hidden_size"}) fields.has(key);
  fields.take_problems(inner);
  note_unread(inner, config);
}

// A decoder, or one beside a tower, in the place of the whole.
void read_whole(JsonFields& fields, ModelConfig* config) {
  if (!text_field(fields).empty() && !has_two_towers(fields)) return read_nested(fields, config);
  const ModelType type = choose_type(fields, *config);
  read_as(type, fields, config);
  config->model_type = type.model_type;
  if (config->family == Family::kDecoder) read_vision_tower(fields, config);
}

// ColPali, ColQwen: a matrix of few columns after a network that reads texts and images.
void read_retriever(JsonFields& fields, ModelConfig* config) {
  JsonFields inner = fields.inside("vlm_config");
  const std::vector<std::string> classes = inner.texts("architectures");
  config->architecture = classes.empty() ? "" : classes.front();
  read_whole(inner, config);
  note_projection(fields.size_or("embedding_dim", kMaxWidth, 128), config);
  fields.take_problems(inner);
  note_unread(inner, config);
}

// An architecture of the user's is that of the network or of its decoder, and no other has its
// name.
void check_own(const Architecture& own, const JsonFields& fields, const std::string& file) {
  const std::string where = own.where + ": model_type: '" + own.model_type + "'";
  if (find_type(own.model_type)) {
    throw UserError(where +
                    " can be imported without this file, and is: remove the file, or give another "
                    "model_type here and in " +
                    file);
  }
  JsonFields copy = fields;
  std::vector<std::string> names;
  if (copy.is_text("model_type")) names.push_back(copy.text("model_type"));
  if (!text_field(copy).empty()) {
    JsonFields inner = copy.inside(text_field(copy));
    if (inner.is_text("model_type")) names.push_back(inner.text("model_type"));
  }
  for (std::string& name : names) name = "'" + name + "'";
  if (std::find(names.begin(), names.end(), "'" + own.model_type + "'") != names.end()) return;
  throw UserError(where + " is not that of " + file + ", which has " +
                  (names.empty() ? "none" : join(names, " and ")) + "; state the same in both");
}

// A network that hears, sees and speaks: the decoder that writes text is what is read.
void read_thinker(JsonFields& fields, ModelConfig* config) {
  const std::string type = fields.text_or("model_type", "");
  JsonFields thinker = fields.inside("thinker_config");
  if (!fields.is_object("thinker_config")) {
    fields.check();
  } else if (text_field(thinker).empty()) {
    thinker.problem("text_config", "must hold the sizes of the decoder");
  } else {
    read_nested(thinker, config);
    if (!type.empty()) config->model_type = type;
  }
  fields.take_problems(thinker);
  for (const char* part : {"talker_config", "token2wav_config", "code2wav_config"}) {
    if (fields.is_object(part))
      config->notes.push_back(std::string(part) + ": what makes speech of the text is left out");
  }
}

}  // namespace

Activation read_activation(JsonFields& fields, std::string_view key) {
  const std::string given = fields.text(key);
  std::vector<std::string> names;
  for (const ActivationName& row : kActivations) {
    if (row.name == given) return row.activation;
    names.emplace_back(row.name);
  }
  if (!given.empty()) fields.problem(key, unknown_name("activation function", given, names).what());
  return Activation::kGelu;
}

std::vector<std::string> supported_model_types() {
  std::vector<std::string> names;
  for (const ModelType& type : model_types()) names.push_back(type.model_type);
  for (const std::string& name : described_architectures()) {
    // Readers of decoders beside a tower, which no file names.
    if (!ends_with(name, "_in_parts")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

ModelConfig parse_model_config(const std::string& text, const std::string& name,
                               const std::string& file,
                               std::shared_ptr<const Architecture> own_architecture) {
  JsonFields fields(text, file);
  ModelConfig config;
  config.name = name;
  config.file = file;
  config.own_architecture = std::move(own_architecture);
  if (config.own_architecture != nullptr) check_own(*config.own_architecture, fields, file);
  if (fields.has("published_as")) config.published_as = fields.text("published_as");
  config.also_called = fields.texts("also_called");
  const std::vector<std::string> architectures = fields.texts("architectures");
  if (architectures.size() > 1) {
    config.notes.push_back("architectures: names " + join(architectures, ", ") +
                           "; the first is taken");
  }
  fields.check();
  if (!architectures.empty()) config.architecture = architectures.front();
  // The diffusers library calls it so.
  if (architectures.empty() && fields.has("_class_name"))
    config.architecture = fields.text("_class_name");
  if (fields.has("thinker_config")) {
    read_thinker(fields, &config);
  } else if (fields.is_object("vlm_config")) {
    read_retriever(fields, &config);
  } else {
    read_whole(fields, &config);
  }
  read_checkpoint_format(fields, &config);
  fields.check();  // with a size missing, a contradiction means nothing
  resolve_heads(fields, &config);
  if (config.position_kind == Positions::kRotary && config.rotary_dim == 0) {
    config.rotary_dim = config.head_dim;
  }
  note_other_files(fields, &config);
  fields.check();
  note_unread(fields, &config);
  return config;
}

void read_format_file(const std::string& text, const std::string& file, ModelConfig* config) {
  JsonFields fields(text, file);
  read_checkpoint_format(fields, config);
  fields.check();
}

std::int64_t ModelConfig::window_of_layer(std::int64_t layer) const {
  if (decoder_windows.empty()) return 0;
  return decoder_windows[static_cast<std::size_t>(layer) % decoder_windows.size()];
}

}  // namespace foretell

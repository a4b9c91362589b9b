#include "workloads/import/model_config.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/config_readers.hpp"

namespace foretell {
namespace {

const std::vector<ModelType>& model_types() {
  static const std::vector<ModelType> kTypes = [] {
    std::vector<ModelType> all = encoder_model_types();
    for (const auto& more : {decoder_model_types(), t5_model_types(), vision_model_types(),
                             vision_transformer_model_types(), diffusion_model_types()}) {
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
const ModelType* type_of_architecture(const std::string& architecture) {
  const ModelType* best = nullptr;
  for (const ModelType& type : model_types()) {
    if (!starts_with(architecture, type.class_prefix)) continue;
    if (best == nullptr || type.class_prefix.size() > best->class_prefix.size()) best = &type;
  }
  return best;
}

const ModelType& choose_type(JsonFields& fields, const std::string& file,
                             const std::string& architecture) {
  const std::string supported = "; supported are: " + join(supported_model_types(), ", ");
  if (!fields.has("model_type")) {
    const ModelType* type = type_of_architecture(architecture);
    if (type != nullptr) return *type;
    throw UserError(file + ": model_type: is missing" + supported);
  }
  const std::string name = fields.text("model_type");
  fields.check();
  for (const ModelType& type : model_types()) {
    if (type.model_type == name) return type;
  }
  throw UserError(file + ": model_type: architecture '" + name + "' cannot be imported" +
                  supported);
}

Head choose_head(JsonFields& fields, const ModelType& type, const std::string& architecture) {
  if (architecture.empty()) return type.heads.front().head;
  std::vector<std::string> supported;
  for (const HeadName& head : type.heads) {
    supported.push_back(std::string(type.class_prefix) + std::string(head.suffix));
    if (supported.back() == architecture) return head.head;
  }
  fields.problem("architectures",
                 "'" + architecture + "' cannot be imported; supported with model_type '" +
                     std::string(type.model_type) + "' are: " + join(supported, ", "));
  return type.heads.front().head;
}

// Fills in what follows from other fields: columns per head and heads of keys and values.
void resolve_heads(JsonFields& fields, ModelConfig* config) {
  const std::string heads = std::to_string(config->heads);
  const std::string hidden = std::to_string(config->hidden);
  if (config->kv_heads == 0) config->kv_heads = config->heads;
  if (config->heads % config->kv_heads != 0) {
    throw UserError(config->file + ": contradiction: " + heads + " query heads cannot share " +
                    std::to_string(config->kv_heads) + " key and value heads evenly");
  }
  if (fields.has("head_dim")) config->head_dim = fields.size("head_dim", kMostWidth);
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
  for (const ModelType& type : model_types()) names.emplace_back(type.model_type);
  return names;
}

ModelConfig parse_model_config(const std::string& text, const std::string& name,
                               const std::string& file) {
  JsonFields fields(text, file);
  ModelConfig config;
  config.name = name;
  config.file = file;
  if (fields.has("published_as")) config.published_as = fields.text("published_as");
  config.also_called = fields.texts("also_called");
  const std::vector<std::string> architectures = fields.texts("architectures");
  if (architectures.size() > 1)
    fields.problem("architectures", "names more than one class: keep one");
  fields.check();
  if (!architectures.empty()) config.architecture = architectures.front();
  const ModelType& type = choose_type(fields, file, config.architecture);
  config.model_type = std::string(type.model_type);
  config.head = choose_head(fields, type, config.architecture);
  fields.check();
  type.read(fields, &config);
  config.tied_embeddings = fields.flag_or("tie_word_embeddings", type.tied_embeddings);
  fields.check();  // with a size missing, a contradiction means nothing
  resolve_heads(fields, &config);
  if (config.position_kind == Positions::kRotary && config.rotary_dim == 0) {
    config.rotary_dim = config.head_dim;
  }
  fields.check();
  return config;
}

std::string_view to_string(Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return "gelu";
    case Activation::kGeluTanh:
      return "gelu_tanh";
    case Activation::kRelu:
      return "relu";
    case Activation::kSilu:
      return "silu";
    case Activation::kTanh:
      return "tanh";
  }
  throw InternalError(__FILE__, __LINE__, "activation without a name");
}

}  // namespace foretell

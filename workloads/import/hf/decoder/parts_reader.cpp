#include "workloads/import/hf/decoder/parts_reader.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr const char* kFull = "full_attention";
constexpr const char* kSliding = "sliding_attention";

const std::set<std::string>& known_rotations() {
  static const std::set<std::string> kNames = {"default",  "linear",      "dynamic", "yarn",
                                               "longrope", "llama3",      "su",      "mrope",
                                               "ntk",      "proportional"};
  return kNames;
}

// Checks the kind of each rotation that the file states, for all layers ("") or for those of a
// kind.
void for_each_rotation(
    JsonFields& fields,
    const std::function<void(JsonFields&, const std::string& kind_of_layer)>& read) {
  const auto check = [&](JsonFields& rotation, std::string_view place,
                         const std::string& kind_of_layer) {
    for (const std::string_view key : {"rope_type", "type"}) {
      if (!rotation.is_text(key)) continue;
      const std::string name = rotation.text(key);
      if (known_rotations().count(name) > 0) continue;
      const std::vector<std::string> known(known_rotations().begin(), known_rotations().end());
      fields.problem(place, unknown_name("kind of rotary positions", name, known).what());
    }
    read(rotation, kind_of_layer);
    fields.take_problems(rotation);
  };
  for (const std::string_view place : {"rope_scaling", "rope_parameters"}) {
    if (fields.has(place) && !fields.is_object(place)) {
      fields.problem(place,
                     R"(must be an object, such as {"rope_type": "yarn", "factor": 4}, or null)");
    }
    if (!fields.is_object(place)) continue;
    JsonFields rotation = fields.inside(place);
    check(rotation, place, "");
    for (const char* kind : {kFull, kSliding}) {
      if (!rotation.is_object(kind)) continue;
      JsonFields inner = rotation.inside(kind);
      check(inner, place, kind);
    }
  }
  if (fields.is_object("swa_rope_parameters")) {  // Laguna
    JsonFields rotation = fields.inside("swa_rope_parameters");
    check(rotation, "swa_rope_parameters", kSliding);
  }
}

}  // namespace

const std::vector<std::string>& activation_functions() {
  static const std::vector<std::string> kNames = {
      "silu",       "swish",      "gelu",        "gelu_new", "gelu_fast", "gelu_pytorch_tanh",
      "quick_gelu", "relu",       "relu2",       "sqrelu",   "tanh",      "sigmoid",
      "swigluoai",  "swiglu_oai", "swiglu_step", "situ",     "swiglu",    "gegelu",
      "xielu",      "gelu_10"};
  return kNames;
}

const std::vector<std::string>& router_functions() {
  static const std::vector<std::string> kNames = {"softmax", "sigmoid", "sqrtsoftplus"};
  return kNames;
}

void check_rotation_kind(JsonFields& fields) {
  for_each_rotation(fields, [](JsonFields&, const std::string&) {});
}

PartsReader::PartsReader(JsonFields& fields, ModelConfig* config, const SizeDefaults& defaults)
    : fields_(fields), config_(*config) {
  config_.family = Family::kDecoder;
  config_.norm = Norm::kRmsNorm;
  config_.position_kind = Positions::kRotary;
  std::vector<std::string> taken;
  const auto size_or_note = [&](const std::vector<std::string_view>& spellings, std::int64_t most,
                                std::int64_t otherwise) {
    const bool stated = std::any_of(spellings.begin(), spellings.end(),
                                    [&](std::string_view key) { return fields.has(key); });
    if (!stated && otherwise > 0)
      taken.push_back(std::string(spellings.front()) + " " + std::to_string(otherwise));
    return size(spellings, most, otherwise);
  };
  config_.layers = size_or_note({"num_hidden_layers", "num_layers", "n_layer", "n_layers"},
                                kMaxLayers, defaults.layers);
  config_.hidden =
      size_or_note({"hidden_size", "n_embd", "n_embed", "d_model"}, kMaxWidth, defaults.hidden);
  config_.vocab = size_or_note({"vocab_size", "padded_vocab_size"}, kMaxVocab, defaults.vocab);
  if (!taken.empty())
    note("the file states no size of " + join(taken, ", ") + ": that of its class is taken");
  config_.embedding = config_.hidden;
  config_.heads = size({"num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"},
                       kMaxHeads, defaults.heads);
  config_.max_seq_len =
      size({"max_position_embeddings", "model_max_length", "max_seq_len", "seq_length",
            "n_positions", "max_sequence_length", "max_position_embedding"},
           kMaxPositions, defaults.positions > 0 ? defaults.positions : 4096);
  const std::int64_t kv = defaults.kv_heads > 0 ? defaults.kv_heads : config_.heads;
  config_.kv_heads =
      size({"num_key_value_heads", "num_kv_heads", "num_attention_groups"}, kMaxHeads, kv);
  const std::int64_t width = std::max<std::int64_t>(1, config_.hidden / config_.heads);
  config_.head_dim = size({"head_dim", "kv_channels", "attention_head_dim"}, kMaxWidth,
                          defaults.head_dim > 0 ? defaults.head_dim : width);
  for (const std::string_view key :
       {"intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim"}) {
    if (!fields.has(key)) continue;
    const std::vector<std::int64_t> list =
        fields.is_list(key) ? fields.integers(key) : std::vector<std::int64_t>{};
    config_.intermediate = list.empty() ? fields.size(key, kMaxWidth) : list.front();
    break;
  }
  if (config_.intermediate == 0) config_.intermediate = defaults.intermediate;
  LayerPart layer;
  layer.mixer.heads = config_.heads;
  layer.mixer.kv_heads = config_.kv_heads;
  layer.mixer.head_dim = layer.mixer.value_dim = config_.head_dim;
  layer.mixer.qkv_bias = layer.mixer.output_bias = fields.flag_or("attention_bias", false);
  layer.feed_forward.intermediate = std::max<std::int64_t>(1, config_.intermediate);
  layer.feed_forward.bias = fields.flag_or("mlp_bias", false);
  layer.feed_forward.activation =
      activation({"hidden_activation", "hidden_act", "mlp_hidden_act"}, "silu");
  layers().assign(static_cast<std::size_t>(config_.layers), layer);
}

std::int64_t PartsReader::size(const std::vector<std::string_view>& spellings, std::int64_t most,
                               std::int64_t otherwise) {
  for (const std::string_view key : spellings) {
    if (fields_.has(key)) return fields_.size(key, most);
  }
  return otherwise > 0 ? otherwise : fields_.size(spellings.front(), most);
}

std::string PartsReader::activation(const std::vector<std::string_view>& spellings,
                                    const std::string& otherwise) {
  for (const std::string_view key : spellings) {
    if (!fields_.has(key)) continue;
    const std::string name = fields_.text(key);
    const std::vector<std::string>& known = activation_functions();
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end())
      fields_.problem(key, unknown_name("activation function", name, known).what());
    return name;
  }
  return otherwise;
}

void PartsReader::read_rotation(double partial_when_absent) {
  constexpr std::string_view kKey = "partial_rotary_factor";
  const auto checked = [&](double share) {
    if (share > 0 && share <= 1) return share;
    fields_.problem(kKey, "must be above 0 and at most 1");
    return 1.0;
  };
  rotated_ = {{"", partial_when_absent}};
  for (const std::string_view list : {kKey, std::string_view("partial_rotary_factors")}) {
    if (!fields_.is_list(list)) continue;
    if (!names_layers(list, fields_.entries(list))) return;
    rotated_by_layer_ = fields_.shares(list, fields_.entries(list));
    for (double& share : rotated_by_layer_) share = checked(share);
  }
  if (!fields_.is_list(kKey)) rotated_[""] = fields_.number_or(kKey, partial_when_absent);
  for_each_rotation(fields_, [&](JsonFields& rotation, const std::string& kind) {
    if (rotation.has(kKey)) rotated_[kind] = rotation.number_or(kKey, 1);
  });
  for (auto& [kind, share] : rotated_) share = checked(share);
  rotate_layers();
  if (fields_.has("rotary_dim")) {
    const std::int64_t rotated = fields_.size("rotary_dim", kMaxWidth);
    for (LayerPart& part : layers()) {
      if (part.mixer.kind == MixerKind::kGrouped)
        part.mixer.rotary_dim = std::min(rotated, part.mixer.head_dim);
    }
  }
}

// By the kind that a layer's word or else its window says.
void PartsReader::rotate_layers() {
  const std::vector<std::string> types =
      fields_.is_list("layer_types") ? layer_types() : std::vector<std::string>{};
  for (std::size_t i = 0; i < layers().size(); ++i) {
    MixerPart& mixer = layers()[i].mixer;
    if (mixer.kind != MixerKind::kGrouped) continue;
    const auto kind = rotated_.find(!types.empty()     ? types[i]
                                    : mixer.window > 0 ? kSliding
                                                       : kFull);
    double share = kind == rotated_.end() ? rotated_[""] : kind->second;
    if (i < rotated_by_layer_.size()) share = rotated_by_layer_[i];
    const double columns = std::floor(share * static_cast<double>(mixer.head_dim) / 2);
    mixer.rotary_dim = 2 * std::max<std::int64_t>(1, static_cast<std::int64_t>(columns));
  }
}

// After the layers, lists may name those that predict further tokens.
bool PartsReader::names_layers(std::string_view key, std::size_t count) {
  std::size_t most = layers().size();
  for (const std::string_view drafts :
       {"num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"}) {
    most = std::max(
        most, layers().size() + static_cast<std::size_t>(fields_.count_or(drafts, kMaxLayers, 0)));
  }
  if (count >= layers().size() && count <= most) return true;
  fields_.problem(key, "contradiction: names " + std::to_string(count) +
                           " layers, but num_hidden_layers is " + std::to_string(layers().size()) +
                           "; give one entry for each");
  return false;
}

bool PartsReader::has_entry_per_layer(std::string_view key, std::size_t count) {
  if (count == layers().size()) return true;
  fields_.problem(key, "contradiction: has " + std::to_string(count) +
                           " entries, but num_hidden_layers is " + std::to_string(layers().size()));
  return false;
}

bool PartsReader::has_layer(std::string_view key, std::int64_t layer) {
  if (layer >= 0 && layer < config_.layers) return true;
  fields_.problem(key, "contradiction: names layer " + std::to_string(layer) +
                           ", but num_hidden_layers is " + std::to_string(config_.layers));
  return false;
}

void PartsReader::set_form(LayerForm form) {
  for (LayerPart& part : layers()) part.form = form;
}

void PartsReader::norm_heads(HeadNorm norm) {
  for (LayerPart& part : layers()) part.mixer.head_norm = norm;
}

void PartsReader::use_layer_norm() {
  config_.norm = Norm::kLayerNorm;
  config_.parts_of_decoder.layer_norm = true;
}

std::vector<std::int64_t> PartsReader::every_nth(std::int64_t step, std::int64_t first) const {
  std::vector<std::int64_t> flags;
  for (std::int64_t i = 0; i < config_.layers; ++i)
    flags.push_back(i >= first && (i + 1) % step == 0 ? 1 : 0);
  return flags;
}

std::vector<std::int64_t> PartsReader::sparse_by_step() {
  std::vector<std::int64_t> sparse =
      every_nth(fields_.size_or("decoder_sparse_step", kMaxLayers, 1));
  set_listed("mlp_only_layers", 0, &sparse);
  return sparse;
}

std::vector<std::int64_t> PartsReader::sparse_by_words(std::string_view key,
                                                       std::vector<std::int64_t> otherwise) {
  const std::vector<std::string> words = fields_.texts(key);
  if (words.empty() || !names_layers(key, words.size())) return otherwise;
  for (std::size_t i = 0; i < otherwise.size(); ++i) {
    if (words[i] != "sparse" && words[i] != "dense") {
      fields_.problem(key, unknown_name("kind of layer", words[i], {"sparse", "dense"}).what());
      break;
    }
    otherwise[i] = words[i] == "sparse" ? 1 : 0;
  }
  return otherwise;
}

void PartsReader::set_listed(std::string_view key, std::int64_t flag,
                             std::vector<std::int64_t>* flags) {
  for (const std::int64_t layer : fields_.integers(key)) {
    if (layer >= 0 && layer < config_.layers) (*flags)[static_cast<std::size_t>(layer)] = flag;
  }
}

std::vector<std::string> PartsReader::layer_types() {
  std::vector<std::string> types = fields_.texts("layer_types");
  if (types.empty() || !names_layers("layer_types", types.size())) return {};
  types.resize(layers().size());
  return types;
}

void PartsReader::read_windows(bool (*is_sliding)(std::int64_t layer, std::int64_t pattern),
                               std::int64_t pattern, std::int64_t window_when_absent) {
  const std::int64_t window = fields_.count_or("sliding_window", kMaxPositions, window_when_absent);
  const std::int64_t chunk = fields_.count_or("attention_chunk_size", kMaxPositions, 0);
  const std::vector<std::string> types = layer_types();
  for (std::size_t i = 0; i < layers().size(); ++i) {
    MixerPart& mixer = layers()[i].mixer;
    if (types.empty()) {
      if (is_sliding(static_cast<std::int64_t>(i), pattern)) mixer.window = window;
    } else if (types[i] == "sliding_attention") {
      mixer.window = window;
    } else if (types[i] == "chunked_attention") {
      mixer.chunk = chunk;
    } else if (types[i] != "full_attention") {
      fields_.problem("layer_types", "'" + types[i] +
                                         "' cannot be imported here; known are full_attention, "
                                         "sliding_attention, chunked_attention");
      return;
    }
  }
  if (rotated_.size() > 1) rotate_layers();
}

std::vector<std::int64_t> PartsReader::per_layer(std::string_view key) {
  if (!fields_.has(key)) return {};
  if (!fields_.is_list(key)) {
    const std::int64_t every = fields_.size(key, kMaxLayers);
    std::vector<std::int64_t> flags;
    for (std::int64_t i = 0; i < config_.layers; ++i) flags.push_back(i % every == 0 ? 1 : 0);
    return flags;
  }
  std::vector<std::int64_t> flags = fields_.integers(key);
  if (!names_layers(key, flags.size())) return {};
  flags.resize(layers().size());
  return flags;
}

FeedForwardPart PartsReader::experts(const ExpertFields& names) {
  FeedForwardPart part = layers().front().feed_forward;
  part.kind = FeedForwardKind::kExperts;
  const std::size_t problems = fields_.problems();
  part.experts = part.held = size(names.experts, kMaxVocab, names.default_experts);
  const bool knows_experts = fields_.problems() == problems;
  part.top_k = size(names.per_token, kMaxVocab, names.default_per_token);
  part.expert_intermediate = size(names.intermediate, kMaxWidth, names.default_intermediate);
  part.expert_hidden = config_.hidden;
  for (const std::string_view key : names.per_token) {
    if (fields_.has(key) && fields_.size(key, kMaxVocab) != part.top_k)
      fields_.problem(key, "contradiction: elsewhere " + std::to_string(part.top_k));
    if (!knows_experts || part.top_k <= part.experts || !fields_.has(key)) continue;
    fields_.problem(key, "is more than the " + std::to_string(part.experts) + " experts of " +
                             std::string(names.experts.front()));
  }
  config_.experts = part.experts;
  config_.experts_per_token = part.top_k;
  return part;
}

void PartsReader::read_groups(RouterPart* router) {
  router->groups = fields_.size_or("n_group", kMaxHeads, 1);
  router->top_groups = fields_.size_or("topk_group", kMaxHeads, router->groups);
  if (router->top_groups > router->groups) {
    fields_.problem("topk_group",
                    "is more than the " + std::to_string(router->groups) + " groups of n_group");
    router->top_groups = router->groups;
  }
  std::string function = fields_.text_or("scoring_func", router->function);
  if (function == "noaux_tc") {  // dots.llm1 has the method in its place
    router->bias = true;
    function = router->function;
  }
  const std::vector<std::string>& known = router_functions();
  if (std::find(known.begin(), known.end(), function) == known.end()) {
    fields_.problem("scoring_func", unknown_name("kind of router", function, known).what());
  } else {
    router->function = function;
  }
  const std::string method = fields_.text_or("topk_method", "");
  const std::vector<std::string> methods = {"", "noaux_tc", "greedy", "group_limited_greedy"};
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
    fields_.problem(
        "topk_method",
        unknown_name("kind of router", method, {methods.begin() + 1, methods.end()}).what());
  }
  if (method == "noaux_tc") router->bias = true;
  if (method == "greedy") router->groups = router->top_groups = 1;
}

void PartsReader::spread_experts(const FeedForwardPart& part,
                                 const std::vector<std::int64_t>& sparse) {
  if (part.experts % part.router.groups != 0) {
    fields_.problem("n_group", std::to_string(part.experts) + " experts do not divide into " +
                                   std::to_string(part.router.groups) + " groups");
  }
  for (std::size_t i = 0; i < layers().size() && i < sparse.size(); ++i) {
    if (sparse[i] != 0) layers()[i].feed_forward = part;
  }
}

std::vector<std::int64_t> PartsReader::sparse_from(std::int64_t first_dense,
                                                   std::int64_t every) const {
  std::vector<std::int64_t> sparse;
  for (std::int64_t i = 0; i < config_.layers; ++i)
    sparse.push_back(i >= first_dense && i % every == 0 ? 1 : 0);
  return sparse;
}

void PartsReader::note_unused(std::string_view key, const std::string& what) {
  if (!fields_.has(key)) return;
  if (!fields_.is_list(key) && !fields_.is_object(key) && !fields_.is_text(key)) {
    JsonFields copy = fields_;
    const bool is_flag = !copy.flag_or(key, false);
    JsonFields other = fields_;
    if (is_flag && other.number_or(key, 0) == 0) return;
  }
  note(std::string(key) + ": " + what);
}

void PartsReader::draft_layers(const std::vector<std::string_view>& spellings) {
  for (const std::string_view key : spellings) {
    if (!fields_.has(key)) continue;
    config_.parts_of_decoder.draft_layers = fields_.count_or(key, kMaxLayers, 0);
    return;
  }
}

void check_groups(JsonFields& fields, std::string_view key, MixerPart* mixer) {
  if (mixer->heads % mixer->kv_heads == 0) return;
  fields.problem(key, std::to_string(mixer->heads) + " heads do not divide into " +
                          std::to_string(mixer->kv_heads) + " groups");
  mixer->kv_heads = mixer->heads;
}

std::int64_t first_of_list(JsonFields& fields, std::string_view key, std::int64_t most,
                           std::int64_t otherwise) {
  if (!fields.is_list(key)) return fields.count_or(key, most, otherwise);
  const std::vector<std::int64_t> list = fields.integers(key);
  for (const std::int64_t entry : list) {
    if (entry < 0 || entry > most) {
      fields.problem(key, "holds " + std::to_string(entry) + "; entries are from 0 to " +
                              std::to_string(most));
      return otherwise;
    }
    if (entry != list.front())
      fields.problem(key, "has unlike entries; layers of experts that are alike can be imported");
  }
  return list.empty() ? otherwise : list.front();
}

std::int64_t cached_window(const MixerPart& mixer) {
  if (mixer.stride > 0) return 0;
  return mixer.window > 0 ? mixer.window : mixer.chunk;
}

}  // namespace foretell

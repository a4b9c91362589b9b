#include "workloads/import/hf/config/stored_formats.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/base/text.hpp"
#include "workloads/import/hf/config/module_pattern.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

constexpr std::string_view kAttention = "self_attn attn attention self_attention mixer";
constexpr std::string_view kLinear = "linear_attn mamba mixer conv temporal_block";
constexpr std::string_view kDense = "mlp feed_forward ffn mixer residual_mlp";
constexpr std::string_view kShared =
    "mlp.shared_experts mlp.shared_expert feed_forward.shared_expert mixer.shared_experts "
    "block_sparse_moe.shared_experts mlp.shared_mlp shared_mlp shared_expert ffn.shared_experts";
constexpr std::string_view kRouted =
    "mlp.experts.0 mlp.experts feed_forward.experts.0 feed_forward.experts mixer.experts.0 "
    "mixer.experts block_sparse_moe.experts.0 block_sparse_moe.experts ffn.experts.0 experts.0";
constexpr std::string_view kGate = "gate_proj gate_up_proj w1 w13 linear_fc1";
constexpr std::string_view kUp = "up_proj gate_up_proj w3 w13 fc1 c_fc dense_h_to_4h linear_fc1";
constexpr std::string_view kDown = "down_proj w2 fc2 c_proj dense_4h_to_h linear_fc2";
constexpr std::string_view kExperts = "routed experts";
constexpr std::string_view kHeads = "lm_head output embed_out";

constexpr std::array<StoredMatrix, 37> kMatrices{{
    {"attention.query", "attention", kAttention, "q_proj qkv_proj wq query query_key_value"},
    {"attention.key", "attention", kAttention, "k_proj qkv_proj wk wkv key query_key_value"},
    {"attention.value", "attention", kAttention, "v_proj qkv_proj wv value query_key_value"},
    {"attention.qkv", "attention", kAttention,
     "q_proj k_proj v_proj qkv_proj query_key_value c_attn W_pack Wqkv"},
    {"attention.query_a", "attention", kAttention, "q_a_proj fused_qkv_a_proj_with_mqa wq_a"},
    {"attention.query_b", "attention", kAttention, "q_b_proj q_proj wq_b"},
    {"attention.key_value_a", "attention", kAttention,
     "kv_a_proj_with_mqa fused_qkv_a_proj_with_mqa"},
    {"attention.key_value", "attention", kAttention, "kv_b_proj"},
    {"attention.compressed.values", "attention", kAttention, "compressor.wkv"},
    {"attention.compressed.scores", "attention", kAttention, "compressor.wgate"},
    {"attention.gate", "attention", kAttention, "q_proj g_proj gate_proj"},
    {"indexer.query", "attention", kAttention, "indexer.wq_b indexer.q_proj"},
    {"indexer.key", "attention", kAttention, "indexer.wk indexer.k_proj"},
    {"indexer.compressed.values", "attention", kAttention, "indexer.compressor.wkv"},
    {"indexer.compressed.scores", "attention", kAttention, "indexer.compressor.wgate"},
    {"attention.output", "attention outputs", kAttention, "o_proj out_proj wo dense c_proj"},
    {"attention.output_b", "attention outputs", kAttention, "wo_b"},
    {"mixer.qkv", "recurrences", kLinear, "in_proj_qkvz in_proj_qkv qkv_proj q_proj"},
    {"mixer.gate", "recurrences", kLinear, "in_proj_qkvz in_proj_z g_proj output_gate"},
    {"mixer.input", "recurrences", kLinear, "in_proj linear_x"},
    {"mixer.selection", "recurrences", kLinear, "x_proj"},
    {"mixer.step", "recurrences", kLinear, "dt_proj"},
    {"mixer.output", "recurrence outputs", kLinear, "out_proj o_proj linear_out"},
    {"ffn.gate", "dense networks", kDense, kGate},
    {"ffn.up", "dense networks", kDense, kUp},
    {"ffn.intermediate", "dense networks", kDense, kUp},
    {"ffn.output", "dense networks", kDense, kDown},
    {"ffn.dense.gate", "dense networks", kDense, kGate},
    {"ffn.dense.up", "dense networks", kDense, kUp},
    {"ffn.dense.output", "dense networks", kDense, kDown},
    {"ffn.narrow", "dense networks", kDense, "fc1_latent_proj"},
    {"ffn.widen", "dense networks", kDense, "fc2_latent_proj"},
    {"ffn.shared.gate", "shared experts", kShared, kGate},
    {"ffn.shared.up", "shared experts", kShared, kUp},
    {"ffn.shared.output", "shared experts", kShared, kDown},
    {"ffn.experts.first", "routed experts", kRouted, "gate_proj up_proj gate_up_proj w1 w3 w13"},
    {"ffn.experts.second", "routed experts", kRouted, "down_proj w2"},
}};

std::vector<std::string> words_of(std::string_view text) { return split(std::string(text), ' '); }

// The names that files have for one matrix of a layer: "self_attn.q_proj".
std::vector<std::string> module_names(std::string_view holders, std::string_view modules) {
  std::vector<std::string> names;
  for (const std::string& holder : words_of(holders)) {
    for (const std::string& module : words_of(modules)) names.push_back(holder + "." + module);
  }
  return names;
}

using KnownNames = std::set<std::string_view>;

// The matrices of softmax attention.
KnownNames names_of(const MixerPart& part) {
  KnownNames names;
  const bool grouped = part.kind == MixerKind::kGrouped;
  const bool compressed = part.kind == MixerKind::kCompressed;
  if (grouped) names = {"attention.query", "attention.key", "attention.value"};
  if (part.kind == MixerKind::kLatent)
    names = {"attention.query_b", "attention.key_value_a", "attention.key_value"};
  if (compressed) names = {"attention.query_a", "attention.query_b", "attention.key"};
  if (compressed && part.ratio > 0)
    names.insert({"attention.compressed.values", "attention.compressed.scores"});
  if (part.query_rank > 0) names.insert("attention.query_a");
  if (part.gate_columns > 0) names.insert("attention.gate");
  if (part.indexer.heads > 0) names.insert("indexer.query");
  if (part.indexer.heads > 0 && !compressed) names.insert("indexer.key");
  if (part.indexer.heads > 0 && compressed)
    names.insert({"indexer.compressed.values", "indexer.compressed.scores"});
  names.insert(compressed ? "attention.output_b" : "attention.output");
  return names;
}

KnownNames names_of_recurrence(const std::string& function) {
  static const KnownNames kInputs = {"mamba2", "mamba1", "gated_convolution", "rg_lru"};
  if (function == "mamba1") return {"mixer.input", "mixer.selection", "mixer.step", "mixer.output"};
  if (kInputs.count(function) > 0) return {"mixer.input", "mixer.output"};
  if (function == "kimi_delta") return {"mixer.qkv", "mixer.output"};
  return {"mixer.qkv", "mixer.gate", "mixer.output"};
}

bool has_matrix(const MixerPart& part, std::string_view name) {
  if (part.kind == MixerKind::kNone) return false;
  const bool is_linear = part.kind == MixerKind::kLinear;
  return (is_linear ? names_of_recurrence(part.function) : names_of(part)).count(name) > 0;
}

constexpr std::uint8_t kWide = 0;      // place of 16 bits among the formats
constexpr std::uint8_t kAbsent = 255;  // the layer has no such matrix

class Placer {
 public:
  explicit Placer(ModelConfig* config) : config_(*config), checkpoint_(config->checkpoint) {
    checkpoint_.formats = {WeightFormat{"", "16 bits", false}};
    checkpoint_.placed.clear();
    for (std::size_t i = 0; i < checkpoint_.rules.size(); ++i) add(i);
  }

  void run() {
    for (std::int64_t i = 0; i < config_.layers; ++i) place_layer(i);
    std::vector<std::uint8_t> head(kMatrices.size() + 1, kAbsent);
    head.back() = head_format();
    checkpoint_.placed.push_back(std::move(head));
    choose_main();
    if (!unlike_.empty()) {
      config_.notes.push_back(
          "quantization_config: modules that are one matrix here have several formats (" +
          *unlike_.begin() + "); the first is taken");
    }
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void add(std::size_t rule) {
    const FormatRule& stated = checkpoint_.rules[rule];
    ModulePattern pattern(stated.pattern);
    if (!pattern.is_readable()) {
      config_.notes.push_back("quantization_config: the pattern '" + stated.pattern +
                              "' cannot be read and is left out");
    }
    if (!pattern.is_readable() || pattern.is_elsewhere()) return;
    patterns_.push_back({std::move(pattern), rule, place_of(stated.format), {}});
    Known& known = patterns_.back();
    if (known.pattern.layer()) {
      of_layer_[*known.pattern.layer()].push_back(patterns_.size() - 1);
    } else {
      of_all_.push_back(patterns_.size() - 1);
    }
  }

  std::uint8_t place_of(const WeightFormat& format) {
    if (format.dtype.empty()) return kWide;
    std::vector<WeightFormat>& known = checkpoint_.formats;
    const auto found = std::find(known.begin(), known.end(), format);
    if (found != known.end()) return static_cast<std::uint8_t>(found - known.begin());
    if (known.size() < kAbsent) known.push_back(format);
    return static_cast<std::uint8_t>(known.size() - 1);
  }

  void place_layer(std::int64_t layer) {
    std::vector<std::uint8_t> places(kMatrices.size() + 1, kAbsent);
    for (std::size_t row = 0; row < kMatrices.size(); ++row) {
      if (has(layer, kMatrices[row])) places[row] = format_of(layer, row);
    }
    places.back() = class_format(StoredMatrix{});
    checkpoint_.placed.push_back(std::move(places));
  }

  bool has(std::int64_t layer, const StoredMatrix& matrix) const {
    if (config_.parts_of_decoder.empty()) {
      static const KnownNames kFused = {"attention.qkv", "attention.output", "ffn.output"};
      static const KnownNames kApart = {"attention.query", "attention.key", "attention.value",
                                        "attention.output", "ffn.output"};
      const bool first = matrix.name == "ffn.intermediate" ||
                         (config_.gated_ffn && starts_with(matrix.name, "ffn.gate")) ||
                         (config_.gated_ffn && starts_with(matrix.name, "ffn.up"));
      return first || (config_.fused_qkv ? kFused : kApart).count(matrix.name) > 0;
    }
    const LayerPart& part = config_.parts_of_decoder.layers[static_cast<std::size_t>(layer)];
    const bool shares = part.shared.weights >= 0;
    if (has_matrix(part.mixer, matrix.name) || has_matrix(part.beside, matrix.name) ||
        (shares && has_matrix(part.shared.mixer, matrix.name))) {
      return true;
    }
    return feeds(part.feed_forward, matrix.name) || feeds(part.aside, matrix.name) ||
           (shares && feeds(part.shared.feed_forward, matrix.name));
  }

  bool feeds(const FeedForwardPart& part, std::string_view name) const {
    if (part.kind == FeedForwardKind::kNone) return false;
    const bool experts = part.kind == FeedForwardKind::kExperts;
    if (starts_with(name, "ffn.experts.")) return experts;
    if (!part.gated && ends_with(name, ".gate")) return false;
    if (starts_with(name, "ffn.shared.")) return experts && part.shared_intermediate > 0;
    const bool narrow = name == "ffn.narrow" || name == "ffn.widen";
    if (narrow) return experts && part.expert_hidden != config_.hidden;
    if (starts_with(name, "ffn.dense.")) return part.dense_beside;
    static const KnownNames kDenseNetwork = {"ffn.gate", "ffn.up", "ffn.output"};
    return !experts && kDenseNetwork.count(name) > 0;
  }

  // Recurrences that stand in the modules of attention.
  std::string_view holders_of(std::int64_t layer, const StoredMatrix& matrix) const {
    if (!starts_with(matrix.name, "mixer.")) return matrix.holders;
    const std::string& function =
        config_.parts_of_decoder.layers[static_cast<std::size_t>(layer)].mixer.function;
    const bool as_attention =
        function == "kimi_delta" || function == "lightning" || function == "rwkv7";
    return as_attention ? kAttention : matrix.holders;
  }

  const std::vector<std::string>& names_of_row(std::string_view holders, std::size_t row) {
    std::vector<std::string>& names = names_[{holders, row}];
    if (names.empty()) names = module_names(holders, kMatrices[row].modules);
    return names;
  }

  // The first rule that is about any of the names.
  std::uint8_t format_of(std::int64_t layer, std::size_t row) {
    const StoredMatrix& matrix = kMatrices[row];
    const std::string place = "layers." + std::to_string(layer) + ".";
    std::size_t first = kNone;
    std::set<std::uint8_t> formats;
    const std::vector<std::string>& names = names_of_row(holders_of(layer, matrix), row);
    for (const std::string& name : names) {
      const std::size_t one = first_about(layer, place, name, names);
      if (one == kNone) continue;
      formats.insert(patterns_[one].format);
      first = std::min(first, one);
    }
    if (formats.size() > 1) unlike_.insert(std::string(matrix.name));
    return first != kNone ? patterns_[first].format : class_format(matrix);
  }

  // `names`: all that the same matrix may have.
  std::size_t first_about(std::int64_t layer, const std::string& place, const std::string& name,
                          const std::vector<std::string>& names) {
    const auto own = of_layer_.find(layer);
    std::size_t first = kNone;
    if (own != of_layer_.end()) {
      const auto found = std::find_if(own->second.begin(), own->second.end(), [&](std::size_t i) {
        return patterns_[i].pattern.is_about(place, name);
      });
      if (found != own->second.end()) first = *found;
    }
    for (const std::size_t i : of_all_) {
      if (i >= first) break;
      const ModulePattern& pattern = patterns_[i].pattern;
      if (pattern.is_class() || !is_about(patterns_[i], place, name)) continue;
      if (std::none_of(names.begin(), names.end(),
                       [&](const std::string& other) { return pattern.refuses(place, other); }))
        return i;
    }
    return first;
  }

  struct Known {
    ModulePattern pattern;
    std::size_t rule = 0;
    std::uint8_t format = kWide;
    std::unordered_map<std::string, bool> answers;  // by name, where the layer does not matter
  };

  static bool is_about(Known& known, const std::string& place, const std::string& name) {
    if (!known.pattern.ignores_numbers()) return known.pattern.is_about(place, name);
    const auto [answer, is_new] = known.answers.try_emplace(name, false);
    if (is_new) answer->second = known.pattern.is_about(place, name);
    return answer->second;
  }

  std::uint8_t class_format(const StoredMatrix& matrix) const {
    for (const Known& known : patterns_) {
      if (known.pattern.is_class() && known.pattern.is_of_class(matrix.group == kExperts))
        return known.format;
    }
    return kWide;
  }

  // Classes are not about it.
  std::uint8_t head_format() {
    std::size_t first = kNone;
    for (const std::string& name : words_of(kHeads)) {
      for (const std::size_t i : of_all_) {
        const ModulePattern& pattern = patterns_[i].pattern;
        const bool about =
            !pattern.is_class() && pattern.is_about("", name) && !pattern.refuses("", "lm_head");
        if (about) first = std::min(first, i);
      }
    }
    return first == kNone ? kWide : patterns_[first].format;
  }

  // Of routed experts, else of dense networks, else of any.
  void choose_main() {
    for (const std::string_view group : {"routed experts", "dense networks", ""}) {
      std::vector<std::size_t> counts(checkpoint_.formats.size(), 0);
      for (const std::vector<std::uint8_t>& places : checkpoint_.placed) {
        for (std::size_t row = 0; row < kMatrices.size(); ++row) {
          const bool counts_here = group.empty() || kMatrices[row].group == group;
          if (counts_here && places[row] != kAbsent && places[row] != kWide) ++counts[places[row]];
        }
      }
      const auto most = std::max_element(counts.begin(), counts.end());
      if (*most == 0) continue;
      static_cast<WeightFormat&>(checkpoint_) =
          checkpoint_.formats[static_cast<std::size_t>(most - counts.begin())];
      return;
    }
    static_cast<WeightFormat&>(checkpoint_) = WeightFormat{};
    config_.notes.emplace_back(
        "quantization_config: no matrix of the decoder has its format; all are in 16 bits");
  }

  ModelConfig& config_;
  CheckpointFormat& checkpoint_;
  std::vector<Known> patterns_;
  std::map<std::int64_t, std::vector<std::size_t>> of_layer_;
  std::vector<std::size_t> of_all_;
  std::map<std::pair<std::string_view, std::size_t>, std::vector<std::string>> names_;
  std::set<std::string> unlike_;
};

const std::vector<std::uint8_t>* places_of(const CheckpointFormat& checkpoint, std::int32_t layer) {
  if (checkpoint.placed.empty()) return nullptr;
  if (layer == kNoId) return &checkpoint.placed.back();
  const auto place = static_cast<std::size_t>(layer);
  return place + 1 < checkpoint.placed.size() ? &checkpoint.placed[place] : nullptr;
}

DType stored_type(const WeightFormat& format) {
  if (format.block_scales && format.dtype == "fp8") return DType::kFp8Block;
  return find_precision(format.dtype).weight_storage;
}

// "3-5, 8"
std::string ranges(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    parts.push_back(std::to_string(numbers[i]) +
                    (end > i ? "-" + std::to_string(numbers[end]) : ""));
    i = end + 1;
  }
  return join(parts, ", ");
}

}  // namespace

void place_formats(ModelConfig* config) {
  CheckpointFormat& checkpoint = config->checkpoint;
  if (checkpoint.rules.empty()) return;
  const std::size_t layers = config->parts_of_decoder.layers.size();
  const bool known = layers == 0 || layers == static_cast<std::size_t>(config->layers);
  if (config->family == Family::kDecoder && known) return Placer(config).run();
  static_cast<WeightFormat&>(checkpoint) = checkpoint.rules.back().format;
}

void store_as_stated(const CheckpointFormat& checkpoint, std::int32_t layer,
                     std::string_view matrix, TensorId weight, Graph* graph) {
  const std::vector<std::uint8_t>* places = places_of(checkpoint, layer);
  if (places == nullptr) return;
  const auto row = std::find_if(kMatrices.begin(), kMatrices.end(),
                                [&](const StoredMatrix& one) { return one.name == matrix; });
  const bool is_known = row != kMatrices.end() && layer != kNoId;
  const std::uint8_t own =
      is_known ? (*places)[static_cast<std::size_t>(row - kMatrices.begin())] : kAbsent;
  const WeightFormat& format = checkpoint.formats[own == kAbsent ? places->back() : own];
  if (format == checkpoint) return;
  const bool is_narrow = !format.dtype.empty() && (own != kAbsent || layer == kNoId);
  if (is_narrow) graph->set_dtype(weight, stored_type(format));
  graph->keep(weight);
}

bool takes_all_as(DType storage, CheckpointFormat* checkpoint) {
  if (checkpoint->placed.empty() || checkpoint->dtype.empty()) return false;
  const auto unblocked = [](DType type) { return type == DType::kFp8Block ? DType::kFp8 : type; };
  const bool is_narrow = size_of(storage) < Bytes(2);
  if (!is_narrow || unblocked(storage) == unblocked(stored_type(*checkpoint))) return false;
  const auto main =
      static_cast<std::uint8_t>(std::find(checkpoint->formats.begin(), checkpoint->formats.end(),
                                          static_cast<const WeightFormat&>(*checkpoint)) -
                                checkpoint->formats.begin());
  bool differed = false;
  for (std::vector<std::uint8_t>& places : checkpoint->placed) {
    const bool is_head = &places == &checkpoint->placed.back();
    for (std::uint8_t& place : places) {
      if (place == main || place == kAbsent || (is_head && place == kWide)) continue;
      place = main;
      differed = differed || &place != &places.back() || is_head;
    }
  }
  return differed;
}

std::string stored_text(const CheckpointFormat& checkpoint) {
  using Layers = std::vector<std::int64_t>;
  std::map<std::string_view, std::map<std::string, Layers>> groups;
  std::set<std::string> all;
  for (std::size_t layer = 0; layer + 1 < checkpoint.placed.size(); ++layer) {
    std::map<std::string_view, std::set<std::string>> seen;
    for (std::size_t row = 0; row < kMatrices.size(); ++row) {
      const std::uint8_t place = checkpoint.placed[layer][row];
      if (place != kAbsent) seen[kMatrices[row].group].insert(checkpoint.formats[place].name);
    }
    for (const auto& [group, names] : seen) {
      const std::string both = join({names.begin(), names.end()}, " and ");
      groups[group][both].push_back(static_cast<std::int64_t>(layer));
      all.insert(both);
    }
  }
  if (all.empty()) return "";
  const WeightFormat& head = checkpoint.formats[checkpoint.placed.back().back()];
  if (!head.dtype.empty()) {
    groups["the head"][head.name] = {};
    all.insert(head.name);
  }
  if (all.size() < 2) return "";
  std::map<std::string, std::vector<std::string>> texts;  // by format, of most layers
  for (const auto& [group, formats] : groups) {
    const auto most = std::max_element(
        formats.begin(), formats.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    std::vector<std::string> others;
    for (const auto& [name, layers] : formats) {
      if (name == most->first) continue;
      others.push_back(name + " in layer" + (layers.size() > 1 ? "s " : " ") + ranges(layers));
    }
    texts[most->first].push_back(std::string(group) +
                                 (others.empty() ? "" : " (" + join(others, ", ") + ")"));
  }
  std::vector<std::string> parts;
  for (const auto& [format, of] : texts) {
    const bool is_main = format == checkpoint.name;
    parts.insert(is_main ? parts.begin() : parts.end(), format + " in " + join(of, ", "));
  }
  return join(parts, "; ");
}

}  // namespace foretell

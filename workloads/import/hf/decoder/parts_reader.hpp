// What the readers of decoders made of parts share: sizes, patterns of layers, rotation, experts.
// Field names and defaults are those of the transformers library.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/import/hf/config/config_readers.hpp"

namespace foretell {

// Defaults of a class where published files leave sizes out; 0: the field must be there.
struct SizeDefaults {
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  // 0: hidden / heads
  std::int64_t intermediate = 0;
  std::int64_t vocab = 0;
  std::int64_t positions = 0;
  std::int64_t expansion = 0;  // intermediate / hidden where nothing states the former
};

// Names of gates and functions; all cost an exponential or less per element.
const std::vector<std::string>& activation_functions();
// How scores of a router become weights.
const std::vector<std::string>& router_functions();

class PartsReader {
 public:
  // Reads the sizes that all decoders have into `config` and prepares as many equal layers of
  // grouped attention and a gated dense network.
  PartsReader(JsonFields& fields, ModelConfig* config, const SizeDefaults& defaults = {});

  JsonFields& fields() { return fields_; }
  ModelConfig& config() { return config_; }
  std::vector<LayerPart>& layers() { return config_.parts_of_decoder.layers; }
  LayerPart& layer(std::size_t index) { return layers()[index]; }
  std::int64_t hidden() const { return config_.hidden; }

  // Of all layers.
  void set_form(LayerForm form);
  void norm_heads(HeadNorm norm = HeadNorm::kPerHead);
  void use_layer_norm();  // in place of RMS norms

  // A size under the first spelling that is there; the last one is required unless `otherwise` > 0.
  std::int64_t size(const std::vector<std::string_view>& spellings, std::int64_t most,
                    std::int64_t otherwise = 0);

  // The name of the activation in any of these fields, checked.
  std::string activation(const std::vector<std::string_view>& spellings,
                         const std::string& otherwise);
  // Refuses unknown kinds of rotation, in any of the places where files state them, and reads
  // partial_rotary_factor, of all layers, of each or of each kind; sets rotary_dim of every layer
  // with softmax attention. Windows may be read before or after.
  void read_rotation(double partial_when_absent = 1);
  // layer_types: one word per layer; else what `is_sliding` says. Sets windows (and, for
  // "chunked_attention", chunks) of the layers.
  std::vector<std::string> layer_types();
  // Whether a list of as many entries is about the layers; notes a problem where it is not.
  bool names_layers(std::string_view key, std::size_t count);
  // The same without those that predict further tokens.
  bool has_entry_per_layer(std::string_view key, std::size_t count);
  // Whether there is a layer of that number; notes a problem where there is not.
  bool has_layer(std::string_view key, std::int64_t layer);
  void read_windows(bool (*is_sliding)(std::int64_t layer, std::int64_t pattern),
                    std::int64_t pattern, std::int64_t window_when_absent = 0);
  // 1 and 0 per layer from a list, or from a frequency; empty when the field is absent.
  std::vector<std::int64_t> per_layer(std::string_view key);
  // The experts of all layers that `is_sparse` names.
  struct ExpertFields {
    std::vector<std::string_view> experts;
    std::vector<std::string_view> per_token;
    std::vector<std::string_view> intermediate;
    std::int64_t default_experts = 0;
    std::int64_t default_per_token = 0;
    std::int64_t default_intermediate = 0;
  };
  FeedForwardPart experts(const ExpertFields& names);
  void read_groups(RouterPart* router);
  // Layers `first` … of n take experts, the others stay as they are.
  void spread_experts(const FeedForwardPart& part, const std::vector<std::int64_t>& sparse);
  std::vector<std::int64_t> sparse_from(std::int64_t first_dense, std::int64_t every) const;
  // 1 for every `step`-th layer from `first` on, 0 for the others.
  std::vector<std::int64_t> every_nth(std::int64_t step, std::int64_t first = 0) const;
  // By decoder_sparse_step and mlp_only_layers of Qwen.
  std::vector<std::int64_t> sparse_by_step();
  // By a word for each layer, "sparse" or "dense"; `otherwise` when the field is absent.
  std::vector<std::int64_t> sparse_by_words(std::string_view key,
                                            std::vector<std::int64_t> otherwise);
  // Gives `flag` to the layers that a field lists; numbers that are no layer do not count.
  void set_listed(std::string_view key, std::int64_t flag, std::vector<std::int64_t>* flags);

  void note(const std::string& text) { config_.notes.push_back(text); }
  // Adds a note when the field is there and not null, false or 0.
  void note_unused(std::string_view key, const std::string& what);
  void draft_layers(const std::vector<std::string_view>& spellings);

 private:
  void rotate_layers();

  JsonFields& fields_;
  ModelConfig& config_;
  std::map<std::string, double> rotated_;  // share of a head's columns by kind of layer; "": others
  std::vector<double> rotated_by_layer_;
};

// Which layers slide: all but the last of every `pattern`, or all.
inline bool all_but_last(std::int64_t layer, std::int64_t pattern) {
  return (layer + 1) % pattern != 0;
}
inline bool every_layer(std::int64_t /*layer*/, std::int64_t /*pattern*/) { return true; }

// Notes a problem of `key` where the heads of a scan do not divide into its groups.
void check_groups(JsonFields& fields, std::string_view key, MixerPart* mixer);

// A number from 0 to `most`, or the first of a list of equal ones.
std::int64_t first_of_list(JsonFields& fields, std::string_view key, std::int64_t most,
                           std::int64_t otherwise);

// Refuses unknown kinds of rotation in the fields of "rope_scaling" and "rope_parameters".
void check_rotation_kind(JsonFields& fields);

// The first of these fields that is there; of a list with an entry for each side, the first.
std::int64_t first_of(JsonFields& fields, const std::vector<std::string_view>& keys,
                      std::int64_t most, std::int64_t otherwise);

// A tower of a ViT beside the decoder, from the fields of vision_config.
void read_vision_tower(JsonFields& fields, ModelConfig* config);
// In sound_tower_config.cpp: parameters of an encoder of sounds, from audio_config or
// encoder_config, and of what Phi-4-multimodal has beside its decoder.
void read_audio_tower(JsonFields& fields, ModelConfig* config);
void read_phi4_towers(JsonFields& fields, ModelConfig* config);

// quantization_config and what stands beside it.
void read_checkpoint_format(JsonFields& fields, ModelConfig* config);

}  // namespace foretell

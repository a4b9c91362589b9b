// Encoders of sounds before a decoder: Whisper's kind and Conformers (arXiv 2005.08100). They take
// memory, and sounds are not read. Sizes are those of transformers: modeling_granite_speech.py,
// modeling_blip_2.py (Blip2QFormerModel) and modeling_phi4_multimodal.py, looked up.
#include <utility>

#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kNorm = 2;  // vectors of a norm

// A matrix with a bias.
std::int64_t matrix(std::int64_t in, std::int64_t out) { return (in + 1) * out; }

TowerPart sound_tower() {
  TowerPart tower;
  tower.name = "audio tower";
  tower.unreadable =
      "its tower reads sounds, which are left out: only calls of text can be predicted";
  return tower;
}

void note_sounds(std::string_view key, ModelConfig* config) {
  config->notes.push_back(std::string(key) +
                          ": the tower for sounds takes memory, and calls read text alone");
}

// Encoders of Whisper's kind.
TowerPart whisper_tower(JsonFields& audio, const std::string& type, std::int64_t out) {
  TowerPart tower = sound_tower();
  tower.layers = first_of(audio, {"encoder_layers", "num_hidden_layers"}, kMaxLayers, 32);
  tower.hidden = tower.attention_width =
      first_of(audio, {"d_model", "hidden_size"}, kMaxWidth, 1280);
  tower.heads = first_of(audio, {"encoder_attention_heads", "num_attention_heads"}, kMaxHeads, 20);
  tower.intermediate = first_of(audio, {"encoder_ffn_dim", "intermediate_size"}, kMaxWidth, 5120);
  tower.positions = audio.size_or("max_source_positions", kMaxPositions, 1500);
  constexpr std::int64_t kTaps = 3;  // of its two convolutions
  tower.patch = 1;
  tower.patch_elements = kTaps * audio.size_or("num_mel_bins", kMaxWidth, 128);
  const std::int64_t hidden = tower.hidden;
  const std::int64_t second = hidden * (kTaps * hidden + 1);
  tower.other_parameters = second + kNorm * hidden - tower.layers * hidden;  // keys have no biases
  tower.projector = type == "qwen2_audio_encoder"
                        ? std::vector<ProjectorStep>{{hidden, out, true, false}}
                        : std::vector<ProjectorStep>{{tower.intermediate, out, false, false},
                                                     {out, out, false, false}};
  return tower;
}

// Granite Speech: layers of two feed-forward networks around attention to blocks and a convolution.
std::int64_t granite_conformer(JsonFields& fields) {
  const std::int64_t width = fields.size_or("hidden_dim", kMaxWidth, 1024);
  const std::int64_t wide = width * fields.size_or("feedforward_mult", 64, 4);
  const std::int64_t head = fields.size_or("dim_head", kMaxWidth, 128);
  const std::int64_t heads = head * fields.size_or("num_heads", kMaxHeads, 8);
  const std::int64_t channels = width * fields.size_or("conv_expansion_factor", 64, 2);
  const std::int64_t letters = fields.size_or("output_dim", kMaxVocab, 42);
  const std::int64_t fed = kNorm * width + matrix(width, wide) + matrix(wide, width);
  const std::int64_t places = 2 * fields.size_or("max_pos_emb", kMaxPositions, 512) + 1;
  const std::int64_t attended =
      kNorm * width + 3 * width * heads + matrix(heads, width) + places * head;
  const std::int64_t taps = fields.size_or("conv_kernel_size", kMaxWidth, 15);
  const std::int64_t convolved =  // a gate, a filter for each channel with its norm
      kNorm * width + matrix(width, 2 * channels) + (taps + 2 * kNorm) * channels +
      matrix(channels, width);
  return matrix(fields.size_or("input_dim", kMaxWidth, 160), width) + matrix(width, letters) +
         matrix(letters, width) +
         fields.size_or("num_layers", kMaxLayers, 10) *
             (2 * fed + attended + convolved + kNorm * width);
}

// Learned queries that read windows of what the encoder made, in post-norm layers.
std::int64_t query_transformer(JsonFields& fields, std::int64_t queries, std::int64_t out) {
  const std::int64_t width = fields.size_or("hidden_size", kMaxWidth, 1024);
  const std::int64_t wide = fields.size_or("intermediate_size", kMaxWidth, 4096);
  const std::int64_t read = fields.size_or("encoder_hidden_size", kMaxWidth, 1024);
  const std::int64_t layers = fields.size_or("num_hidden_layers", kMaxLayers, 2);
  const std::int64_t every = fields.size_or("cross_attention_frequency", kMaxLayers, 1);
  const std::int64_t own =
      4 * matrix(width, width) + matrix(width, wide) + matrix(wide, width) + 2 * kNorm * width;
  const std::int64_t cross = 2 * matrix(width, width) + 2 * matrix(read, width) + kNorm * width;
  return layers * own + (layers + every - 1) / every * cross + (queries + kNorm) * width +
         matrix(width, out);
}

void read_granite_speech(JsonFields& fields, ModelConfig* config) {
  JsonFields encoder = fields.inside("encoder_config");
  JsonFields projector = fields.part("projector_config");
  TowerPart tower = sound_tower();
  const std::int64_t queries = fields.size_or("window_size", kMaxPositions, 15) /
                               fields.size_or("downsample_rate", kMaxPositions, 5);
  tower.other_parameters =
      granite_conformer(encoder) + query_transformer(projector, queries, config->hidden);
  fields.take_problems(encoder);
  fields.take_problems(projector);
  config->parts_of_decoder.tower = tower;
  note_sounds("encoder_config", config);
}

// Phi-4-multimodal's Conformer, whose files may leave all out, with two projections: for sounds
// alone, and beside images.
std::int64_t phi4_conformer(JsonFields& fields, std::int64_t out) {
  const std::int64_t width = first_of(fields, {"attention_dim", "hidden_size"}, kMaxWidth, 1024);
  const std::int64_t wide =
      first_of(fields, {"linear_units", "intermediate_size"}, kMaxWidth, 1536);
  const std::int64_t heads =
      first_of(fields, {"attention_heads", "num_attention_heads"}, kMaxHeads, 16);
  const std::int64_t taps = fields.size_or("kernel_size", kMaxWidth, 3);
  constexpr std::int64_t kSquare = 9;  // 3 x 3
  constexpr std::int64_t kHalves = 3;  // of frames and of their features
  const std::int64_t features = fields.size_or("input_size", kMaxWidth, 80) >> kHalves;
  const std::int64_t fed = kNorm * width + matrix(width, 2 * wide) + matrix(wide, width);
  const std::int64_t convolved =
      (kNorm + kNorm + taps + 1) * width + matrix(width, 2 * width) + 2 * matrix(width, width);
  const std::int64_t layer = 2 * fed + 4 * matrix(width, width) + convolved + 2 * kNorm * width;
  const std::int64_t first = matrix(kSquare, width) +
                             (kHalves - 1) * (matrix(kSquare, width) + matrix(width, width)) +
                             matrix(width * features, width);
  constexpr std::int64_t kDistances = 1000;  // 500 on both sides, of which heads have a bias
  return first + kDistances * heads + fields.size_or("num_blocks", kMaxLayers, 24) * layer +
         2 * (matrix(width, out) + matrix(out, out));
}

// Its SigLIP tower, with the pooling head that is stored and not read.
std::int64_t phi4_vision(std::int64_t out) {
  constexpr std::int64_t kWidth = 1152;
  constexpr std::int64_t kWide = 4304;
  constexpr std::int64_t kLayers = 27;
  constexpr std::int64_t kPatch = 588;    // 14 x 14 pixels of three channels
  constexpr std::int64_t kPlaces = 1024;  // 32 x 32 patches of a crop
  const std::int64_t layer = 4 * matrix(kWidth, kWidth) + matrix(kWidth, kWide) +
                             matrix(kWide, kWidth) + 2 * kNorm * kWidth;
  const std::int64_t learned = 3;  // a query of the head, ends of rows and of the whole image
  return (kLayers + 1) * layer + matrix(kPatch, kWidth) + (kPlaces + learned) * kWidth +
         matrix(kWidth, out) + matrix(out, out);
}

// Low-rank matrices beside all four of a layer, which sounds and images switch on.
std::int64_t phi4_adapters(JsonFields& fields, std::string_view key, const ModelConfig& config) {
  JsonFields adapter = fields.part(key);
  const std::int64_t rank = adapter.count_or("r", kMaxWidth, 0);
  fields.take_problems(adapter);
  const std::int64_t columns = config.parts_of_decoder.layers.front().mixer.head_dim;
  const std::int64_t queries = config.heads * columns;
  const std::int64_t wide = config.parts_of_decoder.layers.front().feed_forward.intermediate;
  const std::int64_t ins = config.hidden + queries + config.hidden + wide;
  const std::int64_t outs =
      queries + 2 * config.kv_heads * columns + config.hidden + 2 * wide + config.hidden;
  return rank * config.layers * (ins + outs);
}

}  // namespace

void read_audio_tower(JsonFields& fields, ModelConfig* config) {
  TowerPart& known = config->parts_of_decoder.tower;
  const bool is_free = !config->parts_of_decoder.empty() && known.name.empty();
  if (is_free && fields.is_object("encoder_config")) return read_granite_speech(fields, config);
  if (!fields.has_object("audio_config")) return;
  JsonFields audio = fields.inside("audio_config");
  const std::string type = audio.text_or("model_type", "");
  const bool hears =
      type.find("voxtral") != std::string::npos || type.find("qwen2_audio") != std::string::npos;
  if (!is_free || !hears) {
    config->notes.emplace_back("audio_config: the tower for sounds is left out");
    return;
  }
  known = whisper_tower(audio, type, config->hidden);
  note_sounds("audio_config", config);
  fields.take_problems(audio);
}

void read_phi4_towers(JsonFields& fields, ModelConfig* config) {
  TowerPart tower;
  tower.name = "towers and adapters";
  tower.unreadable =
      "images and sounds switch adapters of its layers on, and images are cut into crops whose "
      "rows end in a learned token: only calls of text can be predicted";
  const bool is_named = fields.is_object("audio_config");
  JsonFields audio = fields.part(is_named ? "audio_config" : "audio_processor");
  JsonFields inner = is_named ? audio : audio.part("config");
  tower.other_parameters = phi4_conformer(inner, config->hidden) + phi4_vision(config->hidden) +
                           phi4_adapters(fields, "vision_lora", *config) +
                           phi4_adapters(fields, "speech_lora", *config);
  fields.take_problems(inner);
  for (const char* key : {"vision_config", "embd_layer", "img_processor"}) fields.has(key);
  config->parts_of_decoder.tower = tower;
  config->notes.emplace_back(
      "the towers for images and sounds and their adapters take memory, and calls read text alone");
}

}  // namespace foretell

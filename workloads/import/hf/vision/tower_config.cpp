// vision_config: the transformer over patches of images beside a decoder.
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/text.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {

std::int64_t first_of(JsonFields& fields, const std::vector<std::string_view>& keys,
                      std::int64_t most, std::int64_t otherwise) {
  for (const std::string_view key : keys) {
    if (!fields.has(key)) continue;
    return fields.is_list(key) ? fields.sizes(key, most).front() : fields.size(key, most);
  }
  return otherwise;
}

namespace {

// Sizes that the transformers library takes where a file states none.
struct TowerDefaults {
  std::int64_t layers = 27;
  std::int64_t hidden = 1152;
  std::int64_t heads = 16;
};

TowerDefaults defaults_of(const std::string& type) {
  return type == "pixtral" ? TowerDefaults{24, 1024, 16} : TowerDefaults{};
}

// Patches along a side that become one token: with the tower, or with the network around it.
std::int64_t merged_patches(JsonFields& vision, JsonFields& around) {
  if (vision.is_list("merge_kernel_size"))
    return std::max<std::int64_t>(1, vision.sizes("merge_kernel_size", 64).front());
  const double kept =
      vision.number_or("pixel_shuffle_ratio", around.number_or("downsample_ratio", 1));
  if (kept > 0.01 && kept < 1) return std::llround(1 / kept);
  const std::int64_t outer =
      first_of(around, {"spatial_merge_size", "scale_factor", "pixel_shuffle_factor"}, 64, 1);
  return first_of(vision, {"spatial_merge_size", "pooling_kernel_size", "hidden_stride"}, 64,
                  outer);
}

bool is_any(const std::string& name, const std::vector<std::string_view>& words) {
  return std::any_of(words.begin(), words.end(), [&name](std::string_view word) {
    return name.find(word) != std::string::npos;
  });
}

// Networks whose images, or the tiles that larger ones are cut into, all have one size.
const std::vector<std::string_view> kFixedSizes = {"llava",   "internvl",   "paligemma",
                                                   "gemma3",  "aya_vision", "idefics3",
                                                   "smolvlm", "llama4",     "aria"};

// Two matrices with a function between.
std::vector<ProjectorStep> two_layers(std::int64_t in, std::int64_t between, std::int64_t out,
                                      bool bias) {
  return {{in, between, bias, false}, {between, out, bias, false}};
}

// Of Aria, for the largest of the numbers of patches that it knows; images of 980 pixels have it.
std::int64_t most_queries(JsonFields& around) {
  if (!around.has("projector_patch_to_query_dict")) return 256;
  std::int64_t most = 1;
  JsonFields queries = around.inside("projector_patch_to_query_dict");
  for (const std::string& patches : queries.names())
    most = std::max(most, queries.size(patches, kMaxPositions));
  around.take_problems(queries);
  return most;
}

// Ovis 2.5 (modeling_ovis2_5.py, looked up): shares of the words of a table, of which four mark
// where images begin and end, make one of its rows.
void read_words(JsonFields& around, std::int64_t merged, std::int64_t hidden, TowerPart* tower) {
  constexpr std::int64_t kMarks = 4;
  const std::int64_t words = around.size_or("visual_vocab_size", kMaxVocab, 65536);
  if (words <= kMarks) return around.problem("visual_vocab_size", "must be above 4");
  tower->projector = {{merged, words - kMarks, false, false, true},
                      {words - kMarks, hidden, false, false}};
  tower->other_parameters = kMarks * hidden;
}

// By the kind of the tower, or of the network around it.
void read_projector(JsonFields& vision, JsonFields& around, const std::string& type,
                    std::int64_t hidden, TowerPart* tower) {
  const std::int64_t merged = tower->hidden * tower->merge * tower->merge;
  const std::string network = around.text_or("model_type", "");
  if (type == "siglip2_navit") {
    read_words(around, merged, hidden, tower);
  } else if (network == "minicpmv") {
    constexpr std::int64_t kHead = 128;  // columns, in all versions
    if (hidden % kHead != 0)
      around.problem("hidden_size", "must be a multiple of 128, the columns of a resampler's head");
    tower->resampler = {around.size_or("query_num", kMaxPositions, 64), hidden,
                        hidden % kHead == 0 ? hidden / kHead : 1, false};
    tower->projector = {{hidden, hidden, false, false}};
  } else if (network == "aria") {
    tower->resampler = {most_queries(around), tower->hidden, tower->heads, true};
    tower->projector = two_layers(tower->hidden, hidden, hidden, false);
  } else if (network == "paligemma" || type == "gemma4_vision" || network == "gemma3") {
    tower->pool = std::exchange(tower->merge, 1);  // neighbours are averaged before the projection
    tower->projector = {{tower->hidden, hidden, network == "paligemma", false}};
  } else if (network == "aya_vision") {
    const std::int64_t wide = around.size_or("alignment_intermediate_size", kMaxWidth, 28672);
    tower->merge = around.size_or("downsample_factor", 64, 2);
    const std::int64_t four = tower->hidden * tower->merge * tower->merge;
    tower->projector = {{four, wide, true, false}, {wide / 2, hidden, true, false}};
  } else if (starts_with(network, "lfm2")) {
    tower->merge = around.size_or("downsample_factor", 64, 2);
    tower->projector = two_layers(tower->hidden * tower->merge * tower->merge,
                                  around.size_or("projector_hidden_size", kMaxWidth, 2560), hidden,
                                  around.flag_or("projector_bias", true));
  } else if (network == "idefics3" || network == "smolvlm") {
    tower->projector = {{merged, hidden, false, false}};
  } else if (network == "mistral3") {
    const bool bias = around.flag_or("multimodal_projector_bias", false);
    tower->projector = two_layers(tower->hidden, hidden, hidden, bias);
    tower->projector.insert(tower->projector.begin(), {merged, tower->hidden, false, false});
  } else if (is_any(type, {"llama4"})) {
    const std::int64_t inner = vision.size_or("projector_input_dim", kMaxWidth, 4096);
    const std::int64_t out = vision.size_or("projector_output_dim", kMaxWidth, inner);
    tower->projector = two_layers(merged, inner, out, false);
    tower->projector.push_back({out, hidden, false, false});
  } else if (is_any(type, {"glm4v", "glm4v_moe"})) {
    const std::int64_t wide = vision.size_or("out_hidden_size", kMaxWidth, hidden);
    const std::int64_t inner = vision.size_or("intermediate_size", kMaxWidth, 4 * wide);
    tower->intermediate = wide;
    tower->projector = {{merged, wide, true, false},
                        {wide, wide, false, false},
                        {wide, inner, false, true},
                        {inner, wide, false, false}};
  } else if (is_any(network, {"llava", "internvl", "vipllava"})) {
    tower->projector = two_layers(merged, hidden, hidden, true);
  } else {
    tower->projector = two_layers(merged, merged, hidden, true);
  }
}

}  // namespace

namespace {

// Llama 3.2: tiles of an image and their places in it, layers for one tile and for all, and a
// matrix from what several layers made.
void read_mllama_tower(JsonFields& vision, ModelConfig* config) {
  TowerPart tower;
  tower.name = "vision tower";
  tower.unreadable =
      "its layers read images by cross attention, whose keys and values come from four tiles of "
      "each: only calls of text can be predicted";
  const std::int64_t one = vision.size_or("num_hidden_layers", kMaxLayers, 32);
  const std::int64_t global = vision.count_or("num_global_layers", kMaxLayers, 8);
  tower.layers = one + global;
  tower.hidden = tower.attention_width = vision.size_or("hidden_size", kMaxWidth, 1280);
  tower.heads = vision.size_or("attention_heads", kMaxHeads, 16);
  tower.intermediate = vision.size_or("intermediate_size", kMaxWidth, 5120);
  tower.patch = vision.size_or("patch_size", kMaxPixels, 14);
  tower.side = vision.size_or("image_size", kMaxPixels, 560);
  const std::int64_t channels = vision.size_or("num_channels", 64, 3);
  tower.patch_elements = tower.patch * tower.patch * channels;
  const std::int64_t tiles = vision.size_or("max_num_tiles", 64, 4);
  const std::int64_t along = std::max<std::int64_t>(1, tower.side / tower.patch);
  const std::int64_t places = along * along + 1;
  const std::int64_t ratios = 1 + tiles * 2;  // of the sides of an image, and none
  const std::int64_t out = vision.size_or("vision_output_dim", kMaxWidth, 7680);
  tower.projector = {{out, config->hidden, true, false}};
  const std::int64_t tables = places + ratios * tiles * places + 2 * ratios * tiles;
  constexpr std::int64_t kNorms = 4;               // before and after the layers
  const std::int64_t unbiased = 4 * tower.layers;  // projections of attention have no biases
  tower.other_parameters = tower.hidden * (tables + kNorms - unbiased);
  config->parts_of_decoder.tower = tower;
}

// Step-3: two convolutions that halve the image each stand between the tower and the projection.
void read_step3_tower(JsonFields& fields, JsonFields& vision, ModelConfig* config) {
  TowerPart tower;
  tower.name = "vision tower";
  tower.unreadable =
      "convolutions of several tokens follow its tower: only calls of text can be predicted";
  tower.layers = vision.size_or("num_hidden_layers", kMaxLayers, 63);
  tower.hidden = tower.attention_width = vision.size_or("hidden_size", kMaxWidth, 1792);
  tower.heads = vision.size_or("num_attention_heads", kMaxHeads, 16);
  tower.intermediate = vision.size_or("intermediate_size", kMaxWidth, 15360);
  tower.patch = vision.size_or("patch_size", kMaxPixels, 14);
  tower.side = vision.size_or("image_size", kMaxPixels, 728);
  const std::int64_t channels = vision.size_or("num_channels", 64, 3);
  tower.patch_elements = tower.patch * tower.patch * channels;
  const std::int64_t along = std::max<std::int64_t>(1, tower.side / tower.patch);
  tower.positions = along * along + 1;  // and that of the class
  const std::int64_t first = vision.size_or("output_hidden_size", kMaxWidth, 4096);
  constexpr std::int64_t kFirstPixels = 4;   // 2 x 2
  constexpr std::int64_t kSecondPixels = 9;  // 3 x 3
  tower.projector = {{kFirstPixels * tower.hidden, first, true, false},
                     {kSecondPixels * first, 2 * first, true, false},
                     {2 * first, config->hidden, fields.flag_or("projector_bias", false), false}};
  tower.other_parameters = tower.hidden;  // the token of the class
  config->parts_of_decoder.tower = tower;
}

// DeepSeek-OCR: one tower reads an image in windows, convolutions make its map smaller, and a
// second tower reads what they leave.
void read_towers_in_a_row(JsonFields& fields, JsonFields& vision, ModelConfig* config) {
  TowerPart tower;
  tower.name = "vision tower";
  tower.unreadable =
      "its towers read an image one after the other, with windows and convolutions, which are left "
      "out: only calls of text can be predicted";
  JsonFields towers = vision.inside("width");
  for (const std::string& name : towers.names()) {
    JsonFields part = towers.inside(name);
    const std::int64_t width = part.size("width", kMaxWidth);
    const std::int64_t layers = part.size("layers", kMaxLayers);
    const std::int64_t patch = part.size_or("patch_size", kMaxPixels, 16);
    const std::int64_t side =
        part.size_or("image_size", kMaxPixels, vision.size_or("image_size", kMaxPixels, 1024));
    const std::int64_t along = std::max<std::int64_t>(1, side / patch);
    constexpr std::int64_t kChannels = 3;
    constexpr std::int64_t kTaps = 9;  // of a convolution of 3 x 3
    std::int64_t channels = 256;       // of the first of them
    tower.other_parameters += layers * (12 * width * width + 13 * width) +
                              width * (patch * patch * kChannels + along * along);
    if (part.has("downsample_channels")) {
      tower.other_parameters += channels * (width + kTaps * channels);
      for (const std::int64_t next : part.sizes("downsample_channels", kMaxWidth))
        tower.other_parameters += kTaps * std::exchange(channels, next) * next;
    }
    towers.take_problems(part);
  }
  JsonFields projector = fields.part("projector_config");
  tower.projector = {
      {projector.size_or("input_dim", kMaxWidth, 2048), config->hidden, true, false}};
  vision.take_problems(towers);
  config->parts_of_decoder.tower = tower;
}

// Fuyu: patches become tokens by one matrix, without a transformer.
void read_patch_matrix(JsonFields& fields, ModelConfig* config) {
  TowerPart& tower = config->parts_of_decoder.tower;
  tower.name = "matrix of patches";
  tower.hidden = tower.attention_width = config->hidden;
  tower.patch = fields.size_or("patch_size", kMaxPixels, 30);
  tower.patch_elements = tower.patch * tower.patch * fields.size_or("num_channels", 64, 3);
}

// Molmo, whose file states nothing of its CLIP tower (its code, remembered; of the pooling, looked
// up): an attention pools four patches, each as two layers left it.
void read_pooled_tower(ModelConfig* config) {
  TowerPart tower;
  tower.name = "vision tower";
  tower.unreadable =
      "an attention pools the patches of its tower, and images are cut into crops that overlap: "
      "only calls of text can be predicted";
  tower.layers = 23;
  tower.hidden = tower.attention_width = 1024;
  tower.heads = 16;
  tower.intermediate = 4096;
  tower.patch = 14;
  tower.patch_elements = tower.patch * tower.patch * 3;
  tower.positions = 577;
  const std::int64_t wide = config->intermediate / 2;
  tower.projector = {{tower.hidden, wide, false, true}, {wide, config->hidden, false, false}};
  constexpr std::int64_t kLayers = 2;  // that are read
  constexpr std::int64_t kVectors =
      2 + 2 * kLayers;  // class, first norm, paddings; patches no bias
  tower.other_parameters =
      tower.hidden * ((3 * kLayers + 1) * tower.hidden + 4 + kVectors);  // and four biases
  config->parts_of_decoder.tower = tower;
}

std::int64_t parameters_of(const ResamplerPart& part, std::int64_t patch_width) {
  if (part.queries == 0) return 0;
  const std::int64_t square = part.width * part.width;
  constexpr std::int64_t kNorms = 4;  // biases included: of queries and of the result
  const std::int64_t patches = part.width == patch_width ? 0 : part.width * (patch_width + 2);
  const std::int64_t attention = 4 * (square + part.width) + (part.twice ? 4 * square : 0);
  return part.width * (part.queries + kNorms + (part.twice ? 1 : 0)) + patches + attention;
}

}  // namespace

void read_vision_tower(JsonFields& fields, ModelConfig* config) {
  if (config->parts_of_decoder.empty()) return;
  const std::string network = fields.text_or("model_type", "");
  if (network == "fuyu") return read_patch_matrix(fields, config);
  if (network == "molmo") return read_pooled_tower(config);
  if (starts_with(network, "phi4")) return read_phi4_towers(fields, config);
  const char* key = fields.is_object("vit_config") ? "vit_config" : "vision_config";
  if (!fields.has_object(key)) return;
  JsonFields vision = fields.inside(key);
  if (vision.text_or("model_type", "") == "step3_vision_encoder") {
    read_step3_tower(fields, vision, config);
    fields.take_problems(vision);
    return;
  }
  if (vision.is_object("width")) {
    read_towers_in_a_row(fields, vision, config);
    fields.take_problems(vision);
    return;
  }
  if (vision.text_or("model_type", "") == "mllama_vision_model") {
    read_mllama_tower(vision, config);
    fields.take_problems(vision);
    return;
  }
  if (vision.text_or("model_type", "") == "gemma3n_vision") {
    config->notes.emplace_back(
        "vision_config: the tower for images, a convolutional network (MobileNet-V5), is left out");
    return;
  }
  TowerPart tower;
  tower.name = "vision tower";
  const std::string type = vision.text_or("model_type", fields.text_or("model_type", ""));
  const TowerDefaults otherwise = defaults_of(type);
  tower.layers = first_of(vision, {"vt_num_hidden_layers", "depth", "num_hidden_layers", "layers"},
                          kMaxLayers, otherwise.layers);
  tower.hidden = first_of(vision, {"vt_hidden_size", "embed_dim", "hidden_size", "width"},
                          kMaxWidth, otherwise.hidden);
  tower.heads = first_of(vision, {"vt_num_attention_heads", "num_heads", "num_attention_heads"},
                         kMaxHeads, otherwise.heads);
  tower.attention_width = first_of(vision, {"qkv_hidden_size"}, kMaxWidth, tower.hidden);
  const double ratio = vision.number_or("mlp_ratio", 4);
  tower.intermediate =
      first_of(vision, {"vt_intermediate_size", "intermediate_size"}, kMaxWidth,
               std::max<std::int64_t>(
                   1, static_cast<std::int64_t>(ratio * static_cast<double>(tower.hidden))));
  const bool is_glm = type.find("glm4v") != std::string::npos;
  tower.gated = is_glm || is_any(type, {"pixtral", "gemma4_vision", "qwen2_5_vl", "dots"});
  tower.bias = !is_glm && type != "pixtral" && type != "gemma4_vision" && !is_any(type, {"dots"});
  tower.patch = first_of(vision, {"patch_size", "spatial_patch_size"}, kMaxWidth, 14);
  const std::int64_t channels =
      first_of(vision, {"in_channels", "in_chans", "num_channels"}, 64, 3);
  tower.patch_elements =
      tower.patch * tower.patch * channels * first_of(vision, {"temporal_patch_size"}, 64, 1);
  tower.positions =
      first_of(vision, {"num_position_embeddings", "position_embedding_size"}, kMaxPositions, 0);
  if (tower.positions == 0 && vision.has("init_pos_emb_height")) {
    tower.positions = vision.size("init_pos_emb_height", 1 << 14) *
                      vision.size_or("init_pos_emb_width", 1 << 14, 64);
  }
  if (type == "gemma4_vision") tower.positions *= 2;  // rows and columns of the image
  const bool rotates = is_any(type, {"pixtral", "qwen2", "dots"});
  tower.rotates = rotates ||
                  is_any(type, {"qwen3", "moonvit", "kimi", "glm4v", "gemma4", "llama4"}) ||
                  vision.flag_or("use_rope", false);
  const std::int64_t side = !vision.has("image_size") ? 0
                            : vision.is_list("image_size")
                                ? vision.sizes("image_size", kMaxPixels).front()
                                : vision.size("image_size", kMaxPixels);
  if (tower.positions == 0 && !rotates && side > 0)
    tower.positions = (side / tower.patch) * (side / tower.patch);
  if (is_any(network, kFixedSizes)) tower.side = side;
  if (network == "minicpmv") {  // of the slices that images are cut into
    tower.side = fields.size_or("image_size", kMaxPixels, 448);
    if (fields.flag_or("drop_vision_last_layer", false)) --tower.layers;
  }
  if (type == "paddleocr_vl") {
    constexpr std::int64_t kTablePlaces =
        32768;                          // places of a second table, that texts of images have
    constexpr std::int64_t kSides = 4;  // and a block of attention and two matrices at the end
    tower.rotates = true;
    tower.other_parameters = tower.hidden * (kTablePlaces + kSides * tower.hidden) +
                             2 * tower.hidden * tower.intermediate;
  }
  tower.merge = merged_patches(vision, fields);
  read_projector(vision, fields, type, config->hidden, &tower);
  if (tower.side > 0 && tower.pool == 1 && fields.has("mm_tokens_per_image")) {
    const auto tokens = static_cast<double>(fields.size("mm_tokens_per_image", kMaxPositions));
    tower.pool = std::max<std::int64_t>(
        1, std::llround(static_cast<double>(side) / static_cast<double>(tower.patch) /
                        std::sqrt(tokens)));
  }
  tower.projectors =
      1 + static_cast<std::int64_t>(vision.is_list("deepstack_visual_indexes")
                                        ? vision.integers("deepstack_visual_indexes").size()
                                        : 0);
  config->parts_of_decoder.tower = tower;
  fields.take_problems(vision);
}

std::int64_t parameters_of(const TowerPart& tower) {
  if (tower.name.empty()) return 0;
  const std::int64_t matrices = tower.gated ? 3 : 2;
  const std::int64_t biases =
      tower.bias ? 3 * tower.attention_width + 2 * tower.hidden + tower.intermediate : 0;
  const std::int64_t layer = 4 * tower.hidden * tower.attention_width +
                             matrices * tower.hidden * tower.intermediate + biases +
                             (tower.bias ? 4 : 2) * tower.hidden;
  std::int64_t projector = 0;
  for (const ProjectorStep& step : tower.projector) {
    projector += (step.gated ? 2 : 1) * step.in * step.out + (step.bias ? step.out : 0) +
                 (step.shares ? 2 * step.out : 0);
  }
  return tower.layers * layer + tower.hidden * (tower.patch_elements + 1 + tower.positions) +
         tower.projectors * projector + parameters_of(tower.resampler, tower.hidden) +
         tower.other_parameters;
}

}  // namespace foretell

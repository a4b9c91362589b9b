// quantization_config: in which format a checkpoint stores its weights, and which of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/config/stored_formats.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

struct FormatName {
  std::string_view word;  // part of the name that files give
  std::string_view dtype;
  std::string_view name;
};

// The first that matches counts.
constexpr FormatName kFormats[] = {{"w4a16_nvfp4", "nvfp4-weights", "NVFP4 weights"},
                                   {"mxfp4", "mxfp4-weights", "MXFP4"},
                                   {"mxfp8", "fp8", "MXFP8"},
                                   {"nvfp4", "nvfp4", "NVFP4"},
                                   {"w4a16", "int4-weights", "INT4 weights"},
                                   {"w4a8", "int4-weights", "INT4 weights"},
                                   {"fp8", "fp8", "FP8"},
                                   {"int4", "int4-weights", "INT4 weights"},
                                   {"int8", "int8-weights", "INT8 weights"}};

const FormatName* format_of(const std::string& text) {
  const std::string lower = to_lower(text);
  for (const FormatName& format : kFormats) {
    if (lower.find(format.word) != std::string::npos) return &format;
  }
  return nullptr;
}

void take(const FormatName& format, WeightFormat* taken) {
  taken->dtype = format.dtype;
  taken->name = format.name;
}

constexpr std::int64_t kBlock = 128;  // sides of the blocks that kernels are made for

void take_blocks(WeightFormat* format) {
  if (format->dtype != "fp8" || format->block_scales) return;
  format->block_scales = true;
  format->name += " in blocks of 128 x 128";
}

bool is_square(JsonFields& fields, const char* key) {
  return fields.is_list(key) && fields.integers(key) == std::vector<std::int64_t>{kBlock, kBlock};
}

// Blocks that the name of an algorithm states.
bool names_blocks(const std::string& algorithm) {
  const std::string lower = to_lower(algorithm);
  return lower.find("fp8_pb") != std::string::npos || lower.find("fp8_block") != std::string::npos;
}

// The word of kFormats for weights as a group of config_groups describes them; "": for none.
std::string word_of_group(JsonFields& weights) {
  const std::int64_t bits = weights.size_or("num_bits", 64, 8);
  const bool floats = weights.text_or("type", "int") == "float";
  if (bits == 8) return floats ? "fp8" : "int8";
  if (bits != 4) return "";
  if (!floats) return "int4";
  return weights.count_or("group_size", 1 << 20, 0) == 16 ? "nvfp4" : "mxfp4";
}

// One of config_groups: bits, kind of number and size of what shares a scale.
WeightFormat read_group(JsonFields& fields, JsonFields& group) {
  WeightFormat format;
  JsonFields weights = group.part("weights");
  const std::string word = word_of_group(weights);
  fields.take_problems(weights);
  if (word.empty()) {
    fields.problem("config_groups", "weights of " +
                                        std::to_string(weights.size_or("num_bits", 64, 8)) +
                                        " bits cannot be imported; 4 and 8 can");
    return format;
  }
  const bool activations = group.has("input_activations");
  take(*format_of(word), &format);
  if (word == "nvfp4" && !activations) format.dtype = "nvfp4-weights";
  if (word == "fp8" && !activations) format.dtype = "fp8-weights";
  if (is_square(weights, "block_structure")) take_blocks(&format);
  if (word == "int8" && activations) format.dtype = "int8";
  return format;
}

// Groups of weights with a format each.
void read_groups(JsonFields& fields, JsonFields& config, std::vector<FormatRule>* rules) {
  JsonFields groups = config.part("config_groups");
  const std::vector<std::string> names = groups.names();
  if (names.empty()) {
    fields.problem("config_groups", "is empty; it must have a group of weights, such as group_0");
    return;
  }
  for (const std::string& name : names) {
    JsonFields group = groups.part(name);
    const WeightFormat format = read_group(fields, group);
    std::vector<std::string> targets =
        group.is_list("targets") ? group.texts("targets") : std::vector<std::string>{};
    if (targets.empty()) targets.emplace_back("Linear");
    for (const std::string& target : targets) rules->push_back({target, format});
  }
}

// Names of experts of a layer as that of its first one: files name each for itself.
std::string of_first_expert(const std::string& module) {
  constexpr std::string_view kExperts = ".experts.";
  const std::size_t found = module.find(kExperts);
  if (found == std::string::npos) return module;
  const std::size_t begin = found + kExperts.size();
  const std::size_t end = module.find_first_not_of("0123456789", begin);
  if (end == begin) return module;
  return module.substr(0, begin) + "0" + (end == std::string::npos ? "" : module.substr(end));
}

// A table of modules with a format each; the others have none.
void read_mixed(JsonFields& fields, JsonFields& config, ModelConfig* model) {
  if (!config.is_object("quantized_layers")) {
    fields.problem("quantized_layers",
                   "is missing; a mixed quantisation must say which modules have which format");
    return;
  }
  JsonFields layers = config.part("quantized_layers");
  std::map<std::string, std::string> algorithms;
  bool unlike = false;
  for (const std::string& module : layers.names()) {
    JsonFields one = layers.part(module);
    const std::string algorithm = one.text_or("quant_algo", "");
    const auto [known, is_new] = algorithms.try_emplace(of_first_expert(module), algorithm);
    unlike = unlike || known->second != algorithm;
    if (!is_new) continue;
    WeightFormat format;
    const FormatName* named = format_of(algorithm);
    if (named != nullptr) take(*named, &format);
    if (names_blocks(algorithm)) take_blocks(&format);
    if (named == nullptr && !algorithm.empty() && to_lower(algorithm) != "none") {
      std::vector<std::string> words;
      for (const FormatName& row : kFormats) words.emplace_back(row.word);
      fields.problem("quantized_layers", unknown_name("quantisation", algorithm, words).what());
      return;
    }
    model->checkpoint.rules.push_back({known->first, format});
  }
  if (unlike) {
    model->notes.emplace_back(
        "quantized_layers: experts of one layer have several formats; that of the first is taken");
  }
}

// AMD Quark: the types of weights and of what they are multiplied with.
WeightFormat read_quark(JsonFields& fields, JsonFields all) {
  WeightFormat format;
  JsonFields weight = all.part("weight");
  const std::string type = weight.text_or("dtype", "");
  const std::string scales = to_lower(weight.text_or("scale_format", ""));
  const bool activations = all.is_object("input_tensors");
  const std::map<std::string, const char*> words = {{"fp4", scales == "e8m0" ? "mxfp4" : "nvfp4"},
                                                    {"mxfp4", "mxfp4"},
                                                    {"fp8_e4m3", "fp8"},
                                                    {"fp8_e5m2", "fp8"},
                                                    {"int8", "int8"},
                                                    {"uint8", "int8"},
                                                    {"int4", "int4"},
                                                    {"uint4", "int4"}};
  if (type.empty() && !all.is_object("weight")) return format;
  const auto found = words.find(type);
  if (found == words.end()) {
    std::vector<std::string> known;
    for (const auto& [name, word] : words) known.push_back(name);
    fields.problem("quantization_config", unknown_name("type of weights", type, known).what());
    return format;
  }
  const std::string word = found->second;
  take(*format_of(word), &format);
  if (word == "fp8" && !activations) format.dtype = "fp8-weights";
  if (word == "int8" && activations) format.dtype = "int8";
  return format;
}

// Formats that are known, and whose products there is no description of.
std::string_view missing_products(const std::string& method) {
  constexpr std::pair<std::string_view, std::string_view> kMissing[] = {
      {"aqlm", "sums of entries of codebooks, about 2 bits a weight"},
      {"vptq", "entries of codebooks of vectors, about 2 bits a weight"},
      {"quip", "rotated weights as entries of a lattice"},
      {"higgs", "rotated weights as points of a grid"},
      {"spqr", "weights of 3 bits beside a few in 16"},
      {"bitnet", "weights of -1, 0 and 1"},
      {"exl2", "weights of several numbers of bits in one matrix"},
      {"exl3", "weights as paths through a trellis"},
      {"gguf", "weights in blocks of 2 to 8 bits, as the .gguf file beside says"},
      {"qtip", "weights as paths through a trellis"}};
  for (const auto& [name, what] : kMissing) {
    if (method == name) return what;
  }
  return "";
}

// Weights of these many bits, by methods that round them and keep activations wide.
void take_integers(JsonFields& fields, std::int64_t bits, WeightFormat* format) {
  if (bits == 4 || bits == 8) return take(*format_of(bits == 8 ? "int8" : "int4"), format);
  fields.problem("quantization_config",
                 "weights of " + std::to_string(bits) + " bits cannot be imported; 4 and 8 can");
}

// Weights that share a scale: a number of them, or -1 for a whole row.
void check_group_size(JsonFields& config) {
  constexpr double kLeast = 16;  // of kernels that are known
  const double size = config.number_or("group_size", -1);
  if (size == -1 || (size >= kLeast && std::fmod(size, kLeast) == 0)) return;
  config.problem("group_size", fmt::format("is {}; groups are of 16, 32, 64, 128 or another "
                                           "multiple of 16 weights, or -1 for whole rows",
                                           size));
}

// bitsandbytes: one of two switches, or neither for 16 bits.
void read_switches(JsonFields& config, WeightFormat* format) {
  const bool four = config.flag_or("load_in_4bit", false);
  const bool eight = config.flag_or("load_in_8bit", false);
  if (four && eight) {
    config.problem("load_in_4bit", "contradiction: load_in_8bit is true, too");
  } else if (four || eight) {
    take(*format_of(four ? "int4" : "int8"), format);
  }
}

// HQQ: one setting for all layers, under one of two names.
void read_hqq(JsonFields& fields, JsonFields& config, WeightFormat* format) {
  JsonFields settings = config.part("quant_config");
  if (!settings.is_object("weight_quant_params") && !settings.names().empty()) {
    JsonFields first = settings.part(settings.names().front());
    take_integers(fields, first.part("weight_quant_params").size_or("nbits", 64, 4), format);
    return;
  }
  JsonFields weights = settings.part("weight_quant_params");
  take_integers(fields, weights.size_or("nbits", 64, config.size_or("nbits", 64, 4)), format);
}

// "int4_weight_only", or a class of torchao: "Int4WeightOnlyConfig".
void read_torchao(JsonFields& fields, JsonFields& config, WeightFormat* format) {
  std::string type = config.is_text("quant_type") ? config.text("quant_type") : "";
  if (config.is_object("quant_type")) {
    JsonFields types = config.part("quant_type");
    JsonFields one = types.part("default");
    type = one.text_or("_type", types.text_or("_type", ""));
  }
  std::string word = to_lower(type);
  word.erase(std::remove(word.begin(), word.end(), '_'), word.end());
  const auto holds = [&word](std::string_view part) {
    return word.find(part) != std::string::npos;
  };
  const bool activations = holds("dynamicactivation") || holds("staticactivation");
  if (holds("int4weight")) return take(*format_of("int4"), format);
  if (holds("int8weight")) {
    take(*format_of("int8"), format);
    if (activations) format->dtype = "int8";
    return;
  }
  if (holds("float8weight")) {
    take(*format_of("fp8"), format);
    if (!activations) format->dtype = "fp8-weights";
    return;
  }
  fields.problem(
      "quantization_config",
      unknown_name("torchao quant_type", type,
                   {"int4_weight_only", "int8_weight_only", "int8_dynamic_activation_int8_weight",
                    "float8_weight_only", "float8_dynamic_activation_float8_weight"})
          .what());
}

// Methods that state a word for their weights: EETQ "int8", Quanto "int4".
void read_weights_word(JsonFields& fields, JsonFields& config, WeightFormat* format) {
  const std::string weights = to_lower(config.text_or("weights", "int8"));
  const bool floats = weights.find("float8") != std::string::npos;
  const FormatName* named = format_of(floats ? "fp8" : weights);
  if (named == nullptr) {
    fields.problem("quantization_config",
                   unknown_name("type of weights", weights, {"int4", "int8", "float8"}).what());
    return;
  }
  take(*named, format);
  if (floats) format->dtype = "fp8-weights";
}

// GPTQModel: expressions with other bits for what they match, or with none ("-:…").
void read_dynamic(JsonFields& fields, JsonFields& config, const WeightFormat& others,
                  std::vector<FormatRule>* rules) {
  if (!config.is_object("dynamic")) return;
  JsonFields dynamic = config.part("dynamic");
  for (const std::string& name : dynamic.names()) {
    const bool is_marked = starts_with(name, "-:") || starts_with(name, "+:");
    WeightFormat format;
    if (!starts_with(name, "-:")) {
      JsonFields one = dynamic.part(name);
      format = others;
      if (one.has("bits")) take_integers(fields, one.size_or("bits", 64, 4), &format);
    }
    rules->push_back({"re:" + (is_marked ? name.substr(2) : name), format});
  }
}

// AutoRound: modules with bits of their own, 16 among them; names with special characters are
// expressions that are searched for, wherever they stand.
void read_extra(JsonFields& fields, JsonFields& config, std::vector<FormatRule>* rules) {
  if (!config.is_object("extra_config")) return;
  JsonFields extra = config.part("extra_config");
  for (const std::string& name : extra.names()) {
    JsonFields one = extra.part(name);
    if (!one.has("bits")) continue;
    const std::int64_t bits = one.size_or("bits", 64, 16);
    WeightFormat format;
    if (bits < 16) take_integers(fields, bits, &format);
    const bool is_searched = name.find_first_of("*+?^$()[]{}|\\") != std::string::npos;
    rules->push_back({is_searched ? "re:.*(?:" + name + ")" : of_first_expert(name), format});
  }
}

void read_one(JsonFields& fields, JsonFields& config, ModelConfig* model) {
  model->checkpoint = {};
  CheckpointFormat& checkpoint = model->checkpoint;
  std::vector<FormatRule>& rules = checkpoint.rules;
  const bool stated = config.has("quant_method") || config.has("quant_algo");
  const std::size_t problems = config.problems();
  const std::string method = to_lower(config.text_or("quant_method", "modelopt"));
  if (config.problems() > problems) return;  // it is no text
  for (const char* key : {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers",
                          "exclude", "llm_int8_skip_modules"}) {
    if (!config.is_list(key)) continue;
    for (const std::string& module : config.texts(key)) rules.push_back({module, {}});
  }
  checkpoint.fp8_cache = config.is_object("kv_cache_scheme") ||
                         to_lower(config.text_or("kv_cache_quant_algo", "")) == "fp8";
  std::string words = method + " " + config.text_or("quant_algo", "") + " " +
                      (config.is_text("format") ? config.text("format") : "");
  WeightFormat format;
  if (config.is_object("config_groups") && !config.has("quant_algo")) {
    return read_groups(fields, config, &rules);
  }
  if (to_lower(words).find("mixed") != std::string::npos) return read_mixed(fields, config, model);
  if (starts_with(method, "gptq") || starts_with(method, "awq") ||
      ends_with(method, "auto-round")) {
    take_integers(fields, config.size_or("bits", 64, config.size_or("w_bit", 64, 4)), &format);
    check_group_size(config);
    read_dynamic(fields, config, format, &rules);
    read_extra(fields, config, &rules);
    if (config.flag_or("lm_head", false)) rules.push_back({"lm_head", format});
  } else if (method == "hqq") {
    read_hqq(fields, config, &format);
  } else if (method == "torchao") {
    read_torchao(fields, config, &format);
  } else if (method == "eetq" || method == "quanto") {
    read_weights_word(fields, config, &format);
  } else if (const std::string_view what = missing_products(method); !what.empty()) {
    fields.problem("quantization_config",
                   "'" + method + "' cannot be imported; missing is " + std::string(what));
    return;
  } else if (method == "quark") {
    format = read_quark(fields, config.part("global_quant_config"));
    JsonFields own = config.part("layer_quant_config");
    for (const std::string& name : own.names())
      rules.push_back({name, read_quark(fields, own.part(name))});
  } else if (method == "bitsandbytes") {
    read_switches(config, &format);
  } else if (const FormatName* named = format_of(words)) {
    take(*named, &format);
  } else {
    const std::vector<std::string> known = {
        "fp8",          "mxfp4",      "modelopt", "compressed-tensors", "gptq", "awq",
        "bitsandbytes", "fbgemm_fp8", "quark",    "auto-round",         "hqq",  "torchao",
        "eetq",         "quanto"};
    fields.problem("quantization_config",
                   stated ? unknown_name("quantisation", method, known).what()
                          : "states no quant_method; there are: " + join(known, ", "));
    return;
  }
  if (is_square(config, "weight_block_size") || names_blocks(words)) take_blocks(&format);
  rules.push_back({"Linear", format});
}

}  // namespace

void read_checkpoint_format(JsonFields& fields, ModelConfig* config) {
  bool is_stated = false;
  if (fields.has("quantization_config") && !fields.is_object("quantization_config")) {
    fields.problem("quantization_config",
                   "must be an object with a quant_method, or left out for weights in 16 bits");
  }
  for (const char* place : {"quantization_config", "quantization"}) {  // in hf_quant_config.json
    if (!fields.is_object(place)) continue;
    JsonFields inner = fields.part(place);
    read_one(fields, inner, config);
    fields.take_problems(inner);
    is_stated = true;
  }
  if (fields.is_text("expert_dtype") && fields.text("expert_dtype") == "fp4") {
    std::vector<FormatRule>& rules = config->checkpoint.rules;
    WeightFormat format;
    take(*format_of("mxfp4"), &format);
    const bool has_class = !rules.empty() && rules.back().pattern == "Linear";
    rules.insert(has_class ? rules.end() - 1 : rules.end(), {"experts", format});
    is_stated = true;
  }
  if (is_stated && fields.problems() == 0) place_formats(config);
}

}  // namespace foretell

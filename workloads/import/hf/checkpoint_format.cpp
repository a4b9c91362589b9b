// quantization_config: in which format a checkpoint stores its weights, and which of them.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/parts_reader.hpp"

namespace foretell {
namespace {

struct FormatName {
  std::string_view word;  // part of the name that files give
  std::string_view dtype;
  std::string_view name;
};

// The first that matches counts.
constexpr FormatName kFormats[] = {{"mxfp4", "mxfp4-weights", "MXFP4"},
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

void take(const FormatName& format, CheckpointFormat* checkpoint) {
  checkpoint->dtype = format.dtype;
  checkpoint->name = format.name;
}

constexpr std::int64_t kBlock = 128;  // sides of the blocks that kernels are made for

void take_blocks(CheckpointFormat* checkpoint) {
  if (checkpoint->dtype != "fp8") return;
  checkpoint->block_scales = true;
  checkpoint->name += " in blocks of 128 x 128";
}

bool is_square(JsonFields& fields, const char* key) {
  return fields.is_list(key) && fields.integers(key) == std::vector<std::int64_t>{kBlock, kBlock};
}

bool mentions(const std::vector<std::string>& modules, std::string_view word) {
  return std::any_of(modules.begin(), modules.end(), [word](const std::string& module) {
    return module.find(word) != std::string::npos;
  });
}

// A list that names projections of attention one by one, and not that of the result.
bool spares_output(const std::vector<std::string>& modules) {
  return std::all_of(modules.begin(), modules.end(), [](const std::string& module) {
    const std::size_t part = module.find("self_attn.");
    if (part == std::string::npos) return module.find("self_attn") == std::string::npos;
    const std::size_t named = module.find("_proj", part);
    return named != std::string::npos && module.find("o_proj", part) == std::string::npos;
  });
}

void read_exceptions(const std::vector<std::string>& modules, CheckpointFormat* checkpoint) {
  if (mentions(modules, "self_attn")) {
    checkpoint->attention = false;
    checkpoint->attention_output = spares_output(modules);
  }
  const bool shared = mentions(modules, "shared_expert");
  const bool dense = mentions(modules, "gate_up") || mentions(modules, "mlp\\.(gate");
  if (!checkpoint->attention && shared && dense) checkpoint->experts_only = true;
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
void read_group(JsonFields& fields, JsonFields& group, CheckpointFormat* checkpoint) {
  JsonFields weights = group.part("weights");
  const std::string word = word_of_group(weights);
  if (word.empty()) {
    fields.problem("config_groups", "weights of " +
                                        std::to_string(weights.size_or("num_bits", 64, 8)) +
                                        " bits cannot be imported; 4 and 8 can");
    return;
  }
  const bool activations = group.has("input_activations");
  take(*format_of(word), checkpoint);
  if (word == "nvfp4" && !activations) checkpoint->dtype = "nvfp4-weights";
  if (word == "fp8" && !activations) checkpoint->dtype = "fp8-weights";
  if (is_square(weights, "block_structure")) take_blocks(checkpoint);
  if (word == "int8" && activations) checkpoint->dtype = "int8";
  fields.take_problems(weights);
}

// Whether a group is about feed-forward networks: layers of attention are named otherwise.
bool is_of_experts(JsonFields& group) {
  const std::vector<std::string> targets =
      group.is_list("targets") ? group.texts("targets") : std::vector<std::string>{};
  return mentions(targets, "experts") || mentions(targets, "mlp") || mentions(targets, "ffn");
}

// Groups of weights with a format each; of several, that of the experts is taken for these.
void read_groups(JsonFields& fields, JsonFields& config, ModelConfig* model) {
  JsonFields groups = config.part("config_groups");
  const std::vector<std::string> names = groups.names();
  if (names.empty()) {
    fields.problem("config_groups", "is empty; it must have a group of weights, such as group_0");
    return;
  }
  JsonFields chosen = groups.part(names.front());
  std::set<std::string> words;
  bool experts = false;
  for (const std::string& name : names) {
    JsonFields group = groups.part(name);
    JsonFields weights = group.part("weights");
    words.insert(word_of_group(weights));
    fields.take_problems(weights);
    if (experts || !is_of_experts(group)) continue;
    experts = true;
    chosen = group;
  }
  read_group(fields, chosen, &model->checkpoint);
  if (words.size() < 2) return;
  model->checkpoint.experts_only = experts;
  model->notes.push_back(
      "quantization_config: config_groups have several formats; " + model->checkpoint.name +
      (experts ? ", that of the experts, is taken for these and BF16 for the others"
               : " is taken for all"));
}

// From a table of modules and formats, that of the experts or else of most.
void read_mixed(JsonFields& config, CheckpointFormat* checkpoint, ModelConfig* model) {
  if (!config.is_object("quantized_layers")) return;
  JsonFields layers = config.part("quantized_layers");
  std::map<std::string, std::int64_t> counts;
  bool experts = false;
  for (const std::string& module : layers.names()) {
    const bool is_expert = module.find("experts") != std::string::npos;
    if (is_expert && !experts) counts.clear();
    experts = experts || is_expert;
    if (is_expert != experts) continue;
    if (counts.size() > 64 || counts["seen"]++ > 4096) break;
    JsonFields one = layers.part(module);
    ++counts[one.text_or("quant_algo", "")];
  }
  counts.erase("seen");
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const FormatName* format = most == counts.end() ? nullptr : format_of(most->first);
  if (format == nullptr) return;
  take(*format, checkpoint);
  checkpoint->experts_only = experts;
  model->notes.push_back("quantization_config: layers have several formats; " +
                         std::string(format->name) + (experts ? ", that of the experts," : "") +
                         " is taken for " + (experts ? "these" : "all") +
                         (experts ? " and BF16 for the others" : ""));
}

// AMD Quark: the types of all weights and of what they are multiplied with.
void read_quark(JsonFields& fields, JsonFields& config, CheckpointFormat* checkpoint) {
  JsonFields all = config.part("global_quant_config");
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
  const auto found = words.find(type);
  if (found == words.end()) {
    std::vector<std::string> known;
    for (const auto& [name, word] : words) known.push_back(name);
    fields.problem("quantization_config", unknown_name("type of weights", type, known).what());
    return;
  }
  const std::string word = found->second;
  take(*format_of(word), checkpoint);
  if (word == "fp8" && !activations) checkpoint->dtype = "fp8-weights";
  if (word == "int8" && activations) checkpoint->dtype = "int8";
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
void take_integers(JsonFields& fields, std::int64_t bits, CheckpointFormat* checkpoint) {
  if (bits == 4 || bits == 8) return take(*format_of(bits == 8 ? "int8" : "int4"), checkpoint);
  fields.problem("quantization_config",
                 "weights of " + std::to_string(bits) + " bits cannot be imported; 4 and 8 can");
}

// HQQ: one setting for all layers, under one of two names.
void read_hqq(JsonFields& fields, JsonFields& config, CheckpointFormat* checkpoint) {
  JsonFields settings = config.part("quant_config");
  if (!settings.is_object("weight_quant_params") && !settings.names().empty()) {
    JsonFields first = settings.part(settings.names().front());
    take_integers(fields, first.part("weight_quant_params").size_or("nbits", 64, 4), checkpoint);
    return;
  }
  JsonFields weights = settings.part("weight_quant_params");
  take_integers(fields, weights.size_or("nbits", 64, config.size_or("nbits", 64, 4)), checkpoint);
}

// "int4_weight_only", or a class of torchao: "Int4WeightOnlyConfig".
void read_torchao(JsonFields& fields, JsonFields& config, CheckpointFormat* checkpoint) {
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
  if (holds("int4weight")) return take(*format_of("int4"), checkpoint);
  if (holds("int8weight")) {
    take(*format_of("int8"), checkpoint);
    if (activations) checkpoint->dtype = "int8";
    return;
  }
  if (holds("float8weight")) {
    take(*format_of("fp8"), checkpoint);
    if (!activations) checkpoint->dtype = "fp8-weights";
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
void read_weights_word(JsonFields& fields, JsonFields& config, CheckpointFormat* checkpoint) {
  const std::string weights = to_lower(config.text_or("weights", "int8"));
  const bool floats = weights.find("float8") != std::string::npos;
  const FormatName* format = format_of(floats ? "fp8" : weights);
  if (format == nullptr) {
    fields.problem("quantization_config",
                   unknown_name("type of weights", weights, {"int4", "int8", "float8"}).what());
    return;
  }
  take(*format, checkpoint);
  if (floats) checkpoint->dtype = "fp8-weights";
}

void read_one(JsonFields& fields, JsonFields& config, ModelConfig* model) {
  CheckpointFormat& checkpoint = model->checkpoint;
  const bool stated = config.has("quant_method") || config.has("quant_algo");
  const std::size_t problems = config.problems();
  const std::string method = to_lower(config.text_or("quant_method", "modelopt"));
  if (config.problems() > problems) return;  // it is no text
  std::string words = method + " " + config.text_or("quant_algo", "") + " " +
                      (config.is_text("format") ? config.text("format") : "");
  if (config.is_object("config_groups") && !config.has("quant_algo")) {
    read_groups(fields, config, model);
  } else if (to_lower(words).find("mixed") != std::string::npos) {
    read_mixed(config, &checkpoint, model);
  } else if (starts_with(method, "gptq") || starts_with(method, "awq") ||
             ends_with(method, "auto-round")) {
    const std::int64_t bits = config.size_or("bits", 64, config.size_or("w_bit", 64, 4));
    if (bits != 4 && bits != 8) {
      fields.problem("quantization_config", "weights of " + std::to_string(bits) +
                                                " bits cannot be imported; 4 and 8 can");
      return;
    }
    take(*format_of(bits == 8 ? "int8" : "int4"), &checkpoint);
  } else if (method == "hqq") {
    read_hqq(fields, config, &checkpoint);
  } else if (method == "torchao") {
    read_torchao(fields, config, &checkpoint);
  } else if (method == "eetq" || method == "quanto") {
    read_weights_word(fields, config, &checkpoint);
  } else if (const std::string_view what = missing_products(method); !what.empty()) {
    fields.problem("quantization_config",
                   "'" + method + "' cannot be imported; missing is " + std::string(what));
    return;
  } else if (method == "quark") {
    read_quark(fields, config, &checkpoint);
  } else if (method == "bitsandbytes") {
    take(*format_of(config.flag_or("load_in_4bit", false) ? "int4" : "int8"), &checkpoint);
  } else if (const FormatName* format = format_of(words)) {
    take(*format, &checkpoint);
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
  if (is_square(config, "weight_block_size") || mentions({to_lower(words)}, "fp8_pb"))
    take_blocks(&checkpoint);
  for (const char* key :
       {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers", "exclude"}) {
    if (config.is_list(key)) read_exceptions(config.texts(key), &checkpoint);
  }
  checkpoint.fp8_cache = config.is_object("kv_cache_scheme") ||
                         to_lower(config.text_or("kv_cache_quant_algo", "")) == "fp8";
}

}  // namespace

void read_checkpoint_format(JsonFields& fields, ModelConfig* config) {
  CheckpointFormat& checkpoint = config->checkpoint;
  if (fields.has("quantization_config") && !fields.is_object("quantization_config")) {
    fields.problem("quantization_config",
                   "must be an object with a quant_method, or left out for weights in 16 bits");
  }
  if (fields.is_object("quantization_config")) {
    JsonFields inner = fields.part("quantization_config");
    read_one(fields, inner, config);
    fields.take_problems(inner);
  }
  if (fields.is_object("quantization")) {  // hf_quant_config.json
    JsonFields inner = fields.part("quantization");
    read_one(fields, inner, config);
    fields.take_problems(inner);
  }
  const bool has_own = checkpoint.experts_only;  // a group of config_groups says more of them
  if (!has_own && fields.is_text("expert_dtype") && fields.text("expert_dtype") == "fp4") {
    checkpoint.dtype = "mxfp4-weights";
    checkpoint.name = "MXFP4 experts";
    checkpoint.experts_only = true;
    config->notes.emplace_back(
        "expert_dtype: experts in MXFP4; the other weights, FP8 in the file, "
        "are taken as BF16");
  }
}

}  // namespace foretell

#include "workloads/import/workload.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <utility>

#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/limited_text.hpp"
#include "model/base/names.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/config/architecture.hpp"
#include "workloads/import/hf/decoder/decoder_graph.hpp"
#include "workloads/import/hf/encoder/encoder_decoder_graph.hpp"
#include "workloads/import/hf/encoder/encoder_graph.hpp"
#include "workloads/import/hf/encoder/windowed_encoder_graph.hpp"
#include "workloads/import/hf/vision/vision_graph.hpp"
#include "workloads/import/onnx/onnx_import.hpp"
#include "workloads/import/onnx/onnx_inputs.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxBatch = 1 << 20;
constexpr std::size_t kMaxKept = 32;

struct KeptFolders : KeptValues<std::vector<std::string>, kMaxKept> {};
struct KeptNetworks : KeptValues<ModelConfig, kMaxKept> {};
constexpr std::string_view kExtension = ".json";
constexpr std::string_view kConfigFile = "config.json";
// Beside a config.json: formats of weights, the second one of older tools, without the words around
// them, and low-rank matrices.
constexpr std::string_view kFormatFile = "hf_quant_config.json";
constexpr std::string_view kPlainFormatFile = "quantize_config.json";
constexpr std::string_view kAdapterFile = "adapter_config.json";

std::string default_folder() {
  const char* overridden = std::getenv("FORETELL_WORKLOADS");
  return overridden != nullptr ? overridden : (data_root() / "workloads" / "models").string();
}

std::string read_file(const std::string& path) {
  if (fs::is_directory(path)) throw UserError(path + ": is a folder; give the config.json in it");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UserError(path + ": cannot be read");
  return read_limited(stream, path);
}

std::string without_organisation(const std::string& name) {
  return name.substr(name.find('/') + 1);
}

// A folder as a network is downloaded into: its config.json.
std::string config_in(const std::string& folder) {
  const fs::path file = fs::path(folder) / kConfigFile;
  if (!fs::is_regular_file(file)) {
    throw UserError(folder + ": is a folder without a config.json; name the folder of a network, " +
                    "its config.json or an ONNX file");
  }
  return file.string();
}

// What a file of the user's beside a config.json says; null where there is none.
std::shared_ptr<const Architecture> architecture_in(const fs::path& folder) {
  const fs::path file = folder / kArchitectureFile;
  if (!fs::exists(file)) return nullptr;
  return std::make_shared<const Architecture>(load_architecture(file));
}

// Whether a user who types `given` means `name`.
bool is_called(const std::string& name, std::string_view given) {
  const std::string known = to_lower(name);
  const std::string wanted = to_lower(given);
  return known == wanted || without_organisation(known) == wanted;
}

bool is_config_path(std::string_view name) {
  const std::string extension = fs::path(name).extension().string();
  return extension == kExtension || extension == ".yaml" || extension == ".yml";
}

// What to call a network that is read from a file: config.json says nothing, its folder does.
std::string name_of_file(const fs::path& path) {
  if (path.stem() != "config" || !path.has_parent_path()) return path.stem().string();
  return fs::absolute(path).parent_path().filename().string();
}

void check_size(const std::string& key, std::int64_t value, std::int64_t most,
                const std::string& why) {
  if (value >= 1 && value <= most) return;
  throw UserError(key + " is " + std::to_string(value) + "; it must be from 1 to " +
                  std::to_string(most) + why);
}

void check_phase(const ModelConfig& config, Phase phase) {
  if (runs_forward(config.family) && phase != Phase::kForward) {
    const bool encodes = config.family == Family::kEncoder;
    throw UserError(config.name + (encodes ? " is an encoder and" : "") + " generates no tokens: " +
                    (encodes ? "give --seq, not" : "leave out") + " --input-len and --output-len");
  }
  if (config.family == Family::kEncoderDecoder && phase == Phase::kForward) {
    throw UserError(config.name +
                    " has an encoder and a decoder: give --input-len and --output-len, not --seq");
  }
}

void check_stage(const ModelConfig& config, const Binding& binding) {
  const bool whole = binding.first_layer == 0 && binding.last_layer == kLastLayer;
  if (whole) return;
  if (config.family != Family::kDecoder)
    throw UserError(config.name + ": only decoders are cut into pipeline stages; leave --pp out");
  const std::int64_t last =
      binding.last_layer == kLastLayer ? config.layers - 1 : binding.last_layer;
  if (binding.first_layer >= 0 && binding.first_layer <= last && last < config.layers) return;
  throw UserError("layers " + std::to_string(binding.first_layer) + " to " + std::to_string(last) +
                  " are no pipeline stage of " + config.name + ", whose layers are 0 to " +
                  std::to_string(config.layers - 1));
}

void check_window(const ModelConfig& config, std::int64_t positions) {
  if (encoded_positions(config, positions) == positions) return;
  throw UserError(config.name + ": its encoder reads windows of " +
                  std::to_string(config.encoder.max_len) + " positions, not " +
                  std::to_string(positions) + "; what is shorter is padded");
}

// As a config.json would have it; where the file names no method it is that of the first such tool.
std::string with_words_around(std::string text) {
  const std::size_t begin = text.find('{');
  if (begin != std::string::npos && text.find(R"("quant_method")") == std::string::npos)
    text.insert(begin + 1, R"("quant_method": "gptq", )");
  return R"({"quantization_config": )" + text + "}";
}

void read_files_beside(const fs::path& folder, ModelConfig* config) {
  for (const std::string_view name : {kFormatFile, kPlainFormatFile}) {
    const fs::path file = folder / name;
    if (!config->checkpoint.dtype.empty() || !fs::is_regular_file(file)) continue;
    std::string text = read_file(file.string());
    if (name == kPlainFormatFile) text = with_words_around(std::move(text));
    read_format_file(text, file.string(), config);
  }
  if (fs::is_regular_file(folder / kAdapterFile)) {
    config->notes.push_back(std::string(kAdapterFile) +
                            ": the adapter (LoRA) beside the network is left out: a call is that "
                            "of the network without it, or with it added to its matrices");
  }
}

}  // namespace

std::int64_t longest_input(const ModelConfig& config) {
  return config.encoder.max_len > 0 ? config.encoder.max_len : config.max_seq_len;
}

std::int64_t encoded_positions(const ModelConfig& config, std::int64_t input_len) {
  return config.encoder.mel_bins > 0 ? config.encoder.max_len : input_len;
}

void check_binding(const ModelConfig& config, const Binding& binding) {
  check_phase(config, binding.phase);
  check_stage(config, binding);
  if (binding.sequence_parallel &&
      (config.family != Family::kDecoder || binding.phase != Phase::kPrefill)) {
    throw UserError(config.name +
                    ": tokens are spread over the cores in the prefill of decoders only; leave "
                    "--sequence-parallel out");
  }
  const std::string longest = ", the longest context of " + config.name;
  check_size("batch", binding.batch, kMaxBatch, "");
  if (config.family == Family::kVision || config.family == Family::kOnnx ||
      config.family == Family::kPipeline)
    return;
  const bool encodes = config.family == Family::kEncoderDecoder && binding.phase == Phase::kPrefill;
  const std::int64_t input = longest_input(config);
  if (encodes) {
    check_size("seq", binding.seq_len, input, ", the longest input of " + config.name);
    check_window(config, binding.seq_len);
  } else {
    check_size("seq", binding.seq_len, config.max_seq_len, longest);
  }
  if (binding.phase == Phase::kForward) return;
  if (!encodes) {
    check_size("kv_len", binding.kv_len, config.max_seq_len, longest);
    if (binding.kv_len < binding.seq_len) {
      throw UserError("kv_len is " + std::to_string(binding.kv_len) + "; it must hold the " +
                      std::to_string(binding.seq_len) + " tokens of this call");
    }
  }
  if (config.family == Family::kEncoderDecoder && !encodes) {
    check_size("encoder_len", binding.encoder_len, input, ", the longest input of " + config.name);
    check_window(config, binding.encoder_len);
  }
}

namespace {

std::string part_names(const ModelConfig& config) {
  std::vector<std::string> names;
  for (const PipelinePart& part : config.parts) names.push_back(part.workload);
  return join(names, ", ");
}

// A folder below with a config.json is one network, whatever else was downloaded into it.
std::vector<std::string> list_networks(const std::string& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& file = entry.path();
    if (!entry.is_regular_file() || file.extension() != kExtension) continue;
    const fs::path inside = file.lexically_relative(folder);
    const bool downloaded =
        inside.has_parent_path() && fs::is_regular_file(file.parent_path() / kConfigFile);
    if (!downloaded) names.push_back(fs::path(inside).replace_extension().generic_string());
    if (downloaded && file.filename() == kConfigFile)
      names.push_back(inside.parent_path().generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Graph build_onnx(const ModelConfig& config, const Binding& binding) {
  return import_onnx(config.onnx_file, onnx_sizes(config, binding), binding.part).graph;
}

}  // namespace

DimensionSizes onnx_sizes(const ModelConfig& config, const Binding& binding) {
  DimensionSizes sizes = binding.dimensions;
  sizes.insert(config.dimensions.begin(), config.dimensions.end());
  sizes.emplace("batch", binding.batch);
  if (binding.seq_len > 0) sizes.emplace("seq", binding.seq_len);
  for (const auto& [name, trips] : binding.trips) sizes[trips_of_loop(name)] = trips;
  return sizes;
}

WorkloadLibrary::WorkloadLibrary() : WorkloadLibrary(default_folder()) {}

WorkloadLibrary::WorkloadLibrary(std::string folder) : folder_(std::move(folder)) {
  if (!fs::is_directory(folder_)) {
    throw UserError("folder of workloads '" + folder_ +
                    "' does not exist: set FORETELL_WORKLOADS to the folder " +
                    "workloads/models of the project");
  }
  names_ = kept_input<KeptFolders>(folder_, [&] { return list_networks(folder_); });
}

ModelConfig WorkloadLibrary::load(std::string_view name) const {
  return kept_input<KeptNetworks>(folder_ + '\n' + std::string(name), [&] { return read(name); });
}

ModelConfig WorkloadLibrary::read(std::string_view name) const {
  if (fs::path(name).extension() == ".onnx") {
    ModelConfig config;
    config.file = config.onnx_file = std::string(name);
    config.name = name_of_file(config.file);
    config.model_type = "onnx";
    config.family = Family::kOnnx;
    config.heads = config.kv_heads = config.layers = 1;
    config.checkpoint.dtype = onnx_stored_dtype(config.file);
    config.checkpoint.name = "INT8 in quantised products";
    return config;
  }
  if (is_config_path(name)) {
    const std::string path(name);
    const fs::path folder = fs::path(path).parent_path();
    ModelConfig config =
        parse_model_config(read_file(path), name_of_file(path), path, architecture_in(folder));
    read_files_beside(folder, &config);
    return config;
  }
  const std::string listed = listed_name(name);
  if (!listed.empty()) return load_listed(listed);
  if (fs::is_directory(std::string(name))) return read(config_in(std::string(name)));
  std::vector<std::string> known;
  for (const auto& named : every_name(name)) known.push_back(named.first);
  throw UserError(
      std::string(unknown_name("workload", name, known).what()) +
      "; `foretell list workloads` shows them all; for a network of your own give the path of its "
      "config.json or of an ONNX file");
}

std::string WorkloadLibrary::listed_name(std::string_view name) const {
  std::vector<std::string> matches;
  for (const std::string& candidate : names_) {
    if (is_called(candidate, name)) matches.push_back(candidate);
  }
  if (matches.size() > 1) {
    throw UserError("workload '" + std::string(name) + "' is ambiguous: " + join(matches, ", "));
  }
  if (matches.size() == 1) return matches.front();
  for (const std::string& candidate : names_) {
    const std::vector<std::string> others = other_names(candidate);
    const bool is_meant = std::any_of(others.begin(), others.end(),
                                      [name](const auto& other) { return is_called(other, name); });
    if (is_meant) return candidate;
  }
  std::set<std::string> spelt;
  for (const auto& [called, listed] : every_name(name)) {
    if (is_spelt_like(name, called)) spelt.insert(listed);
  }
  return spelt.size() == 1 ? *spelt.begin() : "";
}

std::vector<std::pair<std::string, std::string>> WorkloadLibrary::every_name(
    std::string_view given) const {
  const bool with_owner = given.find('/') != std::string_view::npos;
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string& listed : names_) names.emplace_back(listed, listed);
  for (const std::string& listed : names_) {
    for (const std::string& other : other_names(listed)) {
      names.emplace_back(with_owner ? other : other.substr(other.rfind('/') + 1), listed);
    }
  }
  return names;
}

std::vector<std::string> WorkloadLibrary::other_names(const std::string& listed) const {
  try {
    const ModelConfig config = load_listed(listed);
    std::vector<std::string> names = config.also_called;
    if (!config.published_as.empty()) names.push_back(config.published_as);
    return names;
  } catch (const UserError&) {
    return {};
  }
}

ModelConfig WorkloadLibrary::load_listed(const std::string& name) const {
  const std::string path = folder_ + "/" + name + std::string(kExtension);
  if (fs::is_regular_file(path)) return parse_model_config(read_file(path), name, path);
  ModelConfig config = read(config_in(folder_ + "/" + name));
  config.name = name;
  return config;
}

std::int64_t bucketed_kv_len(std::int64_t positions, std::int64_t longest, std::int64_t smallest) {
  std::int64_t bucket = smallest;
  while (bucket < positions) bucket *= 2;
  return std::min(bucket, std::max(longest, positions));
}

Graph build_graph(const ModelConfig& config, const Binding& binding) {
  check_binding(config, binding);
  switch (config.family) {
    case Family::kVision:
      return build_vision(config, binding);
    case Family::kPipeline:
      throw UserError(
          config.name +
          ": is several networks, each of which has a graph of its own: " + part_names(config));
    case Family::kOnnx:
      return build_onnx(config, binding);
    case Family::kEncoder:
      if (config.model_type == "xlnet") return build_relative_encoder(config, binding);
      if (config.position_kind == Positions::kRelative) return build_encoder_alone(config, binding);
      if (config.all_tokens_every > 0) return build_windowed_encoder(config, binding);
      return build_encoder(config, binding);
    case Family::kDecoder:
      return build_decoder(config, binding);
    case Family::kEncoderDecoder:
      return binding.phase == Phase::kDecode ? build_encoded_decode(config, binding)
                                             : build_encoder_prefill(config, binding);
  }
  throw InternalError(__FILE__, __LINE__, "network family without a graph builder");
}

}  // namespace foretell

// From the name of a network to its operator graph.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// What one call of a compiled network does.
enum class Phase {
  kForward,  // every token at once, without a cache
  kPrefill,  // the prompt: fills the KV cache, yields the logits of its last token
  kDecode,   // new tokens after what the KV cache holds
};

inline constexpr std::int64_t kLastLayer = -1;  // whichever number it has

// What a network is run with: the sizes that its config.json leaves open.
struct Binding {
  std::int64_t batch = 1;
  std::int64_t seq_len = 128;  // tokens per sequence that this call computes; decode: 1, or more
                               // when several are checked at once
  Phase phase = Phase::kForward;
  std::int64_t kv_len = 0;       // rows of the KV cache, these tokens included; prefill and decode
  std::int64_t encoder_len = 0;  // encoder-decoder, decode: tokens that the encoder has read
  int tensor_parallel = 1;       // the graph is the share of one of this many cores, see shard.hpp
  // Prefill with tensor_parallel: norms and residuals work on the share of the tokens that a core
  // has; sums over the cores leave that share, and tokens are gathered where all are needed.
  bool sequence_parallel = false;
  // With tensor_parallel: every core gets the logits of all, to choose the next token itself.
  bool gather_logits = false;
  // Tokens that the cache holds before those of this call: prefill of a later piece of a prompt.
  std::int64_t context = 0;
  // How a copy's ranks (tensor_parallel * attention_data_parallel of them) share layers of experts:
  // expert_parallel groups, each with some of the experts, of ranks that share the width of each.
  int expert_parallel = 1;
  int attention_data_parallel = 1;     // groups of ranks that each have some of the sequences
  std::string routing = "random";      // of tokens to experts (workloads/ir/routing.hpp)
  std::int64_t redundant_experts = 0;  // copies of the most loaded ones, beside one of each
  // Groups of tensor_parallel ranks that divide the tokens of a prompt and the rows of the cache,
  // or ranks that divide the tokens of a sample that noise is removed from. The graph is the share
  // of one of them (hf/context_parallel.hpp, hf/token_sharing.hpp).
  std::int64_t context_parallel = 1;
  std::int64_t ring = 0;  // of the latter, ranks that keys go around; 0: as few as heads allow
  // The blocks of a pipeline stage, both included; decoders only. The first stage has the
  // embeddings and the last one the head, the others take and give hidden states.
  std::int64_t first_layer = 0;
  std::int64_t last_layer = kLastLayer;
  // Pixels along each side of the images; 0: those that the network was made for.
  std::int64_t image_size = 0;
  std::int64_t image_width = 0;  // where images are not square
  std::int64_t frames = 0;       // of videos
  std::int64_t images = 0;       // in every prompt of a decoder with a tower, of this size
  // Sizes of the dimensions that an ONNX file leaves open, by name.
  std::map<std::string, std::int64_t> dimensions = {};
  // Most trips of the loops of an ONNX file, by name, where the file does not say.
  std::map<std::string, std::int64_t> trips = {};
  // The graph of one part of a network with control flow (control_flow.hpp); "": of a network with
  // early exits all layers and all exits, of an ONNX file what is outside of its branches and
  // loops.
  std::string part = {};
};

// For an encoder-decoder: the longest input of its encoder, and the positions that the encoder
// computes for one of `input_len`: sounds are padded to a whole window (Whisper).
std::int64_t longest_input(const ModelConfig& config);
std::int64_t encoded_positions(const ModelConfig& config, std::int64_t input_len);

// UserError for sizes that the network does not take. build_graph checks them, too.
void check_binding(const ModelConfig& config, const Binding& binding);

// The rows for which a call is compiled that needs `positions` of them: `smallest`, or twice, four
// times … as many, as the vendor's compiler buckets contexts, but never more than `longest`.
std::int64_t bucketed_kv_len(std::int64_t positions, std::int64_t longest, std::int64_t smallest);

// The networks that ship with the project (workloads/models/, or the folder that the environment
// variable FORETELL_WORKLOADS names) and config.json files of the user's own.
class WorkloadLibrary {
 public:
  WorkloadLibrary();  // UserError when the folder does not exist
  explicit WorkloadLibrary(std::string folder);

  // Names as they are listed: the path below the folder without ".json".
  const std::vector<std::string>& names() const { return names_; }

  // `name` is in any case a listed name with or without the organisation in front
  // ("google/electra-base-discriminator", "Electra-Base-Discriminator"), the name under which the
  // network is published ("google-bert/bert-large-uncased"), or the path of a
  // config.json (or the same fields as .yaml).
  // UserError names the nearest workload, or says what is wrong with the file.
  ModelConfig load(std::string_view name) const;

  // The listed name that `name` means, spelt like it or like another name of the network
  // (names.hpp); "" when there is none. UserError for several.
  std::string listed_name(std::string_view name) const;

 private:
  ModelConfig read(std::string_view name) const;
  // What networks are called and which one each name means; with owners where `given` has one.
  std::vector<std::pair<std::string, std::string>> every_name(std::string_view given) const;
  // Those of a network beside the one of its file; none of a file that cannot be read, which is
  // said where it is asked for.
  std::vector<std::string> other_names(const std::string& listed) const;
  ModelConfig load_listed(const std::string& name) const;

  std::string folder_;
  std::vector<std::string> names_;
};

// Sizes that an ONNX file leaves open, by name.
std::map<std::string, std::int64_t> onnx_sizes(const ModelConfig& config, const Binding& binding);

// Graph in FP32 (see workloads/ir/precision.hpp for the types of a run). Encoders run forward;
// decoders in every phase; encoder-decoders in prefill (the encoder, and the keys and values of the
// cross attention) and decode. UserError when the binding does not fit the network: a phase that
// it does not have, batch or length out of range.
Graph build_graph(const ModelConfig& config, const Binding& binding);

}  // namespace foretell

// Decoders of known parts, described as data: workloads/import/hf/architectures/*.yaml, and a file
// architecture.yaml of the user's beside a config.json.
//
//   model_type: foo
//   like: mixtral                  # another described architecture; what follows differs
//   sizes: {hidden: 2048}          # where config.json states none
//   head_norm: per_head
//   fields: {qkv_bias: [use_bias]} # those of config.json that state it
//   experts: ~                     # nothing: leaves out what the other one has
//
// What config.json states counts before what an architecture says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/config/document.hpp"
#include "model/config/fields.hpp"
#include "workloads/import/hf/config/architecture_files.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {

// Which layers see a window, where config.json does not say so of each.
struct WindowRule {
  enum class When { kAlways, kStated, kSwitchedOn, kBelowContext };
  bool exists = false;  // else config.json is asked for none
  When when = When::kAlways;
  std::int64_t width = 0;       // 0: config.json states it, or there is none
  std::int64_t full_every = 0;  // the last of as many layers sees all; 0: none does
  std::vector<std::string> full_every_fields;
};

struct ExpertRule {
  bool exists = false;
  std::int64_t count = 0;  // of these three, 0: config.json states it
  std::int64_t per_token = 0;
  std::int64_t intermediate = 0;
  std::string router = "softmax";
  bool router_bias = false;
  bool groups = false;  // config.json states groups of experts and the router as DeepSeek's does
  std::int64_t shared = 0;
  std::int64_t shared_intermediate = 0;  // of each; 0: that of the others
  bool shared_gate = false;
  std::int64_t first_dense = 0;  // layers at the start without experts
  std::int64_t every = 1;        // one of as many layers has experts …
  bool first_of_every = false;   // … the first of them; else the last
  struct Fields {
    std::vector<std::string> count = {"num_experts"};
    std::vector<std::string> per_token = {"num_experts_per_tok"};
    std::vector<std::string> intermediate = {"moe_intermediate_size"};
    std::vector<std::string> router, router_bias, shared, shared_intermediate, first_dense, every;
    std::vector<std::string> dense_layers;  // a list of numbers of layers
    std::vector<std::string> kinds;         // a list of "sparse" and "dense"
    std::vector<std::string> flags;         // a list of 1 and 0, or true and false
  } fields;
};

struct Architecture {
  enum class NormKind { kRms, kLayer, kLayerWithoutWeights };
  enum class Gate { kNone, kPerHead, kPerColumn };
  std::string model_type;
  std::string class_prefix;  // "" where no class is known
  std::string like;
  std::string where;  // "architecture.yaml:1", where it says its model_type
  SizeDefaults sizes;
  bool tied_embeddings = false;
  NormKind norm = NormKind::kRms;
  LayerForm form = LayerForm::kPreNorm;
  HeadNorm head_norm = HeadNorm::kNone;
  bool gated = true;
  std::string activation = "silu";
  double rotated = 1;
  bool qkv_bias = false, output_bias = false, feed_forward_bias = false, head_bias = false;
  Gate attention_gate = Gate::kNone;
  bool sinks = false;
  struct Fields {
    std::vector<std::string> activation = {"hidden_activation", "hidden_act", "mlp_hidden_act"};
    std::vector<std::string> positions, head_bias, head_norm, parallel, post_norm, rotated,
        draft_layers;
    std::vector<std::string> qkv_bias = {"attention_bias"};
    std::vector<std::string> output_bias = {"attention_bias"};
    std::vector<std::string> feed_forward_bias = {"mlp_bias"};
  } fields;
  WindowRule windows;
  ExpertRule experts;
};

// Every key of a file with its range and meaning.
void fields(FieldList& list, Architecture& of);

// UserError with all that is wrong with the document.
Architecture read_architecture(const Node& root);
Architecture load_architecture(const std::filesystem::path& file);

// Reads a config.json as one of these.
ModelType type_of(Architecture architecture);

}  // namespace foretell

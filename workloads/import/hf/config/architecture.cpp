// The keys of an architecture, and its files.
#include "workloads/import/hf/config/architecture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/problems.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArchitectureEnding = ".yaml";
constexpr int kMostLikenesses = 8;  // more are a circle

fs::path architectures_folder() {
  return data_root() / "workloads" / "import" / "hf" / "architectures";
}

// Nothing (`~`) leaves out what the architecture that this one is like has.
void read_key(const Field& field, const Node& node, Problems& problems) {
  if (node.kind == NodeKind::kNull && field.is_list) return field.assign_list({});
  if (node.kind == NodeKind::kNull && field.is_whole && field.min == 0) return field.assign("0");
  read_plain_value(field, node, problems);
}

// A group of nothing; true where the file states the group.
template <class Group>
bool is_group_stated(Node& root, const char* key, Group* group) {
  const auto entry = std::find_if(root.entries.begin(), root.entries.end(),
                                  [key](const MapEntry& other) { return other.key == key; });
  if (entry == root.entries.end()) return false;
  if (entry->value.kind != NodeKind::kNull) return true;
  *group = Group{};
  root.entries.erase(entry);
  return false;
}

Architecture read_node(Node root, int likenesses) {
  Architecture architecture;
  const Node* like = root.find("like");
  if (like != nullptr) {
    const std::string& name = like->as_text("like");
    const std::string parent = file_of_architecture(name);
    if (parent.empty() || likenesses == kMostLikenesses) {
      throw UserError(
          like->where() + ": like: " +
          unknown_name("described architecture", name, described_architectures()).what() +
          "; `foretell list architectures` shows which have a file");
    }
    architecture = read_node(load_document(parent), likenesses + 1);
    architecture.model_type.clear();
    architecture.class_prefix.clear();
  }
  is_group_stated(root, "sizes", &architecture.sizes);
  if (is_group_stated(root, "windows", &architecture.windows)) architecture.windows.exists = true;
  if (is_group_stated(root, "experts", &architecture.experts)) architecture.experts.exists = true;
  FieldList list;
  fields(list, architecture);
  Problems problems;
  load_fields(root, list, {}, read_key, problems, Missing::kAllowed);
  const Node* type = root.find("model_type");
  if (root.is_map() && type == nullptr)
    problems.add(root, "model_type", "missing; allowed is that of a config.json");
  const ExpertRule::Fields& names = architecture.experts.fields;
  if (names.count.empty() || names.per_token.empty() || names.intermediate.empty()) {
    problems.add(root, "experts.fields",
                 "count, per_token and intermediate name the fields that state them");
  }
  problems.throw_if_any();
  architecture.where = type->where();
  return architecture;
}

}  // namespace

void fields(FieldList& list, SizeDefaults& sizes) {
  list.count("hidden", sizes.hidden, {0, kMaxWidth}, "columns of the stream");
  list.count("layers", sizes.layers, {0, kMaxLayers}, "layers");
  list.count("heads", sizes.heads, {0, kMaxHeads}, "heads of queries");
  list.count("kv_heads", sizes.kv_heads, {0, kMaxHeads}, "heads of keys and values; 0: heads");
  list.count("head_dim", sizes.head_dim, {0, kMaxWidth}, "columns of a head; 0: hidden / heads");
  list.count("intermediate", sizes.intermediate, {0, kMaxWidth},
             "columns of the feed-forward network");
  list.count("expansion", sizes.expansion, {0, kMaxHeads},
             "intermediate / hidden where neither states the former");
  list.count("vocab", sizes.vocab, {0, kMaxVocab}, "rows of the table of words");
  list.count("positions", sizes.positions, {0, kMaxPositions}, "longest context; 0: 4,096");
}

void fields(FieldList& list, Architecture::Fields& names) {
  list.texts("positions", names.positions, "longest context, before the usual fields");
  list.texts("activation", names.activation, "the activation function");
  list.texts("qkv_bias", names.qkv_bias, "whether queries, keys and values have biases");
  list.texts("output_bias", names.output_bias, "whether the output projection has");
  list.texts("feed_forward_bias", names.feed_forward_bias, "whether the feed-forward network has");
  list.texts("head_bias", names.head_bias, "whether the logits have");
  list.texts("head_norm", names.head_norm, "whether queries and keys are normalised");
  list.texts("parallel", names.parallel, "whether layers have the form parallel");
  list.texts("post_norm", names.post_norm, "whether layers have the form post_norm");
  list.texts("rotated", names.rotated, "share of rotated columns");
  list.texts("draft_layers", names.draft_layers, "number of layers that predict further tokens");
}

void fields(FieldList& list, WindowRule& windows) {
  using When = WindowRule::When;
  list.choice<When>("when", windows.when,
                    {{"always", When::kAlways},
                     {"stated", When::kStated},
                     {"switched_on", When::kSwitchedOn},
                     {"below_context", When::kBelowContext}},
                    "stated: with sliding_window, unless use_sliding_window is false; switched_on: "
                    "with use_sliding_window; below_context: with a sliding_window below the "
                    "longest context");
  list.count("width", windows.width, {0, kMaxPositions},
             "keys, where sliding_window is not stated");
  list.count("full_every", windows.full_every, {0, kMaxLayers},
             "the last of as many layers sees all keys; 0: none does");
  list.texts("full_every_fields", windows.full_every_fields, "fields that state full_every");
}

void fields(FieldList& list, ExpertRule::Fields& names) {
  list.texts("count", names.count, "experts");
  list.texts("per_token", names.per_token, "experts of a token");
  list.texts("intermediate", names.intermediate, "columns of an expert");
  list.texts("router", names.router, "the function of the router");
  list.texts("router_bias", names.router_bias, "whether the router has a bias");
  list.texts("shared", names.shared, "number of shared experts");
  list.texts("shared_intermediate", names.shared_intermediate, "columns of a shared expert");
  list.texts("first_dense", names.first_dense, "layers at the start without experts");
  list.texts("every", names.every, "one of as many layers has experts");
  list.texts("dense_layers", names.dense_layers, "list of layers without experts");
  list.texts("kinds", names.kinds, "list of sparse and dense, one for each layer");
  list.texts("flags", names.flags, "list of 1 and 0, one for each layer");
}

void fields(FieldList& list, ExpertRule& experts) {
  list.count("count", experts.count, {0, kMaxVocab}, "experts of a layer");
  list.count("per_token", experts.per_token, {0, kMaxVocab}, "experts that a token takes");
  list.count("intermediate", experts.intermediate, {0, kMaxWidth}, "columns of an expert");
  list.text("router", experts.router, router_functions(), "how scores become weights");
  list.flag("router_bias", experts.router_bias, "a bias that the choice alone has");
  list.flag("groups", experts.groups,
            "n_group, topk_group, scoring_func and topk_method are read as DeepSeek's");
  list.count("shared", experts.shared, {0, kMaxLayers}, "experts that all tokens take");
  list.count("shared_intermediate", experts.shared_intermediate, {0, kMaxWidth},
             "columns of a shared expert (0: those of the others), or of all together where "
             "nothing states how many there are");
  list.flag("shared_gate", experts.shared_gate, "a number per token scales their result");
  list.count("first_dense", experts.first_dense, {0, kMaxLayers},
             "layers at the start without experts");
  list.count("every", experts.every, {1, kMaxLayers}, "one of as many layers has experts");
  list.choice<bool>("place", experts.first_of_every, {{"last", false}, {"first", true}},
                    "which of these it is");
  list.group("fields", experts.fields);
}

void fields(FieldList& list, Architecture& of) {
  list.text("model_type", of.model_type, {}, "that of config.json");
  list.optional_text("class_prefix", of.class_prefix, {},
                     "what names in architectures begin with, where there is no model_type");
  list.optional_text("like", of.like, {},
                     "an architecture with a file; what is stated here differs");
  list.group("sizes", of.sizes);
  list.flag("tied_embeddings", of.tied_embeddings, "logits are made with the table of words");
  using NormKind = Architecture::NormKind;
  list.choice<NormKind>("norm", of.norm,
                        {{"rms", NormKind::kRms},
                         {"layer", NormKind::kLayer},
                         {"layer_without_weights", NormKind::kLayerWithoutWeights}},
                        "kind of all norms");
  list.choice<LayerForm>(
      "form", of.form,
      {{"pre_norm", LayerForm::kPreNorm},
       {"sandwich", LayerForm::kSandwich},
       {"post_norm", LayerForm::kPostNorm},
       {"parallel", LayerForm::kParallel},
       {"last_norm", LayerForm::kLastNorm}},
      "norms before attention and feed-forward network, before and after both, after both, one for "
      "both side by side, or after each residual");
  list.choice<HeadNorm>(
      "head_norm", of.head_norm,
      {{"none", HeadNorm::kNone}, {"per_head", HeadNorm::kPerHead}, {"whole", HeadNorm::kWhole}},
      "of queries and keys");
  list.flag("gated", of.gated, "activation(gate) * up, not activation(up)");
  list.text("activation", of.activation, activation_functions(), "of the feed-forward network");
  list.value("rotated", of.rotated, {0.01, 1}, "share of the columns of a head");
  list.flag("qkv_bias", of.qkv_bias, "of queries, keys and values");
  list.flag("output_bias", of.output_bias, "of the output projection");
  list.flag("feed_forward_bias", of.feed_forward_bias, "of the feed-forward network");
  list.flag("head_bias", of.head_bias, "of the logits");
  using Gate = Architecture::Gate;
  list.choice<Gate>(
      "attention_gate", of.attention_gate,
      {{"none", Gate::kNone}, {"per_head", Gate::kPerHead}, {"per_column", Gate::kPerColumn}},
      "on the result of attention");
  list.flag("sinks", of.sinks, "a learned score beside those of keys");
  list.group("fields", of.fields);
  list.group("windows", of.windows);
  list.group("experts", of.experts);
}

std::vector<std::string> described_architectures() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(architectures_folder())) {
    if (entry.path().extension() == kArchitectureEnding) names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string file_of_architecture(std::string_view model_type) {
  if (model_type.find_first_of(std::string_view("/\0", 2)) != std::string_view::npos) return "";
  const fs::path file =
      architectures_folder() / (std::string(model_type) + std::string(kArchitectureEnding));
  std::error_code error;
  return fs::is_regular_file(file, error) ? file.string() : "";
}

std::vector<ArchitectureKey> architecture_keys() {
  Architecture architecture;
  FieldList list;
  fields(list, architecture);
  std::vector<ArchitectureKey> keys;
  for (const Field& field : list.all())
    keys.push_back({field.path, field.allowed(), field.text(), field.meaning});
  return keys;
}

Architecture read_architecture(const Node& root) { return read_node(root, 0); }

Architecture load_architecture(const fs::path& file) {
  return read_architecture(load_document(file));
}

}  // namespace foretell

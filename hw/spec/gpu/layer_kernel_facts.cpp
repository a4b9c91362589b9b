#include "hw/spec/gpu/layer_kernel_facts.hpp"

#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

double plain_number(const Node& node) { return parse_quantity(node.text, Dimension{}); }

double number_or(const Node& entry, const char* key, double otherwise) {
  const Node* found = entry.find(key);
  return found == nullptr ? otherwise : plain_number(*found);
}

bool yes_or(const Node& entry, const char* key, bool otherwise) {
  const Node* found = entry.find(key);
  if (found == nullptr) return otherwise;
  if (found->text == "yes" || found->text == "true") return true;
  if (found->text == "no" || found->text == "false") return false;
  throw UserError(found->where() + ": " + key + ": '" + found->text + "' is neither yes nor no");
}

LayerType read_type(const Node& node) {
  node.only_keys(
      {"name", "rate", "other_rate", "activation_bytes", "weight_bytes", "why", "source"}, "types");
  LayerType type;
  type.name = node.required("name", "types").as_text("name");
  type.rate = node.required("rate", "types").as_text("rate");
  if (const Node* other = node.find("other_rate")) type.other_rate = other->as_text("other_rate");
  type.activation_bytes = plain_number(node.required("activation_bytes", "types"));
  type.weight_bytes = plain_number(node.required("weight_bytes", "types"));
  return type;
}

LayerKernelFacts read_facts(const Node& node) {
  node.only_keys(
      {"kernels", "tiles", "stage_bytes", "gated", "longest_first", "absorbed_prompts", "head_tile",
       "wire_bytes", "per_choice", "gpus_per_node", "network_rate", "why", "source"},
      "libraries");
  LayerKernelFacts facts;
  facts.kernels = node.required("kernels", "libraries").as_text("kernels");
  if (const Node* tiles = node.find("tiles")) {
    for (const Node& tile : tiles->items) {
      if (tile.items.size() != 2) {
        throw UserError(tile.where() + ": tiles: a tile is two numbers: [rows, columns]");
      }
      facts.tiles.push_back({plain_number(tile.items[0]), plain_number(tile.items[1])});
    }
  }
  facts.stage_bytes = number_or(node, "stage_bytes", facts.stage_bytes);
  facts.gated = yes_or(node, "gated", facts.gated);
  facts.longest_first = yes_or(node, "longest_first", facts.longest_first);
  facts.absorbed_prompts = yes_or(node, "absorbed_prompts", facts.absorbed_prompts);
  facts.head_tile = number_or(node, "head_tile", facts.head_tile);
  facts.wire_bytes = number_or(node, "wire_bytes", facts.wire_bytes);
  facts.gpus_per_node = number_or(node, "gpus_per_node", facts.gpus_per_node);
  if (const Node* rate = node.find("network_rate")) {
    facts.network_rate =
        BytesPerSecond(parse_quantity(rate->text, dimension_of<BytesPerSecond>::value));
  }
  facts.per_choice = yes_or(node, "per_choice", facts.per_choice);
  return facts;
}

}  // namespace

LayerKernelLibrary::LayerKernelLibrary() {
  const Node root = load_document(hw_folder() / "kernels" / "layers" / "layer_kernels.yaml");
  root.only_keys({"types", "libraries"}, "");
  Problems problems;
  for (const Node& node : root.required("types", "").items) {
    problems.collect([&] { types_.push_back(read_type(node)); });
  }
  for (const Node& node : root.required("libraries", "").items) {
    problems.collect([&] { facts_.push_back(read_facts(node)); });
  }
  problems.throw_if_any();
}

const LayerType& LayerKernelLibrary::type(const std::string& name) const {
  std::vector<std::string> known;
  for (const LayerType& type : types_) {
    if (type.name == name) return type;
    known.push_back(type.name);
  }
  throw unknown_name("dtype", name, known);
}

const LayerKernelFacts& LayerKernelLibrary::facts(const std::string& kernels) const {
  for (const LayerKernelFacts& facts : facts_) {
    if (starts_with(kernels, facts.kernels)) return facts;
  }
  throw UserError("no kernels are known for '" + kernels +
                  "'; hw/kernels/layers/layer_kernels.yaml lists them");
}

}  // namespace foretell

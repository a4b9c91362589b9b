#include "hw/spec/gpu/layer_kernel_facts.hpp"

#include <algorithm>
#include <utility>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/kernel_rules.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "model/config/node_text.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

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
  type.activation_bytes = required_number(node, "activation_bytes");
  type.weight_bytes = required_number(node, "weight_bytes");
  return type;
}

// One entry for each architecture that it names: a word or a list of them; else one for all.
std::vector<std::string> architectures_of(const Node& node) {
  const Node* chips = node.find("architecture");
  if (chips == nullptr) return {""};
  if (chips->items.empty()) return {chips->as_text("architecture")};
  return item_texts(*chips, "architecture");
}

std::vector<std::string> texts_of(const Node* list) {
  std::vector<std::string> texts;
  if (list == nullptr) return texts;
  for (const Node& item : list->items) texts.push_back(item.text);
  return texts;
}

bool names(const std::vector<std::string>& list, const std::string& text) {
  return list.empty() || std::find(list.begin(), list.end(), text) != list.end();
}

LayerTile read_tile(const Node& node) {
  if (node.items.size() < 2 || node.items.size() > 4) {
    throw UserError(node.where() +
                    ": a tile is [rows, columns], and where they differ the bytes of a stage and "
                    "how many thread blocks share an SM");
  }
  LayerTile tile{number_at(node.items[0], "tile"), number_at(node.items[1], "tile")};
  if (node.items.size() > 2) tile.stage_bytes = number_at(node.items[2], "tile");
  if (node.items.size() > 3) tile.resident = number_at(node.items[3], "tile");
  if (!(tile.rows > 0) || !(tile.columns > 0) || !(tile.resident >= 1)) {
    throw UserError(node.where() +
                    ": rows and columns of a tile are above 0, thread blocks 1 or more");
  }
  return tile;
}

UntunedTile read_untuned_tile(const Node& node) {
  node.only_keys({"up_to", "tile"}, "untuned");
  UntunedTile untuned;
  untuned.tile = read_tile(node.required("tile", "untuned"));
  if (const Node* tokens = node.find("up_to")) {
    untuned.up_to_experts = tokens->text == "experts";
    if (!untuned.up_to_experts) untuned.most_tokens = number_at(*tokens, "up_to");
  }
  return untuned;
}

}  // namespace

LayerKernelFacts LayerKernelLibrary::read_facts(const Node& node) const {
  RuleReader reader(node, "libraries", {"kernels", "architecture", "why", "source"});
  LayerKernelFacts facts;
  facts.kernels = node.required("kernels", "libraries").as_text("kernels");
  if (const Node* tiles = reader.node("tiles")) {
    for (const Node& tile : tiles->items) facts.tiles.push_back(read_tile(tile));
  }
  if (const Node* tiles = reader.node("untuned")) {
    for (const Node& tile : tiles->items) facts.untuned.push_back(read_untuned_tile(tile));
  }
  reader.number("tile_of_rows", facts.tile_of_rows);
  if (const Node* stored = reader.node("type")) facts.type = type(stored->as_text("type"));
  reader.number("stage_bytes", facts.stage_bytes);
  reader.flag("gated", facts.gated);
  reader.number("absorbed_up_to", facts.absorbed_up_to);
  reader.flag("widens_cache", facts.widens_cache);
  reader.flag("absorbed_tokens", facts.absorbed_tokens);
  reader.number("prompt_rows", facts.prompt_rows);
  reader.flag("moves_heads", facts.moves_heads);
  reader.flag("keeps_type", facts.keeps_type);
  reader.number("parts", facts.parts);
  reader.number("value_parts", facts.value_parts);
  reader.number("resident", facts.resident);
  reader.number("operand_readers", facts.operand_readers);
  reader.number("least_heads", facts.least_heads);
  reader.number("tile_keys", facts.tile_keys);
  reader.number("most_parts", facts.most_parts);
  reader.number("walk_tokens", facts.walk_tokens);
  reader.number("walk_channels", facts.walk_channels);
  reader.flag("convolves_values", facts.convolves_values);
  reader.flag("scans_in_one", facts.scans_in_one);
  reader.flag("permutes", facts.permutes);
  reader.flag("activates", facts.activates);
  reader.flag("all_choices", facts.all_choices);
  reader.flag("sums_all", facts.sums_all);
  reader.flag("tuned_at_powers", facts.tuned_at_powers);
  reader.flag("longest_first", facts.longest_first);
  reader.text("kernels_of", facts.kernels_of);
  reader.flag("stays", facts.stays);
  reader.flag("absorbed_prompts", facts.absorbed_prompts);
  reader.number("head_tile", facts.head_tile);
  reader.number("wire_bytes", facts.wire_bytes);
  reader.number("gpus_per_node", facts.gpus_per_node);
  if (const Node* rate = reader.node("network_rate")) {
    facts.network_rate =
        BytesPerSecond(quantity_at(*rate, "network_rate", dimension_of<BytesPerSecond>::value));
  }
  if (const Node* sort = reader.node("sort_per_expert")) {
    facts.sort_per_expert =
        Seconds(quantity_at(*sort, "sort_per_expert", dimension_of<Seconds>::value));
    node.required("sorted_experts", "libraries");
  }
  reader.number("sorted_experts", facts.sorted_experts);
  reader.flag("per_choice", facts.per_choice);
  reader.finish();
  return facts;
}

LayerKernelLibrary::NamedRouting LayerKernelLibrary::read_routing(const Node& node) {
  node.only_keys({"kernels", "versions", "shapes", "groups", "top_groups", "others_to_first",
                  "first_only", "why", "source"},
                 "routing");
  constexpr long long kMaxGroups = 1 << 16;
  NamedRouting named;
  named.kernels = node.required("kernels", "routing").as_text("kernels");
  named.versions = texts_of(node.find("versions"));
  named.shapes = texts_of(node.find("shapes"));
  TableRouting& routing = named.routing;
  if (const Node* groups = node.find("groups")) {
    routing.groups = groups->as_integer("groups", 1, kMaxGroups);
    routing.top_groups =
        node.required("top_groups", "routing").as_integer("top_groups", 1, routing.groups);
  }
  routing.others_to_first = yes_or(node, "others_to_first", false);
  routing.first_only = yes_or(node, "first_only", false);
  return named;
}

LayerKernelLibrary::LayerKernelLibrary() {
  const Node root = load_document(hw_folder() / "kernels" / "layers" / "layer_kernels.yaml");
  root.only_keys({"types", "libraries", "routing", "ungated", "launches", "hosts"}, "");
  Problems problems;
  for (const Node& node : root.required("types", "").items) {
    problems.collect([&] { types_.push_back(read_type(node)); });
  }
  for (const Node& node : root.required("libraries", "").items) {
    problems.collect([&] {
      LayerKernelFacts facts = read_facts(node);
      for (std::string& architecture : architectures_of(node)) {
        facts.architecture = std::move(architecture);
        facts_.push_back(facts);
      }
    });
  }
  for (const Node& node : root.required("routing", "").items) {
    problems.collect([&] { routings_.push_back(read_routing(node)); });
  }
  for (const Node& node : root.required("ungated", "").items) {
    problems.collect([&] {
      node.only_keys({"kernels", "shapes", "why", "source"}, "ungated");
      ungated_.push_back({node.required("kernels", "ungated").as_text("kernels"),
                          texts_of(&node.required("shapes", "ungated"))});
    });
  }
  for (const Node& node : root.required("launches", "").items) {
    problems.collect([&] {
      constexpr long long kMostKernels = 100;
      node.only_keys({"kernels", "architecture", "count", "why", "source"}, "launches");
      const long long count =
          node.required("count", "launches").as_integer("count", 1, kMostKernels);
      for (std::string& architecture : architectures_of(node)) {
        launches_.push_back({node.required("kernels", "launches").as_text("kernels"),
                             std::move(architecture), static_cast<double>(count)});
      }
    });
  }
  for (const Node& node : root.required("hosts", "").items) {
    problems.collect([&] {
      node.only_keys({"architecture", "time", "why", "source"}, "hosts");
      const double time = required_number(node, "time");
      if (!(time > 0)) throw UserError(node.where() + ": hosts: time is above 0");
      for (const std::string& architecture : architectures_of(node)) hosts_[architecture] = time;
    });
  }
  problems.collect([&] { read_tuned_shapes(); });
  problems.throw_if_any();
}

void LayerKernelLibrary::read_tuned_shapes() {
  constexpr long long kMaxSize = 1 << 20;
  const Node root = load_document(hw_folder() / "kernels" / "layers" / "tuned_experts.yaml");
  root.only_keys({"tuned"}, "");
  std::map<std::string, TunedShapes> tuned;  // by the beginning of a table's name
  for (const Node& node : root.required("tuned", "").items) {
    node.only_keys({"kernels", "device", "shapes", "why", "source"}, "tuned");
    const std::string device = node.required("device", "tuned").as_text("device");
    auto& shapes = tuned[node.required("kernels", "tuned").as_text("kernels")][device];
    for (const Node& shape : node.required("shapes", "tuned").items) {
      if (shape.items.size() != 2) {
        throw UserError(shape.where() + ": shapes: a shape is [experts of the GPU, width]");
      }
      shapes.emplace(shape.items[0].as_integer("experts", 1, kMaxSize),
                     shape.items[1].as_integer("width", 1, kMaxSize));
    }
  }
  for (auto& [kernels, shapes] : tuned) {
    const auto kept = std::make_shared<const TunedShapes>(std::move(shapes));
    bool any = false;
    for (LayerKernelFacts& facts : facts_) {
      if (facts.kernels != kernels) continue;
      any = true;
      facts.tuned = kept;
    }
    if (!any) throw UserError("tuned_experts.yaml: layer_kernels.yaml has no '" + kernels + "'");
  }
}

double LayerKernelLibrary::host_time(const std::string& architecture) const {
  const auto known = hosts_.find(architecture);
  return known == hosts_.end() ? 1 : known->second;
}

double LayerKernelLibrary::launches(const std::string& table,
                                    const std::string& architecture) const {
  const auto named =
      std::find_if(launches_.begin(), launches_.end(), [&](const NamedLaunches& launches) {
        return starts_with(table, launches.kernels) &&
               (launches.architecture.empty() || launches.architecture == architecture);
      });
  return named == launches_.end() ? 0 : named->count;
}

bool LayerKernelLibrary::has_gate(const std::string& kernels, const std::string& shape) const {
  return std::none_of(ungated_.begin(), ungated_.end(), [&](const NamedShapes& named) {
    return starts_with(kernels, named.kernels) && names(named.shapes, shape);
  });
}

const TableRouting& LayerKernelLibrary::routing(const std::string& kernels,
                                                const std::string& version,
                                                const std::string& shape) const {
  static const TableRouting kAny;
  for (const NamedRouting& named : routings_) {
    if (starts_with(kernels, named.kernels) && names(named.versions, version) &&
        names(named.shapes, shape)) {
      return named.routing;
    }
  }
  return kAny;
}

const LayerType& LayerKernelLibrary::type(const std::string& name) const {
  std::vector<std::string> known;
  for (const LayerType& type : types_) {
    if (type.name == name) return type;
    known.push_back(type.name);
  }
  throw unknown_name("dtype", name, known);
}

const LayerKernelFacts* LayerKernelLibrary::find(const std::string& kernels,
                                                 const std::string& architecture) const {
  const auto found = std::find_if(facts_.begin(), facts_.end(), [&](const LayerKernelFacts& facts) {
    const bool any_chip = facts.architecture.empty() || facts.architecture == architecture;
    return any_chip && starts_with(kernels, facts.kernels);
  });
  return found == facts_.end() ? nullptr : &*found;
}

const LayerKernelFacts& LayerKernelLibrary::facts(const std::string& kernels,
                                                  const std::string& architecture) const {
  if (const LayerKernelFacts* found = find(kernels, architecture)) return *found;
  throw UserError("no kernels are known for '" + kernels +
                  "'; hw/kernels/layers/layer_kernels.yaml lists them");
}

}  // namespace foretell

#include "hw/spec/gpu/layer_kernel_facts.hpp"

#include <algorithm>
#include <utility>

#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/entry_reader.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

LayerType read_type(const Node& node) {
  LayerType type;
  EntryReader reader(node, "types", {"why", "source"});
  reader.require({"name", "rate", "activation_bytes", "weight_bytes"});
  reader.text("name", type.name);
  reader.text("rate", type.rate);
  reader.text("other_rate", type.other_rate);
  reader.number("activation_bytes", type.activation_bytes);
  reader.number("weight_bytes", type.weight_bytes);
  reader.finish();
  return type;
}

// One entry for each architecture that it names: a word or a list of them; else one for all.
std::vector<std::string> architectures_of(const Node& node) {
  const Node* chips = node.find("architecture");
  return chips == nullptr ? std::vector<std::string>{""} : texts_at(*chips, "architecture");
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
  UntunedTile untuned;
  EntryReader reader(node, "untuned", {"tile"});
  const Node* tokens = reader.node("up_to");
  untuned.up_to_experts = tokens != nullptr && tokens->text == "experts";
  if (!untuned.up_to_experts) reader.number("up_to", untuned.most_tokens);
  reader.finish();
  untuned.tile = read_tile(node.required("tile", "untuned"));
  return untuned;
}

}  // namespace

LayerKernelFacts LayerKernelLibrary::read_facts(const Node& node) const {
  LayerKernelFacts facts;
  EntryReader reader(node, "libraries", {"architecture", "why", "source"});
  reader.require({"kernels"});
  reader.text("kernels", facts.kernels);
  for (const Node& tile : reader.items("tiles")) facts.tiles.push_back(read_tile(tile));
  for (const Node& tile : reader.items("untuned")) facts.untuned.push_back(read_untuned_tile(tile));
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
  reader.quantity("network_rate", facts.network_rate);
  reader.quantity("sort_per_expert", facts.sort_per_expert);
  if (facts.sort_per_expert > Seconds(0)) reader.require({"kernels", "sorted_experts"});
  reader.number("sorted_experts", facts.sorted_experts);
  reader.flag("per_choice", facts.per_choice);
  reader.finish();
  return facts;
}

LayerKernelLibrary::NamedRouting LayerKernelLibrary::read_routing(const Node& node) {
  constexpr std::int64_t kMaxGroups = 1 << 16;
  NamedRouting named;
  TableRouting& routing = named.routing;
  EntryReader reader(node, "routing", {"why", "source"});
  reader.require({"kernels"});
  reader.text("kernels", named.kernels);
  reader.texts("versions", named.versions);
  reader.texts("shapes", named.shapes);
  if (node.find("groups") != nullptr) reader.require({"kernels", "top_groups"});
  reader.whole("groups", routing.groups, 1, kMaxGroups);
  reader.whole("top_groups", routing.top_groups, 1, routing.groups);
  reader.flag("others_to_first", routing.others_to_first);
  reader.flag("first_only", routing.first_only);
  reader.finish();
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
      NamedShapes named;
      EntryReader reader(node, "ungated", {"why", "source"});
      reader.require({"kernels", "shapes"});
      reader.text("kernels", named.kernels);
      reader.texts("shapes", named.shapes);
      reader.finish();
      ungated_.push_back(std::move(named));
    });
  }
  for (const Node& node : root.required("launches", "").items) {
    problems.collect([&] {
      NamedLaunches launches;
      constexpr std::int64_t kMostKernels = 100;
      EntryReader reader(node, "launches", {"architecture", "why", "source"});
      reader.require({"kernels", "count"});
      reader.text("kernels", launches.kernels);
      reader.whole("count", launches.count, 1, kMostKernels);
      reader.finish();
      for (std::string& architecture : architectures_of(node)) {
        launches.architecture = std::move(architecture);
        launches_.push_back(launches);
      }
    });
  }
  for (const Node& node : root.required("hosts", "").items) {
    problems.collect([&] {
      double time = 0;
      EntryReader reader(node, "hosts", {"architecture", "why", "source"});
      reader.require({"time"});
      reader.number("time", time);
      reader.finish();
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
  return named == launches_.end() ? 0.0 : named->count;
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

#include "model/timing/gpu/gemm_library.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/base/errors.hpp"
#include "model/config/entry_reader.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kAnyRows = std::numeric_limits<std::int64_t>::max();

const RuleDomain& product_domain() {
  static const RuleDomain kDomain = {{"architecture", FactName::Kind::kText},
                                     {"type", FactName::Kind::kText},
                                     {"batched", FactName::Kind::kNumber}};
  return kDomain;
}

const RuleDomain& collector_domain() {
  static const RuleDomain kDomain = {{"type", FactName::Kind::kText},
                                     {"release", FactName::Kind::kRelease}};
  return kDomain;
}

// Tiles of all rows and columns with at most `largest` elements. Rows in steps come inside columns,
// doubled ones around them: of tiles that are equally fast the first is taken.
std::vector<GemmTile> all_tiles(const Node& node) {
  int from = 0;
  int to = 0;
  int step = 0;
  bool doubled = false;
  EntryReader rows(node.required("rows", "tiles"), "tiles.rows");
  rows.whole("from", from);
  rows.whole("to", to);
  rows.whole("step", step);
  rows.flag("doubled", doubled);
  rows.finish();
  node.only_keys({"rows", "columns", "largest"}, "tiles");
  if (from < 1 || (step < 1) != doubled) {
    throw UserError(node.where() + ": tiles.rows: give from, to and either step or 'doubled: yes'");
  }
  int largest = 0;
  std::vector<int> columns;
  for (const Node& item : node.required("columns", "tiles").items) {
    columns.push_back(static_cast<int>(item.as_integer("tiles.columns", 1, 65536)));
  }
  largest = static_cast<int>(node.required("largest", "tiles").as_integer("largest", 1, 1 << 24));
  std::vector<GemmTile> tiles;
  const auto add = [&](int m, int n) {
    if (m * n <= largest) tiles.push_back({m, n});
  };
  if (doubled) {
    for (int m = from; m <= to; m *= 2) {
      for (const int n : columns) add(m, n);
    }
    return tiles;
  }
  for (const int n : columns) {
    for (int m = from; m <= to; m += step) add(m, n);
  }
  return tiles;
}

std::vector<GemmTile> read_tiles(const Node& node) {
  if (node.is_map()) return all_tiles(node);
  std::vector<GemmTile> tiles;
  for (const Node& item : node.items) {
    const auto [m, n] = read_pair(item, "tiles");
    tiles.push_back({m, n});
  }
  if (tiles.empty()) throw UserError(node.where() + ": tiles: expected a list of tiles");
  return tiles;
}

std::vector<GemmLibrary::Dispatch> read_dispatch(const Node& node) {
  std::vector<GemmLibrary::Dispatch> dispatch;
  for (const Node& item : node.items) {
    GemmLibrary::Dispatch entry{kAnyRows, {}};
    EntryReader reader(item, "dispatch");
    reader.whole("up_to", entry.up_to);
    if (const Node* tiles = reader.node("tiles")) entry.tiles = read_tiles(*tiles);
    reader.finish();
    dispatch.push_back(std::move(entry));
  }
  if (dispatch.empty() || dispatch.back().up_to != kAnyRows) {
    throw UserError(node.where() +
                    ": dispatch: the last entry takes all other rows, without up_to");
  }
  return dispatch;
}

void read_product_rule(const Node& rule, GemmLibrary& library) {
  EntryReader reader(rule, "products", {"when"});
  if (const Node* tiles = reader.node("tiles")) library.tiles = read_tiles(*tiles);
  if (const Node* resident = reader.node("resident")) {
    if (resident->items.size() != library.tiles.size()) {
      throw UserError(resident->where() + ": resident: give one number per tile");
    }
    for (std::size_t i = 0; i < library.tiles.size(); ++i) {
      library.tiles[i].resident =
          static_cast<int>(resident->items[i].as_integer("resident", 1, 1024));
    }
  }
  if (const Node* dispatch = reader.node("dispatch")) library.dispatch = read_dispatch(*dispatch);
  reader.whole("max_split", library.max_split);
  reader.flag("persistent", library.persistent);
  reader.flag("split_by_one", library.split_by_one);
  reader.number("stage", library.stage);
  reader.flag("fills_gradually", library.fills_gradually);
  reader.whole("gemv_rows", library.gemv_rows);
  reader.flag("gemv_competes", library.gemv_competes);
  reader.whole("fast_depth", library.fast_depth);
  reader.flag("tunes_by_power_of_two", library.tunes_by_power_of_two);
  reader.whole("cluster_rows", library.cluster_rows);
  reader.whole("cluster_from", library.cluster_from);
  reader.whole("padded_rows", library.padded_rows);
  reader.flag("whole_edges", library.whole_edges);
  reader.finish();
}

// How many copies a collector goes round.
struct CollectorRule {
  int copies = 0;   // 0: as many as fill L2 …
  int fill_l2 = 1;  // … this many times
  int more = 0;     // and these
  int max_copies = 1;
  bool own_activations = false;
};

void read_collector_rule(const Node& rule, CollectorRule& state) {
  EntryReader reader(rule, "collector", {"when"});
  state.copies = 0;
  reader.whole("copies", state.copies);
  reader.whole("fill_l2", state.fill_l2);
  reader.whole("more", state.more);
  reader.whole("max_copies", state.max_copies);
  reader.flag("own_activations", state.own_activations);
  reader.finish();
}

// The sections of all libraries about products.
struct ProductRules {
  RuleSection products;
  RuleSection vector_products;
  RuleSection collector;
};

// Every rule is read once, so that mistakes show wherever they stand.
const std::map<std::string, ProductRules>& product_rules() {
  static const std::map<std::string, ProductRules> kRules = [] {
    std::map<std::string, ProductRules> all;
    Problems problems;
    for (const KernelLibrary& library : kernel_libraries().all()) {
      problems.collect([&] {
        ProductRules& rules = all[library.id];
        rules.products = RuleSection(library.root.find("products"), product_domain());
        rules.vector_products = RuleSection(library.root.find("vector_products"), product_domain());
        rules.collector = RuleSection(library.root.find("collector"), collector_domain());
        for (const RuleSection* section : {&rules.products, &rules.vector_products}) {
          for (const RuleSection::Rule& rule : section->rules()) {
            GemmLibrary read;
            problems.collect([&] { read_product_rule(rule.node, read); });
          }
        }
        for (const RuleSection::Rule& rule : rules.collector.rules()) {
          CollectorRule read;
          problems.collect([&] { read_collector_rule(rule.node, read); });
        }
      });
    }
    problems.throw_if_any();
    return all;
  }();
  return kRules;
}

// Rules of the libraries that `framework` builds on, then its own.
template <class Value, class Read>
void apply_rules(const std::string& framework, RuleSection ProductRules::*section,
                 const std::vector<RuleFact>& facts, const Read& read, Value& value) {
  for (const KernelLibrary* library : kernel_libraries().chain(framework)) {
    for (const RuleSection::Rule& rule : (product_rules().at(library->id).*section).rules()) {
      if (rule.conditions.hold(facts)) read(rule.node, value);
    }
  }
}

}  // namespace

const std::vector<GemmType>& gemm_types() {
  static const std::vector<GemmType> kTypes = {
      {"fp32", "fp32", 4, 4, 32, false, 4},
      {"tf32", "tf32", 4, 4, 32, false, 4},
      {"bf16", "bf16", 2, 2, 64, false},
      {"fp16", "fp16", 2, 2, 64, false},
      {"fp8", "fp8", 1, 1, 128, true},
      {"fp8_static", "fp8", 1, 1, 128, false},
      {"fp8_block", "fp8", 1, 1, 128, true},
      {"nvfp4", "fp4", 0.5625, 0.5625, 256, true},  // one scale of a byte per 16 elements
      {"int8", "int8", 1, 1, 128, false},
      {"int8_sq", "int8", 1, 1, 128, false},
      {"int8_wo", "bf16", 2, 1, 64, false},
      {"int4_wo", "bf16", 2, 0.5, 64, false},
  };
  return kTypes;
}

const GemmType& gemm_type(const std::string& name) {
  std::vector<std::string> names;
  for (const GemmType& type : gemm_types()) {
    if (type.name == name) return type;
    names.push_back(type.name);
  }
  throw unknown_name("data type", name, names);
}

GemmLibrary gemm_library(const std::string& architecture, const std::string& framework,
                         const std::string& type) {
  GemmLibrary library;
  apply_rules(framework, &ProductRules::products,
              {gpu_architecture(architecture).kernels, type, 0.0}, read_product_rule, library);
  return library;
}

GemmLibrary vector_library(const std::string& architecture, bool batched) {
  GemmLibrary library;
  library.vector_pipe = true;
  apply_rules("", &ProductRules::vector_products,
              {gpu_architecture(architecture).kernels, "", batched ? 1.0 : 0.0}, read_product_rule,
              library);
  return library;
}

GemmL2State collector_l2_state(const std::string& framework, const std::string& version,
                               const std::string& type, double l2_bytes, double weight_bytes) {
  const std::string& library = framework.empty() ? kernel_libraries().choice().networks : framework;
  CollectorRule rule;
  apply_rules(library, &ProductRules::collector, {type, version}, read_collector_rule, rule);
  if (rule.copies > 0) return {rule.copies, rule.own_activations};
  const double copies = std::ceil(rule.fill_l2 * l2_bytes / weight_bytes) + rule.more;
  return {static_cast<int>(std::clamp(copies, 1.0, static_cast<double>(rule.max_copies))),
          rule.own_activations};
}

}  // namespace foretell

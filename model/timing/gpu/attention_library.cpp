#include "model/timing/gpu/attention_library.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/entry_reader.hpp"
#include "model/config/problems.hpp"

namespace foretell {
namespace {

// Tables are of types of two bytes or one; the others run like those of two.
std::string table_type(double bytes) { return bytes < 2 ? "fp8" : "bf16"; }

const RuleDomain& call_domain() {
  static const RuleDomain kDomain = {
      {"architecture", FactName::Kind::kText},    {"phase", FactName::Kind::kText},
      {"heads_per_key", FactName::Kind::kNumber}, {"head_dim", FactName::Kind::kNumber},
      {"window", FactName::Kind::kNumber},        {"query_bytes", FactName::Kind::kNumber},
      {"key_bytes", FactName::Kind::kNumber},     {"same_types", FactName::Kind::kNumber},
      {"rows", FactName::Kind::kNumber}};
  return kDomain;
}

std::vector<RuleFact> facts_of(const std::string& architecture, const AttentionType& type,
                               const AttentionShape& shape) {
  const std::int64_t share = shape.heads / shape.key_heads;
  return {architecture,
          RuleFact(to_string(shape.phase).data()),
          static_cast<double>(share),
          static_cast<double>(shape.head_dim),
          static_cast<double>(shape.window),
          type.query_bytes,
          type.key_bytes,
          type.query_bytes == type.key_bytes ? 1.0 : 0.0,
          static_cast<double>(shape.queries * share)};
}

const RuleDomain& library_domain() {
  static const RuleDomain kDomain = {{"architecture", FactName::Kind::kText},
                                     {"kernels", FactName::Kind::kText}};
  return kDomain;
}

void read_library_rule(const Node& rule, AttentionLibrary& library) {
  using Split = AttentionLibrary::Split;
  using Prepare = AttentionLibrary::Prepare;
  EntryReader reader(rule, "attention", {"when"});
  reader.text("tiles", library.tiles);
  reader.flag("paired", library.paired);
  reader.flag("encoder_overlaps", library.encoder_overlaps);
  reader.flag("register_products", library.register_products);
  reader.numbers("head_widths", library.head_widths);
  reader.flag("one_stage", library.one_stage);
  reader.flag("longest_first", library.longest_first);
  reader.flag("packs_queries", library.packs_queries);
  reader.word("split",
              {{"fastest", Split::kFastest},
               {"square_root", Split::kSquareRoot},
               {"fewest_parts", Split::kMinParts},
               {"even_work", Split::kEvenWork},
               {"one_wave", Split::kOneWave}},
              library.split);
  reader.word("prepare",
              {{"nothing", Prepare::kNone},
               {"cache_write", Prepare::kCacheWrite},
               {"split_and_rotate", Prepare::kSplitAndRotate}},
              library.prepare);
  reader.text("narrow_cache_like", library.narrow_cache_like);
  reader.number("max_split", library.max_split);
  reader.flag("skips_window", library.skips_window);
  reader.flag("one_token_packs", library.one_token_packs);
  reader.flag("masks_one_token", library.masks_one_token);
  reader.flag("one_head", library.one_head);
  reader.whole("blocks_per_sm", library.blocks_per_sm);
  reader.number("step_rows", library.step_rows);
  reader.flag("special_small_heads", library.special_small_heads);
  reader.number("split_keys", library.split_keys);
  reader.number("split_waves", library.split_waves);
  reader.number("least_keys", library.least_keys);
  reader.number("largest_split", library.largest_split);
  reader.number("nearly_full", library.nearly_full);
  reader.number("nearly_best", library.nearly_best);
  reader.number("few_blocks", library.few_blocks);
  reader.number("margin", library.margin);
  reader.number("one_token_rows", library.one_token_rows);
  reader.number("one_token_keys", library.one_token_keys);
  reader.finish();
}

struct TileRule {
  RuleConditions conditions;
  AttentionTile tile;
};

struct KernelsRule {
  RuleConditions conditions;
  std::string kernels;
};

// The sections of all libraries about attention.
struct AttentionRules {
  std::map<std::string, RuleSection> libraries;             // by library
  std::map<std::string, std::vector<KernelsRule>> kernels;  // by library
  std::map<std::string, std::vector<TileRule>> tiles;       // by table of tiles
};

std::vector<TileRule> read_tile_rules(const Node& table) {
  std::vector<TileRule> rules;
  for (const Node& item : table.items) {
    const auto [rows, keys] = read_pair(item.required("tile", "attention_tiles"), "tile");
    item.only_keys({"tile", "when"}, "attention_tiles");
    rules.push_back({RuleConditions::read(item, call_domain()),
                     {static_cast<double>(rows), static_cast<double>(keys)}});
  }
  return rules;
}

void read_attention(const KernelLibrary& library, AttentionRules& all) {
  RuleSection& section = all.libraries[library.id];
  section = RuleSection(library.root.find("attention"), library_domain());
  for (const RuleSection::Rule& rule : section.rules()) {
    AttentionLibrary read;
    read_library_rule(rule.node, read);
  }
  if (const Node* tables = library.root.find("attention_tiles")) {
    for (const MapEntry& entry : tables->entries) {
      all.tiles[entry.key] = read_tile_rules(entry.value);
    }
  }
  if (const Node* kernels = library.root.find("attention_kernels")) {
    for (const Node& item : kernels->items) {
      item.only_keys({"kernels", "when"}, "attention_kernels");
      all.kernels[library.id].push_back(
          {RuleConditions::read(item, call_domain()),
           item.required("kernels", "attention_kernels").as_text("kernels")});
    }
  }
}

// Tables of tiles that rules name, wherever they stand.
void check_tile_names(const AttentionRules& all, Problems& problems) {
  std::vector<std::string> known;
  for (const auto& entry : all.tiles) known.push_back(entry.first);
  for (const auto& entry : all.libraries) {
    for (const RuleSection::Rule& rule : entry.second.rules()) {
      const Node* const tiles = rule.node.find("tiles");
      if (tiles == nullptr || all.tiles.count(tiles->text) > 0) continue;
      problems.add(*tiles, "tiles", unknown_name("table of tiles", tiles->text, known).what());
    }
  }
}

const AttentionRules& attention_rules() {
  static const AttentionRules kRules = [] {
    AttentionRules all;
    Problems problems;
    for (const KernelLibrary& library : kernel_libraries().all()) {
      problems.collect([&] { read_attention(library, all); });
    }
    if (problems.empty()) check_tile_names(all, problems);  // else tables may be unread
    problems.throw_if_any();
    return all;
  }();
  return kRules;
}

// The smallest number of parts that fills its waves nearly as well as the best.
double fewest_parts(const AttentionLibrary& library, double tiles, double blocks, double slots,
                    bool only_distinct) {
  const double limit = std::min({library.largest_split, slots, blocks});
  const auto filled = [&](double parts) {
    const bool same_as_fewer =
        only_distinct && parts > 1 && std::ceil(blocks / parts) == std::ceil(blocks / (parts - 1));
    if (same_as_fewer) return 0.0;
    const double waves = tiles * parts / slots;
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (double parts = 1; parts <= limit; ++parts) best = std::max(best, filled(parts));
  double parts = 1;
  while (filled(parts) < library.nearly_best * best) ++parts;
  return parts;
}

AttentionSplit even_work_split(const AttentionLibrary& library, const AttentionType& type,
                               const AttentionShape& shape, double sms) {
  const AttentionTile tile = attention_tile(library, type, shape);
  const auto groups = static_cast<double>(shape.key_heads);
  const std::int64_t rows = shape.queries * (shape.heads / shape.key_heads);
  const double tiles = std::ceil(static_cast<double>(rows) / tile.rows);
  const auto keys = static_cast<double>(shape.keys);
  const double seen =
      shape.window > 0 ? std::min(keys, static_cast<double>(shape.window) + 1 + tile.rows) : keys;
  const double blocks = std::ceil(seen / tile.keys);
  if (groups * tiles >= library.nearly_full * sms || blocks <= library.few_blocks) return {};
  // The most, as for one sequence; a kernel that goes ahead then divides the work of all sequences
  // evenly over the SMs.
  const double most = fewest_parts(library, groups * tiles, blocks, sms, false);
  const double all_blocks = std::ceil(keys / tile.keys);
  const double each = std::ceil(library.margin * static_cast<double>(shape.batch) * tiles *
                                all_blocks * groups / sms);
  return {std::clamp(std::ceil(all_blocks / each), 1.0, most), most > 1};
}

// Rows are made of the heads that share keys only for one query without a window.
bool packs_one_query(const AttentionShape& shape) {
  return shape.queries == 1 && shape.heads > shape.key_heads && shape.window == 0;
}

AttentionSplit fewest_parts_split(const AttentionLibrary& library, const AttentionType& type,
                                  const AttentionShape& shape, double sms) {
  if (!packs_one_query(shape)) return {};
  const std::int64_t share = shape.heads / shape.key_heads;
  const AttentionTile tile = attention_tile(library, type, shape);
  const double blocks = std::ceil(static_cast<double>(shape.keys) / tile.keys);
  const double tiles = static_cast<double>(shape.batch * shape.key_heads) *
                       std::ceil(static_cast<double>(share) / tile.rows);
  const double slots = 2 * sms;
  if (tiles >= library.nearly_full * slots) return {};
  const double parts = fewest_parts(library, tiles, blocks, slots, true);
  return {parts, parts > 1};
}

AttentionSplit square_root_split(const AttentionLibrary& library, const AttentionShape& shape,
                                 double sms) {
  const double groups = static_cast<double>(shape.batch * shape.key_heads);
  double parts = std::ceil(static_cast<double>(shape.keys) / library.split_keys);
  parts = std::max(1.0, std::min(parts, std::round(std::sqrt(library.split_waves * parts))));
  const double waves = groups * parts / sms / library.split_waves;
  parts = std::max(1.0, waves > 1 ? std::floor(parts / waves) : parts);
  return {parts, parts > 1};
}

AttentionSplit one_wave_split(const AttentionLibrary& library, const AttentionShape& shape,
                              double sms) {
  const auto keys = static_cast<double>(shape.keys);
  const double seen = shape.window > 0
                          ? std::min(keys, static_cast<double>(shape.window) + library.least_keys)
                          : keys;
  const double groups = static_cast<double>(shape.batch * shape.key_heads);
  const double parts =
      std::min(std::ceil(seen / library.least_keys), std::max(1.0, std::floor(sms / groups)));
  return {parts, parts > 1};
}

std::string kernels_of(const std::string& table) { return table.substr(0, table.find(' ')); }

std::string before_dash(const std::string& kernels) { return kernels.substr(0, kernels.find('-')); }

}  // namespace

std::string attention_kernels(const std::string& architecture, const std::string& framework,
                              const AttentionType& type, const AttentionShape& shape) {
  const std::string& library = framework.empty() ? kernel_libraries().choice().networks : framework;
  const auto rules = attention_rules().kernels.find(library);
  if (rules == attention_rules().kernels.end()) return library;
  const std::vector<RuleFact> facts = facts_of(gpu_architecture(architecture).kernels, type, shape);
  for (const KernelsRule& rule : rules->second) {
    if (rule.conditions.hold(facts)) return rule.kernels;
  }
  return library;
}

AttentionLibrary attention_library(const std::string& architecture, const std::string& kernels) {
  AttentionLibrary library;
  const std::vector<RuleFact> facts = {gpu_architecture(architecture).kernels, kernels};
  for (const KernelLibrary* source : kernel_libraries().chain(before_dash(kernels))) {
    for (const RuleSection::Rule& rule : attention_rules().libraries.at(source->id).rules()) {
      if (rule.conditions.hold(facts)) read_library_rule(rule.node, library);
    }
  }
  return library;
}

double padded_width(const AttentionLibrary& library, double width) {
  const std::vector<double>& widths = library.head_widths;
  const auto next = std::lower_bound(widths.begin(), widths.end(), width);
  if (next != widths.end()) return *next;
  return std::ceil(width / library.shapes.smallest_tile) * library.shapes.smallest_tile;
}

AttentionTile attention_tile(const AttentionLibrary& library, const AttentionType& type,
                             const AttentionShape& shape) {
  if (library.one_token_packs && shape.queries == 1) {
    const std::int64_t share = shape.heads / shape.key_heads;
    return {std::ceil(static_cast<double>(share) / library.one_token_rows) * library.one_token_rows,
            library.one_token_keys};
  }
  const auto table = attention_rules().tiles.find(library.tiles);
  FORETELL_CHECK(table != attention_rules().tiles.end(), "a table of tiles that is known");
  static const std::string kAnyArchitecture;
  const std::vector<RuleFact> facts = facts_of(kAnyArchitecture, type, shape);
  for (const TileRule& rule : table->second) {
    if (rule.conditions.hold(facts)) return rule.tile;
  }
  return {};
}

bool packs_queries(const AttentionLibrary& library, const AttentionShape& shape) {
  if (library.split == AttentionLibrary::Split::kMinParts) return packs_one_query(shape);
  if (shape.phase == AttentionPhase::kGeneration) return !library.one_head;
  return library.packs_queries || (library.one_token_packs && shape.queries == 1);
}

bool regroups(const AttentionLibrary& library, const AttentionShape& shape) {
  // With one sequence, or one head of keys, the same memory only has another shape.
  return library.split == AttentionLibrary::Split::kMinParts && packs_one_query(shape) &&
         shape.batch > 1 && shape.key_heads > 1;
}

AttentionSplit attention_split(const AttentionLibrary& library, const AttentionType& type,
                               const AttentionShape& shape, double sms) {
  switch (library.split) {
    case AttentionLibrary::Split::kSquareRoot:
      if (shape.phase != AttentionPhase::kGeneration) return {};
      return square_root_split(library, shape, sms);
    case AttentionLibrary::Split::kMinParts:
      return fewest_parts_split(library, type, shape, sms);
    case AttentionLibrary::Split::kEvenWork:
      return even_work_split(library, type, shape, sms);
    case AttentionLibrary::Split::kOneWave:
      if (shape.phase != AttentionPhase::kGeneration) return {};
      return one_wave_split(library, shape, sms);
    case AttentionLibrary::Split::kFastest:
      break;
  }
  if (shape.phase != AttentionPhase::kGeneration) return {};
  return {0, false};
}

std::string_view to_string(AttentionPhase phase) {
  switch (phase) {
    case AttentionPhase::kContext:
      return "context";
    case AttentionPhase::kEncoder:
      return "encoder";
    case AttentionPhase::kGeneration:
      break;
  }
  return "generation";
}

std::vector<std::string> attention_tables(const std::string& architecture,
                                          const std::string& framework, const AttentionType& type,
                                          const AttentionShape& shape) {
  const std::string kernels = attention_kernels(architecture, framework, type, shape);
  const std::string rest = ' ' + std::string(to_string(shape.phase)) + ' ' +
                           table_type(type.query_bytes) + ' ' + table_type(type.key_bytes);
  std::vector<std::string> tables = {kernels + rest, before_dash(kernels) + rest};
  const KernelChoice& choice = kernel_libraries().choice();
  const auto own = choice.attention_of_tokens.find(architecture);
  const bool is_own =
      shape.phase == AttentionPhase::kGeneration && own != choice.attention_of_tokens.end();
  for (const std::string& other : is_own ? own->second : choice.attention) {
    tables.push_back(other + rest);
  }
  return tables;
}

AttentionLibrary library_of_table(const std::string& architecture, const std::string& table) {
  return attention_library(architecture, kernels_of(table));
}

AttentionLibrary library_of_call(const std::string& architecture, const std::string& asked,
                                 const std::string& found) {
  if (before_dash(kernels_of(asked)) == before_dash(kernels_of(found))) {
    AttentionLibrary own = library_of_table(architecture, asked);
    if (own.register_products) return own;
  }
  return library_of_table(architecture, found);
}

std::string table_of_cache_write(const AttentionLibrary& library, const AttentionType& type,
                                 AttentionPhase phase) {
  const bool writes = phase == AttentionPhase::kContext && type.key_bytes < 2;
  if (!writes || library.narrow_cache_like.empty()) return "";
  return library.narrow_cache_like + " context bf16 bf16";
}

}  // namespace foretell

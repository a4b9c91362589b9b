#include "hw/spec/gpu/attention_block_facts.hpp"

#include <algorithm>

#include "hw/spec/shared/catalog.hpp"
#include "model/config/entry_reader.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMostKeys = std::int64_t{1} << 40;
constexpr std::int64_t kMostBlocks = 64;

constexpr const char* kSections[] = {"always_choose",     "reads_choice", "shares_choice",
                                     "indexer_walks",     "chosen_walks", "multiplies_out",
                                     "prompts_as_tokens", "stands_in",    "one_network",
                                     "by_operators",      "copies_pool"};

bool fits(const std::string& known, const std::string& asked) {
  return known.empty() || known == asked;
}

}  // namespace

AttentionBlockFacts::AttentionBlockFacts() {
  const Node root = load_document(hw_folder() / "kernels" / "layers" / "blocks.yaml");
  EntryReader reader(root, "", {"source"});
  std::vector<std::string> required = {"types"};
  required.insert(required.end(), std::begin(kSections), std::end(kSections));
  reader.require(required);
  Problems problems;
  for (const Node& node : reader.items("types")) {
    problems.collect([&] {
      EntryReader type(node, "types");
      type.require({"product_dtype", "policy"});
      type.text("product_dtype", types_.emplace_back().product_dtype);
      type.text("policy", types_.back().policy);
      type.finish();
    });
  }
  for (const char* section : kSections) {
    std::vector<Rule>& rules = rules_[section];
    for (const Node& node : reader.items(section)) {
      problems.collect([&] { rules.push_back(read_rule(node, section)); });
    }
  }
  problems.collect([&] { reader.finish(); });
  problems.throw_if_any();
}

AttentionBlockFacts::Rule AttentionBlockFacts::read_rule(const Node& node, const char* section) {
  Rule rule;
  EntryReader reader(node, section, {"why", "source"});
  reader.require({"framework"});
  reader.text("framework", rule.framework);
  reader.text("kind", rule.kind);
  reader.text("phase", rule.phase);
  reader.texts("architecture", rule.architectures);
  reader.text("like", rule.stand_in.library);
  reader.text("host_of", rule.stand_in.host_of);
  reader.flag("host_chooses", rule.stand_in.host_chooses);
  reader.quantity("host_more", rule.stand_in.host_more);
  reader.number("attention", rule.stand_in.attention);
  reader.number("narrow_cache", rule.stand_in.narrow_cache);
  reader.number("indexer", rule.stand_in.indexer);
  reader.number("kernels", rule.stand_in.kernels);
  if (const Node* interval = reader.node("interval80")) {
    if (interval->items.size() != 2) {
      throw UserError(interval->where() + ": interval80: two ratios, the lower one first");
    }
    rule.stand_in.low = number_at(interval->items[0], "interval80");
    rule.stand_in.high = number_at(interval->items[1], "interval80");
  }
  reader.text("network", rule.network);
  reader.flag("fills", rule.choice.fills);
  reader.flag("widens", rule.choice.widens);
  reader.flag("divides", rule.choice.divides);
  reader.quantity("key", rule.walk.key);
  reader.quantity("narrow_key", rule.walk.narrow_key);
  if (rule.walk.key > Cycles(0)) reader.require({"framework", "queries", "blocks_per_sm"});
  reader.whole("queries", rule.walk.queries, 1, kMostKeys);
  reader.whole("blocks_per_sm", rule.walk.blocks_per_sm, 1, kMostBlocks);
  reader.whole("most_keys", rule.most_keys, 1, kMostKeys);
  reader.whole("most_queries", rule.most_queries, 1, kMostKeys);
  reader.quantity("slab", rule.slab);
  reader.number("pool", rule.pool);
  reader.finish();
  return rule;
}

const AttentionBlockFacts::Type& AttentionBlockFacts::type(const std::string& product_dtype) const {
  std::vector<std::string> known;
  for (const Type& type : types_) {
    if (type.product_dtype == product_dtype) return type;
    known.push_back(type.product_dtype);
  }
  throw unknown_name("product_dtype", product_dtype, known);
}

const AttentionBlockFacts::Rule* AttentionBlockFacts::find(const char* section,
                                                           const Call& call) const {
  const std::vector<Rule>& rules = rules_.at(section);
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
    const auto& chips = rule.architectures;
    return rule.framework == call.framework && fits(rule.kind, call.kind) &&
           fits(rule.phase, call.phase) &&
           (chips.empty() ||
            std::find(chips.begin(), chips.end(), call.architecture) != chips.end());
  });
  return found == rules.end() ? nullptr : &*found;
}

const AttentionBlockFacts::Rule& AttentionBlockFacts::rule(const char* section,
                                                           const Call& call) const {
  static const Rule kNone;
  const Rule* found = find(section, call);
  return found == nullptr ? kNone : *found;
}

}  // namespace foretell

#include "hw/spec/gpu/attention_block_facts.hpp"

#include <algorithm>

#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "model/config/node_text.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

constexpr long long kMostKeys = 1LL << 40;
constexpr long long kMostBlocks = 64;

std::vector<std::string> words_or_any(const Node& node, const char* key) {
  const Node* found = node.find(key);
  if (found == nullptr) return {};
  if (found->items.empty()) return {found->as_text(key)};
  return item_texts(*found, key);
}

template <class Q>
Q quantity_or_none(const Node& node, const char* key) {
  const Node* found = node.find(key);
  return found == nullptr ? Q(0) : Q(quantity_at(*found, key, dimension_of<Q>::value));
}

double number_or_none(const Node& node, const char* key) {
  const Node* found = node.find(key);
  return found == nullptr ? 0 : number_at(*found, key);
}

bool fits(const std::string& known, const std::string& asked) {
  return known.empty() || known == asked;
}

}  // namespace

AttentionBlockFacts::AttentionBlockFacts() {
  const Node root = load_document(hw_folder() / "kernels" / "layers" / "blocks.yaml");
  root.only_keys({"source", "types", "always_choose", "reads_choice", "shares_choice",
                  "indexer_walks", "chosen_walks", "multiplies_out", "prompts_as_tokens",
                  "stands_in", "one_network", "by_operators", "copies_pool"},
                 "");
  Problems problems;
  for (const Node& node : root.required("types", "").items) {
    problems.collect([&] {
      node.only_keys({"product_dtype", "policy"}, "types");
      types_.push_back({node.required("product_dtype", "types").as_text("product_dtype"),
                        node.required("policy", "types").as_text("policy")});
    });
  }
  problems.collect([&] { always_choose_ = read_rules(root, "always_choose"); });
  problems.collect([&] { read_choice_ = read_rules(root, "reads_choice"); });
  problems.collect([&] { share_choice_ = read_rules(root, "shares_choice"); });
  problems.collect([&] { walk_all_ = read_rules(root, "indexer_walks"); });
  problems.collect([&] { walk_chosen_ = read_rules(root, "chosen_walks"); });
  problems.collect([&] { multiply_out_ = read_rules(root, "multiplies_out"); });
  problems.collect([&] { serve_as_tokens_ = read_rules(root, "prompts_as_tokens"); });
  problems.collect([&] { stand_in_ = read_rules(root, "stands_in"); });
  problems.collect([&] { one_network_ = read_rules(root, "one_network"); });
  problems.collect([&] { by_operators_ = read_rules(root, "by_operators"); });
  problems.collect([&] { copy_pool_ = read_rules(root, "copies_pool"); });
  problems.throw_if_any();
}

std::vector<AttentionBlockFacts::Rule> AttentionBlockFacts::read_rules(const Node& root,
                                                                       const char* section) {
  std::vector<Rule> rules;
  for (const Node& node : root.required(section, "").items) {
    node.only_keys(
        {"framework",    "kind",    "phase",         "architecture", "fills",      "divides",
         "widens",       "queries", "blocks_per_sm", "key",          "narrow_key", "most_keys",
         "most_queries", "like",    "host_of",       "host_chooses", "host_more",  "attention",
         "narrow_cache", "indexer", "kernels",       "interval80",   "network",    "slab",
         "pool",         "why",     "source"},
        section);
    Rule rule;
    rule.framework = node.required("framework", section).as_text("framework");
    rule.kind = text_or_none(node, "kind");
    rule.phase = text_or_none(node, "phase");
    rule.architectures = words_or_any(node, "architecture");
    rule.stand_in.library = text_or_none(node, "like");
    rule.stand_in.host_of = text_or_none(node, "host_of");
    rule.stand_in.host_chooses = text_or_none(node, "host_chooses") != "no";
    rule.stand_in.host_more = quantity_or_none<Seconds>(node, "host_more");
    rule.stand_in.attention = number_or_none(node, "attention");
    rule.stand_in.narrow_cache = number_or_none(node, "narrow_cache");
    rule.stand_in.indexer = number_or_none(node, "indexer");
    rule.stand_in.kernels = number_or_none(node, "kernels");
    if (const Node* interval = node.find("interval80")) {
      if (interval->items.size() != 2) {
        throw UserError(interval->where() + ": interval80: two ratios, the lower one first");
      }
      rule.stand_in.low = number_at(interval->items[0], "interval80");
      rule.stand_in.high = number_at(interval->items[1], "interval80");
    }
    rule.network = text_or_none(node, "network");
    rule.choice.fills = text_or_none(node, "fills") == "yes";
    rule.choice.widens = text_or_none(node, "widens") == "yes";
    rule.choice.divides = text_or_none(node, "divides") != "no";
    rule.walk.key = quantity_or_none<Cycles>(node, "key");
    rule.walk.narrow_key = quantity_or_none<Cycles>(node, "narrow_key");
    if (rule.walk.key > Cycles(0)) {
      rule.walk.queries = node.required("queries", section).as_integer("queries", 1, kMostKeys);
      rule.walk.blocks_per_sm = static_cast<int>(
          node.required("blocks_per_sm", section).as_integer("blocks_per_sm", 1, kMostBlocks));
    }
    if (const Node* keys = node.find("most_keys")) {
      rule.most_keys = keys->as_integer("most_keys", 1, kMostKeys);
    }
    if (const Node* queries = node.find("most_queries")) {
      rule.most_queries = queries->as_integer("most_queries", 1, kMostKeys);
    }
    rule.slab = quantity_or_none<Bytes>(node, "slab");
    rule.pool = number_or_none(node, "pool");
    rules.push_back(std::move(rule));
  }
  return rules;
}

const AttentionBlockFacts::Type& AttentionBlockFacts::type(const std::string& product_dtype) const {
  std::vector<std::string> known;
  for (const Type& type : types_) {
    if (type.product_dtype == product_dtype) return type;
    known.push_back(type.product_dtype);
  }
  throw unknown_name("product_dtype", product_dtype, known);
}

const AttentionBlockFacts::Rule* AttentionBlockFacts::first_of(const std::vector<Rule>& rules,
                                                               const Call& call) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
    const auto& chips = rule.architectures;
    return rule.framework == call.framework && fits(rule.kind, call.kind) &&
           fits(rule.phase, call.phase) &&
           (chips.empty() ||
            std::find(chips.begin(), chips.end(), call.architecture) != chips.end());
  });
  return found == rules.end() ? nullptr : &*found;
}

bool AttentionBlockFacts::always_chooses(const Call& call) const {
  return first_of(always_choose_, call) != nullptr;
}

AttentionBlockFacts::Choice AttentionBlockFacts::choice(const Call& call) const {
  const Rule* rule = first_of(read_choice_, call);
  return rule == nullptr ? Choice{} : rule->choice;
}

bool AttentionBlockFacts::shares_choice(const Call& call) const {
  return first_of(share_choice_, call) != nullptr;
}

AttentionBlockFacts::Walk AttentionBlockFacts::walk_of_indexer(const Call& call) const {
  const Rule* rule = first_of(walk_all_, call);
  return rule == nullptr ? Walk{} : rule->walk;
}

AttentionBlockFacts::Walk AttentionBlockFacts::walk_of_chosen(const Call& call) const {
  const Rule* rule = first_of(walk_chosen_, call);
  return rule == nullptr ? Walk{} : rule->walk;
}

std::int64_t AttentionBlockFacts::multiplied_out(const Call& call) const {
  const Rule* rule = first_of(multiply_out_, call);
  return rule == nullptr ? 0 : rule->most_keys;
}

std::int64_t AttentionBlockFacts::served_as_tokens(const Call& call) const {
  const Rule* rule = first_of(serve_as_tokens_, call);
  return rule == nullptr ? 0 : rule->most_queries;
}

AttentionBlockFacts::StandIn AttentionBlockFacts::stand_in(const Call& call) const {
  const Rule* rule = first_of(stand_in_, call);
  return rule == nullptr ? StandIn{} : rule->stand_in;
}

std::string AttentionBlockFacts::only_network(const Call& call) const {
  const Rule* rule = first_of(one_network_, call);
  return rule == nullptr ? "" : rule->network;
}

Bytes AttentionBlockFacts::slab(const Call& call) const {
  const Rule* rule = first_of(by_operators_, call);
  return rule == nullptr ? Bytes(0) : rule->slab;
}

double AttentionBlockFacts::copied_pool(const Call& call) const {
  const Rule* rule = first_of(copy_pool_, call);
  return rule == nullptr ? 0 : rule->pool;
}

}  // namespace foretell

#include "hw/spec/gpu/attention_block_facts.hpp"

#include <algorithm>

#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {

AttentionBlockFacts::AttentionBlockFacts() {
  const Node root = load_document(hw_folder() / "kernels" / "layers" / "blocks.yaml");
  root.only_keys({"source", "types", "always_choose", "hosts", "small_kernels"}, "");
  for (const Node& node : root.required("always_choose", "").items) {
    always_choose_.push_back(node.as_text("always_choose"));
  }
  Problems problems;
  for (const Node& node : root.required("types", "").items) {
    problems.collect([&] {
      node.only_keys({"product_dtype", "policy"}, "types");
      types_.push_back({node.required("product_dtype", "types").as_text("product_dtype"),
                        node.required("policy", "types").as_text("policy")});
    });
  }
  for (const Node& node : root.required("hosts", "").items) {
    problems.collect([&] { hosts_.push_back(read_rule(node, "hosts")); });
  }
  for (const Node& node : root.required("small_kernels", "").items) {
    problems.collect([&] { small_kernels_.push_back(read_rule(node, "small_kernels")); });
  }
  problems.throw_if_any();
}

AttentionBlockFacts::Rule AttentionBlockFacts::read_rule(const Node& node, const char* section) {
  constexpr long long kMostKernels = 1000;
  node.only_keys({"framework", "kind", "phase", "product_dtype", "chooses", "time", "kernels",
                  "why", "source"},
                 section);
  const auto text = [&](const char* key) { return node.required(key, section).as_text(key); };
  Rule rule;
  rule.call.framework = text("framework");
  rule.call.kind = text("kind");
  rule.call.phase = text("phase");
  if (const Node* dtype = node.find("product_dtype")) {
    rule.call.product_dtype = dtype->as_text("product_dtype");
  }
  if (const Node* chooses = node.find("chooses")) rule.call.chooses = chooses->text == "yes";
  if (const Node* kernels = node.find("kernels")) {
    rule.kernels = static_cast<double>(kernels->as_integer("kernels", 0, kMostKernels));
  } else {
    rule.time = parse_quantity<Seconds>(text("time"));
  }
  return rule;
}

const std::string& AttentionBlockFacts::policy(const std::string& product_dtype) const {
  std::vector<std::string> known;
  for (const Type& type : types_) {
    if (type.product_dtype == product_dtype) return type.policy;
    known.push_back(type.product_dtype);
  }
  throw unknown_name("product_dtype", product_dtype, known);
}

bool AttentionBlockFacts::always_chooses(const std::string& framework) const {
  return std::find(always_choose_.begin(), always_choose_.end(), framework) != always_choose_.end();
}

const AttentionBlockFacts::Rule* AttentionBlockFacts::first_of(const std::vector<Rule>& rules,
                                                               const Call& call) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
    const Call& known = rule.call;
    return known.framework == call.framework && known.kind == call.kind &&
           known.phase == call.phase && (call.chooses || !known.chooses) &&
           (known.product_dtype.empty() || known.product_dtype == call.product_dtype);
  });
  return found == rules.end() ? nullptr : &*found;
}

Seconds AttentionBlockFacts::host(const Call& call) const {
  const Rule* rule = first_of(hosts_, call);
  return rule == nullptr ? Seconds(0) : rule->time;
}

double AttentionBlockFacts::small_kernels(const Call& call) const {
  const Rule* rule = first_of(small_kernels_, call);
  return rule == nullptr ? 0 : rule->kernels;
}

}  // namespace foretell

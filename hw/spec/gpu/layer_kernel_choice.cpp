#include "hw/spec/gpu/layer_kernel_choice.hpp"

#include <algorithm>

#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000'000;

std::vector<std::string> words_of(const Node& entry, const char* key) {
  std::vector<std::string> words = item_texts(entry.required(key, ""), key);
  if (words.empty()) throw UserError(entry.where() + ": " + key + ": is a list of one or more");
  return words;
}

std::int64_t count_or_none(const Node& entry, const char* key) {
  const Node* found = entry.find(key);
  return found == nullptr ? 0 : found->as_integer(key, 1, kMaxCount);
}

bool yes_unless_no(const Node& entry, const char* key) {
  const Node* found = entry.find(key);
  if (found == nullptr) return true;
  const std::string text = found->as_text(key);
  if (text != "yes" && text != "no") {
    throw UserError(found->where() + ": " + key + ": must be yes or no, not '" + text + "'");
  }
  return text == "yes";
}

LayerTypeChoice read_type_choice(const Node& node) {
  node.only_keys({"compute", "weights", "type", "tables"}, "types");
  return {node.required("compute", "types").as_text("compute"),
          node.required("weights", "types").as_text("weights"),
          node.required("type", "types").as_text("type"), words_of(node, "tables")};
}

}  // namespace

LayerKernelChoice::LayerKernelChoice() {
  const Node root = load_document(hw_folder() / "kernels" / "layers" / "choice.yaml");
  root.only_keys({"source", "stands_in", "types", "operations"}, "");
  stands_in_ = words_of(root, "stands_in");
  Problems problems;
  for (const Node& node : root.required("types", "").items) {
    problems.collect([&] { types_.push_back(read_type_choice(node)); });
  }
  for (const Node& node : root.required("operations", "").items) {
    problems.collect([&] { read_operation(node); });
  }
  problems.throw_if_any();
}

void LayerKernelChoice::read_operation(const Node& node) {
  node.only_keys({"operation", "library", "tables_of", "kernels", "most_tokens", "sms", "exchanged",
                  "spread", "why", "source"},
                 "operations");
  LayerOperationChoice choice;
  choice.operation = node.required("operation", "operations").as_text("operation");
  choice.library = node.required("library", "operations").as_text("library");
  const Node* const tables = node.find("tables_of");
  choice.tables_of = tables == nullptr ? choice.library : tables->as_text("tables_of");
  choice.kernels = words_of(node, "kernels");
  choice.most_tokens = count_or_none(node, "most_tokens");
  choice.sms = count_or_none(node, "sms");
  choice.exchanged = yes_unless_no(node, "exchanged");
  choice.spread = yes_unless_no(node, "spread");
  const bool known =
      std::find(stands_in_.begin(), stands_in_.end(), choice.library) != stands_in_.end();
  if (!known) {
    throw UserError(node.where() + ": library: '" + choice.library + "' is not in stands_in");
  }
  operations_.push_back(std::move(choice));
}

const LayerTypeChoice* LayerKernelChoice::type(const std::string& compute,
                                               const std::string& weights) const {
  for (const LayerTypeChoice& choice : types_) {
    if (choice.compute == compute && choice.weights == weights) return &choice;
  }
  return nullptr;
}

std::vector<const LayerOperationChoice*> LayerKernelChoice::kernels(
    const std::string& operation, const std::string& library) const {
  std::vector<const LayerOperationChoice*> found;
  const auto add = [&](const std::string& of) {
    for (const LayerOperationChoice& choice : operations_) {
      if (choice.operation == operation && choice.library == of) found.push_back(&choice);
    }
  };
  add(library);
  for (const std::string& other : stands_in_) {
    if (other != library) add(other);
  }
  return found;
}

}  // namespace foretell

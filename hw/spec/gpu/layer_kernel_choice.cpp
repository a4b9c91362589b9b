#include "hw/spec/gpu/layer_kernel_choice.hpp"

#include <algorithm>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/config/entry_reader.hpp"

namespace foretell {
namespace {

LayerTypeChoice read_type_choice(const Node& node, const std::vector<std::string>& stands_in) {
  LayerTypeChoice choice;
  EntryReader reader(node, "types", {"why", "source"});
  reader.require({"compute", "weights", "type", "tables"});
  reader.text("compute", choice.compute);
  reader.text("weights", choice.weights);
  reader.text("type", choice.type);
  reader.texts("tables", choice.tables);
  reader.texts("libraries", choice.libraries);
  reader.text("pipe", choice.pipe);
  reader.finish();
  const auto check = [&node](const char* key, const std::string& name,
                             const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UserError(node.where() + ": " + unknown_name(key, name, known).what());
  };
  for (const std::string& library : choice.libraries) check("libraries", library, stands_in);
  if (!choice.pipe.empty()) check("pipe", choice.pipe, matrix_types());
  return choice;
}

}  // namespace

LayerKernelChoice::LayerKernelChoice() {
  const Node root = load_document(hw_folder() / "kernels" / "layers" / "choice.yaml");
  EntryReader reader(root, "", {"source"});
  reader.require({"stands_in", "types", "operations"});
  reader.texts("stands_in", stands_in_);
  Problems problems;
  for (const Node& node : reader.items("types")) {
    problems.collect([&] { types_.push_back(read_type_choice(node, stands_in_)); });
  }
  for (const Node& node : reader.items("operations")) {
    problems.collect([&] { read_operation(node); });
  }
  problems.collect([&] { reader.finish(); });
  problems.throw_if_any();
}

void LayerKernelChoice::read_operation(const Node& node) {
  LayerOperationChoice choice;
  EntryReader reader(node, "operations", {"why", "source"});
  reader.require({"operation", "library", "kernels"});
  reader.text("operation", choice.operation);
  reader.text("library", choice.library);
  choice.tables_of = choice.library;
  reader.text("tables_of", choice.tables_of);
  reader.texts("kernels", choice.kernels);
  reader.whole("most_tokens", choice.most_tokens, 1);
  reader.whole("sms", choice.sms, 1);
  reader.flag("exchanged", choice.exchanged);
  reader.flag("spread", choice.spread);
  reader.finish();
  const bool known =
      std::find(stands_in_.begin(), stands_in_.end(), choice.library) != stands_in_.end();
  if (!known) {
    throw UserError(node.where() + ": library: '" + choice.library + "' is not in stands_in");
  }
  operations_.push_back(std::move(choice));
}

const LayerTypeChoice* LayerKernelChoice::type(const std::string& compute,
                                               const std::string& weights,
                                               const std::string& library,
                                               const std::map<std::string, double>& pipes) const {
  for (const LayerTypeChoice& choice : types_) {
    const auto& libraries = choice.libraries;
    const bool is_of = libraries.empty() ||
                       std::find(libraries.begin(), libraries.end(), library) != libraries.end();
    const bool runs = choice.pipe.empty() || pipes.count(choice.pipe) > 0;
    if (is_of && runs && choice.compute == compute && choice.weights == weights) return &choice;
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

#include "model/app/serving/steps/layer_kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <unordered_map>
#include <variant>

namespace foretell {
namespace {

std::string text_of_attribute(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> std::string {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>) {
          return fmt::format("{}", fmt::join(value, ","));
        } else {
          return fmt::format("{}", value);
        }
      },
      attribute);
}

std::string text_of_op(const Graph& graph, const Op& op) {
  std::string text = op.kind;
  for (const auto& [name, value] : op.attributes) {
    text += fmt::format(" {}={}", name, text_of_attribute(value));
  }
  for (const std::vector<TensorId>* ids : {&op.inputs, &op.outputs}) {
    for (const TensorId id : *ids) {
      const Tensor& tensor = graph.tensor(id);
      text += fmt::format(" {}:{}", fmt::join(tensor.shape, "x"), static_cast<int>(tensor.dtype));
    }
  }
  return text + "\n";
}

}  // namespace

std::vector<AlikeLayers> layer_kinds(const Graph& graph, std::int64_t layers,
                                     const std::function<bool(OpId)>& counts) {
  std::vector<std::string> texts(static_cast<std::size_t>(layers));
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (op.layer == kNoId || op.layer >= layers) continue;
    if (counts && !counts(static_cast<OpId>(i))) continue;
    texts[static_cast<std::size_t>(op.layer)] += text_of_op(graph, op);
  }
  std::vector<AlikeLayers> kinds;
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto [at, is_new] = known.emplace(texts[i], kinds.size());
    if (is_new) kinds.push_back({static_cast<std::int64_t>(i), 0});
    kinds[at->second].count += 1;
    kinds[at->second].layers.push_back(static_cast<std::int64_t>(i));
  }
  return kinds;
}

}  // namespace foretell

// What the translation of every ONNX operator uses: tensors by name, and the graph that is built.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/import/onnx/onnx_graph.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

class OnnxTranslator {
 public:
  explicit OnnxTranslator(const OnnxGraph& source) : source_(source), graph_(source.name) {}

  const OnnxGraph& source() const { return source_; }
  const OnnxTensor& tensor(const std::string& name) const { return source_.tensor(name); }
  Graph& graph() { return graph_; }

  // The tensor of the graph; weights and inputs are added when they are first read. Integers that
  // are known enter as inputs: they are no parameters.
  TensorId id(const std::string& name);
  bool has(const std::string& name) const { return ids_.count(name) > 0; }
  void set(const std::string& name, TensorId id) { ids_[name] = id; }

  // Appends an operator called after the node; `part` tells several of one node apart.
  TensorId add(const OnnxNode& node, std::string_view kind, std::vector<TensorId> inputs,
               std::map<std::string, Attribute> attributes = {}, const std::string& part = "");
  // … whose first result is that of the node.
  void give(const OnnxNode& node, std::string_view kind, std::vector<TensorId> inputs,
            std::map<std::string, Attribute> attributes = {});
  // A weight that the file does not have as such.
  TensorId weight(const std::string& name, Shape shape);
  const Shape& shape(TensorId id) const { return graph_.tensor(id).shape; }
  TensorId reshape(const OnnxNode& node, TensorId x, Shape shape, const std::string& part);
  TensorId transpose(const OnnxNode& node, TensorId x, std::vector<std::int64_t> perm,
                     const std::string& part);

  // Integers that an operator takes as an attribute or, in later opsets, as an input.
  std::vector<std::int64_t> integers(const OnnxNode& node, const std::string& attribute,
                                     std::size_t input,
                                     const std::vector<std::int64_t>& otherwise) const;
  // Axis of a tensor of `rank` dimensions, counted from the front.
  std::int64_t axis(const OnnxNode& node, std::int64_t axis, std::size_t rank) const;
  [[noreturn]] void fail(const OnnxNode& node, const std::string& message) const;

 private:
  const OnnxGraph& source_;
  Graph graph_;
  std::map<std::string, TensorId> ids_;
};

using OnnxRule = void (*)(OnnxTranslator&, const OnnxNode&);
using OnnxRules = std::map<std::string, OnnxRule>;

// One table per family, each in a file of its own.
void add_elementwise_rules(OnnxRules& rules);
void add_product_rules(OnnxRules& rules);
void add_layout_rules(OnnxRules& rules);
void add_row_rules(OnnxRules& rules);
void add_recurrent_rules(OnnxRules& rules);

}  // namespace foretell

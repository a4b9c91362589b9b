// Small graphs for tests of mappings.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// Writes a graph down operator by operator; weights get their names from the operators.
class GraphWriter {
 public:
  explicit GraphWriter(std::string name = "test") : graph_(std::move(name)) {}

  TensorId input(const std::string& name, Shape shape) {
    return graph_.add_input(name, std::move(shape), DType::kFp32);
  }
  TensorId weight(const std::string& name, Shape shape) {
    return graph_.add_weight(name, std::move(shape), DType::kFp32);
  }
  TensorId op(const std::string& name, const std::string& kind, std::vector<TensorId> inputs,
              std::map<std::string, Attribute> attributes = {}) {
    return graph_.add_op(name, kind, std::move(inputs), std::move(attributes));
  }
  // x [.., k] times a weight [k, n].
  TensorId matmul(const std::string& name, TensorId x, std::int64_t n) {
    const std::int64_t k = graph_.tensor(x).shape.back();
    return op(name, "MatMul", {x, weight(name + ".weight", {k, n})});
  }
  TensorId bias(const std::string& name, TensorId x) {
    return op(name, "Add", {x, weight(name + ".weight", {graph_.tensor(x).shape.back()})});
  }
  TensorId norm(const std::string& name, TensorId x) {
    const Shape parameter{graph_.tensor(x).shape.back()};
    return op(name, "LayerNorm",
              {x, weight(name + ".gamma", parameter), weight(name + ".beta", parameter)});
  }
  TensorId gelu(const std::string& name, TensorId x) {
    return op(name, "Gelu", {x}, {{"approximate", std::string("none")}});
  }
  Graph& graph() { return graph_; }
  // With `output` marked, in the types of a policy.
  Graph finish(TensorId output, const std::string& precision = "bf16-matmul") {
    graph_.mark_output(output);
    apply_precision(find_precision(precision), &graph_);
    return graph_;
  }

 private:
  Graph graph_;
};

// y [rows, n] = x [rows, k] w [k, n]
inline Graph linear_graph(std::int64_t rows, std::int64_t k, std::int64_t n,
                          const std::string& precision = "bf16-matmul") {
  GraphWriter writer("linear");
  const TensorId x = writer.input("x", {rows, k});
  return writer.finish(writer.matmul("linear", x, n), precision);
}

}  // namespace foretell

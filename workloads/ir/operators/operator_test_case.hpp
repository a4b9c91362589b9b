// For the tests of the operator families: one operator over inputs of given shapes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/errors.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell::testing_support {

struct Outcome {
  std::vector<Shape> shapes;  // of the outputs
  double flops = 0;
  std::string error;  // of the UserError, empty without one
};

inline Outcome run_operator(std::string_view kind, const std::vector<Shape>& inputs,
                            const std::map<std::string, Attribute>& attributes = {}) {
  Graph graph("case");
  std::vector<TensorId> ids;
  for (const Shape& shape : inputs) ids.push_back(graph.add_input("x", shape, DType::kFp32));
  Outcome outcome;
  try {
    graph.add_op("op", kind, ids, attributes);
  } catch (const UserError& error) {
    outcome.error = error.what();
    return outcome;
  }
  for (const TensorId id : graph.op(0).outputs) outcome.shapes.push_back(graph.tensor(id).shape);
  outcome.flops = graph.flops(0).value();
  return outcome;
}

}  // namespace foretell::testing_support

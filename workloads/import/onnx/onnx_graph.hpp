// An ONNX network as the importer sees it: nodes in order, every tensor with its shape. Free of the
// headers of the ONNX library, which only onnx_file.cpp, onnx_graph.cpp and onnx_inputs.cpp
// include.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

// Values of a small tensor that is known before the network runs: shapes, axes, indices, scalars.
// long double holds every 64-bit integer exactly.
struct OnnxConstant {
  Shape shape;
  std::vector<long double> values;
  bool is_integer = false;
};

struct OnnxTensor {
  Shape shape;
  DType dtype = DType::kFp32;
  bool is_weight = false;  // known before the network runs: an initialiser, or computed from some
  std::optional<OnnxConstant> constant;  // its values where they are few

  bool is_number() const;  // a constant of one element
};

struct OnnxNode {
  std::string name;
  std::string type;                 // "Conv"
  std::vector<std::string> inputs;  // empty: left out
  std::vector<std::string> outputs;
  std::map<std::string, Attribute> attributes;

  bool has_input(std::size_t index) const {
    return index < inputs.size() && !inputs[index].empty();
  }
  std::int64_t integer(const std::string& attribute, std::int64_t otherwise) const;
  double number(const std::string& attribute, double otherwise) const;
  std::string text(const std::string& attribute, const std::string& otherwise) const;
  std::vector<std::int64_t> integers(const std::string& attribute,
                                     const std::vector<std::int64_t>& otherwise) const;
};

struct OnnxControl;

struct OnnxGraph {
  std::string name;
  std::int64_t opset = 0;  // of the standard operators
  std::vector<OnnxNode> nodes;
  std::map<std::string, OnnxTensor> tensors;
  std::vector<std::string> inputs;  // without initialisers
  std::vector<std::string> outputs;
  std::vector<std::string> notes;     // what a reader should know
  std::vector<OnnxControl> controls;  // branches and loops, whose results are inputs of the rest

  const OnnxTensor& tensor(const std::string& called) const { return tensors.at(called); }
};

// An If, a Loop or a Scan.
struct OnnxControl {
  std::string name;
  std::string type;
  std::optional<std::int64_t> known;  // 1 or 0: the branch that is taken; trips of a loop
  std::vector<OnnxGraph> bodies;      // of a branch: then, else
};

// Where the most trips of a loop stand among the sizes.
std::string trips_of_loop(const std::string& name);

// Sizes of dimensions that a file leaves open, by name; an unnamed one is called after its input
// and axis, "pixel_values.0".
using DimensionSizes = std::map<std::string, std::int64_t>;

// The network in an ONNX file. Symbolic dimensions take their size from `sizes`; one that is called
// after a batch or a sequence and is not in `sizes` takes sizes["batch"] or sizes["seq"]. Constant
// parts are folded away. UserErrors name the file and the node: everything of read_onnx_file(), a
// dimension left open (with the option that sets it), an undefined tensor, a cycle, shapes that
// contradict each other, operators of unknown domains, and results whose shape depends on data.
OnnxGraph load_onnx(const std::string& path, const DimensionSizes& sizes);

// The outputs of a node whose inputs are all known and small; nothing where it is not one of the
// operators that graphs compute shapes with. In onnx_fold.cpp.
std::optional<std::vector<OnnxConstant>> fold_onnx(const OnnxNode& node,
                                                   const std::vector<const OnnxTensor*>& inputs);

}  // namespace foretell

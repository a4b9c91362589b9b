// The operator graph: what to run, without any hardware.
//
// A Graph is a list of operators in topological order over tensors with concrete shapes. Weights
// are tensors of kind kWeight; they have a shape and no data. Layout operators (Reshape,
// Transpose, Split) are explicit; a mapping may fold them away.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/base/units.hpp"
#include "workloads/ir/dtype.hpp"

namespace foretell {

using Shape = std::vector<std::int64_t>;
std::int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  // "[8, 128, 1024]"

using TensorId = std::int32_t;
using OpId = std::int32_t;
inline constexpr std::int32_t kNoId = -1;

// A state lives on the device from call to call, read and updated there (a KV cache).
enum class TensorKind { kInput, kWeight, kActivation, kOutput, kState };

struct Tensor {
  std::string name;
  Shape shape;
  DType dtype = DType::kFp32;
  TensorKind kind = TensorKind::kActivation;
  OpId producer = kNoId;        // kNoId for inputs and weights
  std::vector<OpId> consumers;  // in topological order
  // A weight that a narrow format of weights leaves alone, in 16 bits or in a narrow type of its
  // own, or a state or an activation whose type is its own in every precision policy.
  bool is_kept = false;
  Bytes bytes() const;
};

// Attribute values: integers, numbers, integer lists, text.
using Attribute = std::variant<std::int64_t, double, std::vector<std::int64_t>, std::string>;

// One operator. `kind` is the name of an entry of the operator table (workloads/ir/operators.hpp),
// for example "MatMul", "Add", "Softmax", "LayerNorm", "Gelu", "Tanh", "Relu", "Transpose",
// "Reshape", "Split", "Gather", "Slice".
struct Op {
  std::string name;  // "encoder.0.attention.query"
  std::string kind;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::map<std::string, Attribute> attributes;
  std::int32_t layer = kNoId;  // which repeated block the importer put it in; kNoId: none
};

class OpView;

class Graph {
 public:
  explicit Graph(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Op>& ops() const { return ops_; }
  const Tensor& tensor(TensorId id) const { return tensors_.at(static_cast<std::size_t>(id)); }
  const Op& op(OpId id) const { return ops_.at(static_cast<std::size_t>(id)); }

  TensorId add_input(std::string name, Shape shape, DType dtype);
  TensorId add_weight(std::string name, Shape shape, DType dtype);
  TensorId add_state(std::string name, Shape shape, DType dtype);
  // Appends an operator, infers the shapes of its outputs from the operator table and returns the
  // id of its first output. Unknown kinds, wrong arity and shapes that do not fit are UserErrors
  // that name the operator. Outputs take the type of the first input (indices: int32); an operator
  // with several outputs (Split) gets consecutive ids.
  TensorId add_op(std::string name, std::string_view kind, std::vector<TensorId> inputs,
                  std::map<std::string, Attribute> attributes = {}, std::int32_t layer = kNoId);
  void mark_output(TensorId id);
  void mark_state(TensorId id);  // the new content of a state, given back by an operator
  void set_dtype(TensorId id, DType dtype);  // see workloads/ir/precision.hpp
  void set_shape(TensorId id, Shape shape);  // of an activation; operators are not asked again
  void keep(TensorId id);                    // see Tensor::is_kept

  Flops flops(OpId id) const;  // 1 multiply-accumulate = 2 flops
  Flops total_flops() const;
  std::int64_t parameter_count() const;  // elements of all weights, shared ones counted once
  Bytes weight_bytes() const;            // at the stored type of each weight
  std::vector<TensorId> inputs() const;
  std::vector<TensorId> outputs() const;

 private:
  TensorId add_tensor(std::string name, Shape shape, DType dtype, TensorKind kind);
  OpView view_of(const Op& op) const;
  void mark(TensorId id, TensorKind kind);
  std::vector<TensorId> of_kind(TensorKind kind) const;

  std::string name_;
  std::vector<Tensor> tensors_;
  std::vector<Op> ops_;
};

}  // namespace foretell

// The operator table: what each kind of operator takes, what shape it yields and how much
// arithmetic it is. It knows no hardware.
//
// To add an operator: write its shape rule and flop count in a file of its family under
// workloads/ir/operators/, declare both in operators/families.hpp, add one line to the list in
// operators.cpp, and give it a mapping for each device family that is to run it (model/mapping).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/units.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// An operator together with the shapes of its inputs: what shape rules and flop counts see.
class OpView {
 public:
  // `op` must outlive the view. `inputs` are in the order of op.inputs.
  OpView(const Op& op, std::vector<const Shape*> inputs);

  std::size_t input_count() const { return inputs_.size(); }
  const Shape& input(std::size_t index) const { return *inputs_.at(index); }
  std::int64_t rank(std::size_t index) const;

  bool has(std::string_view attribute) const;
  // Value of an attribute. UserError if it is missing or of another type.
  std::int64_t integer(std::string_view attribute) const;
  double number(std::string_view attribute) const;
  const std::vector<std::int64_t>& integers(std::string_view attribute) const;
  const std::string& text(std::string_view attribute) const;
  // The attribute as an axis of a tensor of `rank` dimensions, in [0, rank); -1 is the last one.
  std::int64_t axis(std::string_view attribute, std::int64_t rank) const;

  // UserError "operator 'encoder.0.x' (MatMul): <message>".
  [[noreturn]] void fail(const std::string& message) const;

 private:
  const Attribute& find(std::string_view attribute) const;

  const Op& op_;
  std::vector<const Shape*> inputs_;
};

struct OperatorInfo {
  std::string_view kind;  // "MatMul"
  int min_inputs;
  int max_inputs;
  std::vector<std::string_view> attributes;           // the names it accepts
  std::vector<Shape> (*infer_shapes)(const OpView&);  // one shape per output
  // Arithmetic operations for these inputs. 1 multiply-accumulate = 2 flops; an exponential, a
  // square root or an error function counts as one; moving data counts as none.
  double (*flops)(const OpView&);
  std::string_view summary;  // one line for people
  int index_output = -1;     // which output holds indices instead of numbers; -1: none
};

// Every operator, in the order of the lists in operators.cpp and operators/network_rows.cpp.
const std::vector<OperatorInfo>& operator_table();

// UserError names the nearest operator and says how to add one.
const OperatorInfo& find_operator(std::string_view kind);

// The shape to which two shapes broadcast (dimensions aligned at the right; equal or 1).
// Returns false when they do not fit.
bool broadcast(const Shape& a, const Shape& b, Shape* result);

}  // namespace foretell

// Operators along the columns of each token, with tokens on the partitions: the router of a mixture
// of experts and whatever else is softmax, top-k or a reduction outside an attention.
#include <algorithm>
#include <string_view>

#include "model/mapping/neuron/lowering.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kBestPerPass = 8;  // values that max8 and find_index8 yield, ISA:673

class RowWise {
 public:
  RowWise(LoweringContext& context, const Kernel& kernel)
      : emitter_(context.emitter), op_(context.graph.op(kernel.ops.front())) {}

  Deps run(std::int64_t columns, const Deps& source) {
    if (op_.kind == "Softmax") return softmax(columns, source);
    if (op_.kind == "TopK") return top(columns, source);
    return pass(Opcode::kTensorReduce, columns, source);
  }

 private:
  // max, exp(x - max) with its sum, 1 / sum, normalise: maximum and sum are one number per token.
  Deps softmax(std::int64_t columns, const Deps& source) {
    const Deps maximum = pass(Opcode::kTensorReduce, columns, source);
    const Deps exponential = pass(Opcode::kActivateReduce, columns, maximum, Engine::kScalar);
    const Deps inverse = pass(Opcode::kReciprocal, 1, exponential);
    return pass(Opcode::kTensorScalar, columns, inverse);
  }

  // Eight at a time: the largest values, where they stand, and out with them.
  Deps top(std::int64_t columns, const Deps& source) {
    const std::int64_t wanted = integer_of(op_, "k");
    const std::int64_t searched = std::max(columns, kBestPerPass);
    Deps done = source;
    for (std::int64_t found = 0; found < wanted; found += kBestPerPass) {
      done = pass(Opcode::kMax8, searched, done);
      done = pass(Opcode::kFindIndex8, searched, done);
      if (found + kBestPerPass < wanted) done = pass(Opcode::kMatchReplace8, searched, done);
    }
    return done;
  }

  Deps pass(Opcode opcode, std::int64_t n, const Deps& deps, Engine engine = Engine::kVector) {
    const auto flags = static_cast<std::uint16_t>(kReadsSbuf | kWritesSbuf | kAddOrMax);
    Deps done;
    for (std::int64_t first = 0; first < n; first += emitter_.free_elements()) {
      done = emitter_.lane(engine, {opcode, std::min(emitter_.free_elements(), n - first), flags},
                           deps);
    }
    return done;
  }

  Emitter& emitter_;
  const Op& op_;
};

}  // namespace

void lower_row_wise(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  const Op& op = context.graph.op(kernel.ops.front());
  emitter.attribute_to(context.graph, kernel.ops.front());
  const Value& input = require_token_major(context, kernel.operands.front());
  emitter.attribute_to(context.graph, kernel.ops.front());
  const std::int64_t columns = column_count(context.graph.tensor(op.inputs.front()).shape);
  Value output = emitter.new_value();
  output.rows = input.rows;
  const Shape& shape = context.graph.tensor(kernel.output).shape;
  output.columns = element_count(shape) / std::max<std::int64_t>(1, input.rows);
  RowWise row_wise(context, kernel);
  for (const Deps& tile : input.token_major) {
    output.token_major.push_back(row_wise.run(columns, tile));
  }
  for (const TensorId id : op.outputs) emitter.value(id) = output;
}

}  // namespace foretell

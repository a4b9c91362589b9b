// Kernels over few tokens, as in decode: features lie on the partitions, all tokens of a block of
// 128 features side by side, so that the lane engines use every lane. Reductions over the features
// cross the partitions through the tensor engine: a matmul by ones leaves the sum on all of them.
#include <algorithm>

#include "model/mapping/neuron/lowering.hpp"

namespace foretell {
namespace {

constexpr std::uint16_t kFromSbuf = kReadsSbuf | kWritesSbuf | kAddMulSub;
constexpr std::uint16_t kFromPsum = kReadsPsum | kReadsSbuf | kWritesSbuf | kAddMulSub;

std::int64_t blocks_of(std::int64_t columns) { return (columns + kTileRows - 1) / kTileRows; }

// Sum over the partitions of [128, columns], on every partition of the result in PSUM.
Deps sum_over_partitions(Emitter& emitter, std::uint8_t bank, std::int64_t columns,
                         const Deps& source) {
  return emitter.matmul(bank, {kTileRows, kTileRows, columns}, source, true, true);
}

// Mean of x or of x^2 over the features of each token, as one column per token on every partition.
Deps feature_mean(Emitter& emitter, std::int64_t elements, std::int64_t rows, const Deps& source,
                  Engine evictor, Opcode evict_as) {
  const Deps sum =
      emitter.lane(Engine::kVector,
                   {Opcode::kTensorReduce, elements, kReadsSbuf | kWritesSbuf | kAddOrMax}, source);
  const std::uint8_t bank = emitter.acquire_bank();
  const Deps total = sum_over_partitions(emitter, bank, rows, sum);
  const Deps mean = emitter.lane(evictor, {evict_as, rows, kReadsPsum | kWritesSbuf}, total);
  emitter.release_bank(bank, mean);
  return mean;
}

}  // namespace

bool is_narrow(const Graph& graph, TensorId id) {
  const Shape& shape = graph.tensor(id).shape;
  return row_count(shape) <= kNarrowRows;
}

Deps narrow_operand(LoweringContext& context, const View& view) {
  const Value& value = require_feature_major(context, view);
  Deps all;
  for (const Deps& block : value.feature_major) all.merge(block);
  return all;
}

void set_narrow(Value* value, std::int64_t rows, std::int64_t columns, const Deps& ready) {
  value->rows = rows;
  value->columns = columns;
  value->feature_major.assign(static_cast<std::size_t>(value->blocks() * value->tiles()), ready);
}

void lower_linear_narrow(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  const Shape& shape = context.graph.tensor(kernel.output).shape;
  const std::int64_t rows = row_count(shape);
  const std::int64_t n = column_count(shape);
  const TensorId input = context.graph.op(kernel.matmul).inputs[0];
  const std::int64_t k = column_count(context.graph.tensor(input).shape);
  const Deps operand = narrow_operand(context, kernel.input);
  Deps residual;
  if (kernel.residual_op != kNoId) residual = narrow_operand(context, kernel.residual);

  LoadedWeight weight;
  weight.panel_columns = kBankColumns;
  Deps all;
  for (std::int64_t panel = 0; panel * kBankColumns < n; ++panel) {
    emitter.attribute_to(context.graph, kernel.matmul);
    context.weights.load_panel(kernel.weight, k, n, panel, &weight);
    const std::int64_t end = std::min(n, (panel + 1) * kBankColumns);
    const std::uint8_t bank = emitter.acquire_bank();
    Deps group;
    for (std::int64_t column = panel * kBankColumns; column < end; column += kTileRows) {
      for (std::int64_t kb = 0; kb * kTileRows < k; ++kb) {
        Deps deps = weight.at(panel, kb);
        deps.merge(operand);
        group = emitter.matmul(
            bank,
            {std::min(kTileRows, k - kb * kTileRows), std::min(kTileRows, end - column), rows},
            deps, kb == 0, (kb + 1) * kTileRows >= k);
      }
    }
    context.weights.release_panel(weight, panel, group);
    const std::int64_t elements = blocks_of(end - panel * kBankColumns) * rows;
    Deps done = group;
    bool in_psum = true;
    const auto pass = [&](OpId op, Engine engine, Opcode opcode) {
      emitter.attribute_to(context.graph, op);
      done = emitter.lane(engine, {opcode, elements, in_psum ? kFromPsum : kFromSbuf}, done);
      if (in_psum) emitter.release_bank(bank, done);
      in_psum = false;
    };
    if (kernel.bias_op != kNoId) pass(kernel.bias_op, Engine::kVector, Opcode::kTensorTensor);
    if (kernel.activation_op != kNoId)
      pass(kernel.activation_op, Engine::kScalar, Opcode::kActivate);
    if (kernel.residual_op != kNoId) {
      done.merge(residual);
      pass(kernel.residual_op, Engine::kVector, Opcode::kTensorTensor);
    }
    if (in_psum) done = emitter.evict(bank, elements, group);
    all.merge(done);
  }
  set_narrow(&emitter.value(kernel.output), rows, n, all);
}

void lower_norm_narrow(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  const Op& op = context.graph.op(kernel.ops.front());
  const Shape& shape = context.graph.tensor(kernel.output).shape;
  const std::int64_t rows = row_count(shape);
  const std::int64_t columns = column_count(shape);
  const std::int64_t elements = blocks_of(columns) * rows;
  emitter.attribute_to(context.graph, kernel.ops.front());
  Deps x = narrow_operand(context, kernel.operands.front());
  emitter.attribute_to(context.graph, kernel.ops.front());
  if (op.kind == "LayerNorm") {  // x - mean
    const Deps mean =
        feature_mean(emitter, elements, rows, x, Engine::kVector, Opcode::kTensorScalar);
    x = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, elements, kFromSbuf}, mean);
  }
  const Deps squares = emitter.lane(Engine::kScalar, {Opcode::kActivate, elements}, x);
  const Deps rstd = feature_mean(emitter, elements, rows, squares, Engine::kScalar, Opcode::kRsqrt);
  Deps done = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, elements, kFromSbuf}, rstd);
  done = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, elements, kFromSbuf}, done);
  if (op.kind == "LayerNorm") {
    done = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, elements, kFromSbuf}, done);
  }
  set_narrow(&emitter.value(kernel.output), rows, columns, done);
}

void lower_elementwise_narrow(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  const Op& op = context.graph.op(kernel.ops.front());
  const Shape& shape = context.graph.tensor(kernel.output).shape;
  const std::int64_t rows = row_count(shape);
  const std::int64_t columns = column_count(shape);
  Deps deps;
  for (const View& view : kernel.operands) deps.merge(narrow_operand(context, view));
  emitter.attribute_to(context.graph, kernel.ops.front());
  const bool binary = op.inputs.size() > 1;
  const bool function = is_function(op.kind);
  const Engine engine = function ? Engine::kScalar : Engine::kVector;
  const Opcode opcode =
      function ? Opcode::kActivate : (binary ? Opcode::kTensorTensor : Opcode::kTensorScalar);
  const Deps done = emitter.lane(engine, {opcode, blocks_of(columns) * rows, kFromSbuf}, deps);
  set_narrow(&emitter.value(kernel.output), rows, columns, done);
}

}  // namespace foretell

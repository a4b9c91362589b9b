#include <algorithm>

#include "model/mapping/neuron/lowering.hpp"
#include "model/mapping/shared/graph_patterns.hpp"

namespace foretell {

Deps statistics(Emitter& emitter, std::int64_t elements, const Deps& source) {
  constexpr std::int64_t kStatsPerChunk = 6;  // count, mean and M2 of even and odd elements
  Deps stats;
  std::int64_t chunks = 0;
  for (std::int64_t first = 0; first < elements; first += emitter.statistics_elements(), ++chunks) {
    const std::int64_t n = std::min(emitter.statistics_elements(), elements - first);
    stats.merge(emitter.lane(Engine::kVector, {Opcode::kBnStats, n}, source));
  }
  return emitter.lane(Engine::kVector, {Opcode::kBnAggr, chunks * kStatsPerChunk}, stats);
}

void lower_norm(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  const Op& op = context.graph.op(kernel.ops.front());
  emitter.attribute_to(context.graph, kernel.ops.front());
  const Value& input = require_token_major(context, kernel.operands.front());
  Value& output = emitter.value(kernel.output);
  output.rows = input.rows;
  output.columns = column_count(context.graph.tensor(kernel.output).shape);
  const bool centred = op.kind == "LayerNorm";
  const std::int64_t n = output.columns;
  for (std::int64_t t = 0; t < input.tiles(); ++t) {
    const Deps& source = input.token_major[static_cast<std::size_t>(t)];
    Deps stats;
    if (centred) {
      stats = statistics(emitter, n, source);
    } else {  // squares and their sum in one pass of the Scalar engine
      stats = emitter.lane(Engine::kScalar, {Opcode::kActivateReduce, n}, source);
    }
    const Deps rstd = emitter.lane(Engine::kScalar, {Opcode::kRsqrt, 1}, stats);
    Deps done = emitter.lane(Engine::kVector, {Opcode::kTensorScalar, n}, rstd);
    done = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, n, kFromSbuf}, done);  // * gamma
    if (centred) {                                                                      // + beta
      done = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, n, kFromSbuf}, done);
    }
    output.token_major.push_back(done);
  }
}

namespace {

struct ElementwiseInstruction {
  Engine engine;
  Opcode opcode;
};

ElementwiseInstruction instruction_of(const Op& op) {
  if (is_activation(op.kind)) return {Engine::kScalar, Opcode::kActivate};
  return {Engine::kVector, op.inputs.size() > 1 ? Opcode::kTensorTensor : Opcode::kTensorScalar};
}

// Blocks of 128 features, up to 512 tokens at a time.
void elementwise_feature_major(LoweringContext& context, const Kernel& kernel, Value* output) {
  Emitter& emitter = context.emitter;
  const OpId op = kernel.ops.front();
  const ElementwiseInstruction instruction = instruction_of(context.graph.op(op));
  std::vector<const Value*> operands;
  emitter.attribute_to(context.graph, op);
  for (const View& view : kernel.operands)
    operands.push_back(&require_feature_major(context, view));
  const std::int64_t tiles = output->tiles();
  output->feature_major.resize(static_cast<std::size_t>(output->blocks() * tiles));
  for (std::int64_t block = 0; block < output->blocks(); ++block) {
    for (std::int64_t row = 0; row < output->rows; row += emitter.bank_columns()) {
      const std::int64_t n = std::min(emitter.bank_columns(), output->rows - row);
      const auto first = static_cast<std::size_t>(block * tiles + row / emitter.tile_rows());
      const auto last =
          static_cast<std::size_t>(block * tiles + (row + n - 1) / emitter.tile_rows());
      Deps deps;
      for (const Value* operand : operands) {
        for (std::size_t t = first; t <= last; ++t) {
          deps.merge(operand->feature_major[std::min(t, operand->feature_major.size() - 1)]);
        }
      }
      const Deps done = emitter.lane(instruction.engine, {instruction.opcode, n, kFromSbuf}, deps);
      for (std::size_t t = first; t <= last; ++t) output->feature_major[t] = done;
    }
  }
}

void elementwise_token_major(LoweringContext& context, const Kernel& kernel, Value* output) {
  Emitter& emitter = context.emitter;
  const OpId op = kernel.ops.front();
  ElementwiseInstruction instruction = instruction_of(context.graph.op(op));
  for (const TensorId input : context.graph.op(op).inputs) {  // one number per token
    if (column_count(context.graph.tensor(input).shape) == 1)
      instruction.opcode = Opcode::kTensorScalar;
  }
  std::vector<const Value*> operands;
  emitter.attribute_to(context.graph, op);
  for (const View& view : kernel.operands) operands.push_back(&require_token_major(context, view));
  for (std::int64_t t = 0; t < output->tiles(); ++t) {
    Deps deps;
    for (const Value* operand : operands) {
      const std::size_t last = operand->token_major.size() - 1;
      deps.merge(operand->token_major[std::min(static_cast<std::size_t>(t), last)]);
    }
    output->token_major.push_back(
        emitter.lane(instruction.engine, {instruction.opcode, output->columns, kFromSbuf}, deps));
  }
}

}  // namespace

void lower_elementwise(LoweringContext& context, const Kernel& kernel) {
  Value& output = context.emitter.value(kernel.output);
  const Shape& shape = context.graph.tensor(kernel.output).shape;
  output.rows = row_count(shape);
  output.columns = column_count(shape);
  // Heads that were split off are still columns of the tokens.
  const View& view = kernel.operands.front();
  const std::int64_t rows = row_count(context.graph.tensor(view.tensor).shape);
  if (rows * view.columns == element_count(shape)) {
    output.rows = rows;
    output.columns = view.columns;
  }
  if (kernel.feature_major) {
    elementwise_feature_major(context, kernel, &output);
  } else {
    elementwise_token_major(context, kernel, &output);
  }
}

void lower_gather(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  emitter.attribute_to(context.graph, kernel.ops.front());
  const Tensor& tensor = context.graph.tensor(kernel.output);
  Value& output = emitter.value(kernel.output);
  output.rows = row_count(tensor.shape);
  output.columns = column_count(tensor.shape);
  const auto row_bytes = static_cast<std::int64_t>(static_cast<double>(output.columns) *
                                                   size_of(tensor.dtype).value());
  for (std::int64_t t = 0; t < output.tiles(); ++t) {
    const std::int64_t rows = std::min(emitter.tile_rows(), output.rows - t * emitter.tile_rows());
    output.token_major.push_back(
        emitter.transfer(Ring::kInputs, TransferDirection::kLoad, rows, row_bytes, {}));
  }
}

}  // namespace foretell

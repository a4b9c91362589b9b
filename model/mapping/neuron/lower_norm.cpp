#include <algorithm>

#include "model/mapping/neuron/lowering.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kBnStatsElements = 512;  // ISA:386
constexpr std::int64_t kStatsPerChunk = 6;      // count, mean and M2 of even and odd elements

constexpr std::uint16_t kSbufToSbuf = kReadsSbuf | kWritesSbuf | kAddMulSub;

// Mean and variance, 512 elements at a time, then combined.
Deps statistics(Emitter& emitter, std::int64_t columns, const Deps& source) {
  Deps stats;
  std::int64_t chunks = 0;
  for (std::int64_t first = 0; first < columns; first += kBnStatsElements, ++chunks) {
    const std::int64_t n = std::min(kBnStatsElements, columns - first);
    stats.merge(emitter.lane(Engine::kVector, {Opcode::kBnStats, n}, source));
  }
  return emitter.lane(Engine::kVector, {Opcode::kBnAggr, chunks * kStatsPerChunk}, stats);
}

}  // namespace

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
    done = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, n, kSbufToSbuf}, done);  // * gamma
    if (centred)
      done =
          emitter.lane(Engine::kVector, {Opcode::kTensorTensor, n, kSbufToSbuf}, done);  // + beta
    output.token_major.push_back(done);
  }
}

void lower_elementwise(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  const Op& op = context.graph.op(kernel.ops.front());
  emitter.attribute_to(context.graph, kernel.ops.front());
  const Value& first = require_token_major(context, kernel.operands.front());
  const bool binary = op.inputs.size() > 1;
  const Value* second =
      kernel.operands.size() > 1 ? &require_token_major(context, kernel.operands[1]) : nullptr;
  const bool function = op.kind == "Gelu" || op.kind == "Tanh" || op.kind == "Relu" ||
                        op.kind == "Silu" || op.kind == "Sigmoid";
  Value& output = emitter.value(kernel.output);
  output.rows = row_count(context.graph.tensor(kernel.output).shape);
  output.columns = column_count(context.graph.tensor(kernel.output).shape);
  emitter.attribute_to(context.graph, kernel.ops.front());
  for (std::int64_t t = 0; t < output.tiles(); ++t) {
    Deps deps =
        first.token_major[std::min(static_cast<std::size_t>(t), first.token_major.size() - 1)];
    if (second != nullptr) {
      deps.merge(second->token_major[std::min(static_cast<std::size_t>(t),
                                              second->token_major.size() - 1)]);
    }
    const Engine engine = function ? Engine::kScalar : Engine::kVector;
    const Opcode opcode = function ? Opcode::kActivate
                          : binary ? Opcode::kTensorTensor
                                   : Opcode::kTensorScalar;
    output.token_major.push_back(emitter.lane(engine, {opcode, output.columns, kSbufToSbuf}, deps));
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
    const std::int64_t rows = std::min(kTileRows, output.rows - t * kTileRows);
    output.token_major.push_back(
        emitter.transfer(Ring::kInputs, TransferDirection::kLoad, rows, row_bytes, {}));
  }
}

}  // namespace foretell

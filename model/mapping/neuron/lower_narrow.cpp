// Kernels over few tokens, as in decode: features lie on the partitions, all tokens of a block of
// 128 features side by side, so that the lane engines use every lane. Reductions over the features
// cross the partitions through the tensor engine: a matmul by ones leaves the sum on all of them.
#include <algorithm>

#include "model/mapping/neuron/lowering.hpp"
#include "model/mapping/shared/graph_patterns.hpp"

namespace foretell {
namespace {

// Sum over the partitions of [128, columns], on every partition of the result in PSUM.
Deps sum_over_partitions(Emitter& emitter, std::uint8_t bank, std::int64_t columns,
                         const Deps& source) {
  return emitter.matmul(bank, {emitter.tile_rows(), emitter.tile_rows(), columns}, source, true,
                        true);
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

bool is_narrow(const LoweringContext& context, TensorId id) {
  const Shape& shape = context.graph.tensor(id).shape;
  return row_count(shape) <= context.emitter.narrow_rows();
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

namespace {

// Blocks of 128 weight columns at a time, stationary while the few tokens move. The weights are
// used once: what has been used leaves SBUF at once, chunk by chunk where a panel is one block
// wide.
class NarrowLinear {
 public:
  NarrowLinear(LoweringContext& context, const Kernel& kernel)
      : context_(context), emitter_(context.emitter), kernel_(kernel) {
    const Shape& shape = context.graph.tensor(kernel.output).shape;
    rows_ = row_count(shape);
    n_ = column_count(shape);
    k_ = column_count(context.graph.tensor(context.graph.op(kernel.matmul).inputs[0]).shape);
    weight_.panel_columns = context.weights.panel_columns(kernel.weight, k_, n_);
  }

  void run() {
    emitter_.attribute_to(context_.graph, kernel_.matmul);
    operand_ = narrow_operand(context_, kernel_.input);
    if (kernel_.residual_op != kNoId) residual_ = narrow_operand(context_, kernel_.residual);
    const std::int64_t blocks = emitter_.blocks_of(n_);
    const std::int64_t blocks_per_bank =
        std::min(emitter_.bank_columns() / rows_, emitter_.eviction_blocks());
    Deps all;
    for (std::int64_t first = 0; first < blocks; first += blocks_per_bank) {
      const std::int64_t count = std::min(blocks_per_bank, blocks - first);
      const std::uint8_t bank = emitter_.acquire_bank();
      emitter_.attribute_to(context_.graph, kernel_.matmul);
      Deps group;
      for (std::int64_t block = first; block < first + count; ++block)
        group = multiply(bank, block);
      all.merge(finish(bank, count * rows_, group));
    }
    set_narrow(&emitter_.value(kernel_.output), rows_, n_, all);
  }

 private:
  Deps multiply(std::uint8_t bank, std::int64_t block) {
    const std::int64_t per_panel = weight_.panel_columns / emitter_.tile_rows();
    const std::int64_t panel = block / per_panel;
    if (block % per_panel == 0) {
      context_.weights.load_panel(kernel_.weight, k_, n_, panel, &weight_);
    }
    const std::int64_t columns = std::min(emitter_.tile_rows(), n_ - block * emitter_.tile_rows());
    const std::int64_t k_blocks = emitter_.blocks_of(k_);
    Deps group;
    for (std::int64_t kb = 0; kb < k_blocks; ++kb) {
      Deps deps = weight_.at(panel, kb);
      deps.merge(operand_);
      group = emitter_.matmul(
          bank, {std::min(emitter_.tile_rows(), k_ - kb * emitter_.tile_rows()), columns, rows_},
          deps, kb == 0, kb + 1 == k_blocks);
      if (per_panel == 1) context_.weights.release_block(weight_, panel, kb, k_blocks, group);
    }
    const bool last_of_panel = (block + 1) % per_panel == 0 || block + 1 == emitter_.blocks_of(n_);
    if (per_panel > 1 && last_of_panel) context_.weights.release_panel(weight_, panel, group);
    return group;
  }

  Deps finish(std::uint8_t bank, std::int64_t elements, const Deps& group) {
    Deps done = group;
    bool in_psum = true;
    const auto pass = [&](OpId op, Engine engine, Opcode opcode) {
      emitter_.attribute_to(context_.graph, op);
      done = emitter_.lane(engine, {opcode, elements, in_psum ? kFromPsum : kFromSbuf}, done);
      if (in_psum) emitter_.release_bank(bank, done);
      in_psum = false;
    };
    if (kernel_.bias_op != kNoId) pass(kernel_.bias_op, Engine::kVector, Opcode::kTensorTensor);
    if (kernel_.activation_op != kNoId) {
      pass(kernel_.activation_op, Engine::kScalar, Opcode::kActivate);
    }
    if (kernel_.residual_op != kNoId) {
      done.merge(residual_);
      pass(kernel_.residual_op, Engine::kVector, Opcode::kTensorTensor);
    }
    return in_psum ? emitter_.evict(bank, elements, group) : done;
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Kernel& kernel_;
  LoadedWeight weight_;
  std::int64_t rows_ = 0;
  std::int64_t n_ = 0;
  std::int64_t k_ = 0;
  Deps operand_;
  Deps residual_;
};

}  // namespace

void lower_linear_narrow(LoweringContext& context, const Kernel& kernel) {
  NarrowLinear(context, kernel).run();
}

void lower_norm_narrow(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  const Op& op = context.graph.op(kernel.ops.front());
  const Shape& shape = context.graph.tensor(kernel.output).shape;
  const std::int64_t rows = row_count(shape);
  const std::int64_t columns = column_count(shape);
  const std::int64_t elements = emitter.blocks_of(columns) * rows;
  emitter.attribute_to(context.graph, kernel.ops.front());
  Deps x = narrow_operand(context, kernel.operands.front());
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
  emitter.attribute_to(context.graph, kernel.ops.front());
  for (const View& view : kernel.operands) deps.merge(narrow_operand(context, view));
  const bool binary = op.inputs.size() > 1;
  const bool function = is_activation(op.kind);
  const Engine engine = function ? Engine::kScalar : Engine::kVector;
  const Opcode opcode =
      function ? Opcode::kActivate : (binary ? Opcode::kTensorTensor : Opcode::kTensorScalar);
  const Deps done =
      emitter.lane(engine, {opcode, emitter.blocks_of(columns) * rows, kFromSbuf}, deps);
  set_narrow(&emitter.value(kernel.output), rows, columns, done);
}

}  // namespace foretell

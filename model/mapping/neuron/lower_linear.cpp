#include <algorithm>

#include "model/mapping/neuron/lowering.hpp"

namespace foretell {
namespace {

class LinearLowering {
 public:
  LinearLowering(LoweringContext& context, const Kernel& kernel)
      : context_(context),
        emitter_(context.emitter),
        kernel_(kernel),
        input_(require_feature_major(context, kernel.input)),
        output_(context.emitter.value(kernel.output)) {
    const Shape& shape = context.graph.tensor(kernel.output).shape;
    rows_ = row_count(shape);
    n_ = column_count(shape);
    k_ = column_count(context.graph.tensor(context.graph.op(kernel.matmul).inputs[0]).shape);
    first_block_ = kernel.input.first_column / emitter_.tile_rows();
    output_.rows = rows_;
    output_.columns = n_;
  }

  void run(const std::vector<Demand>& demands) {
    for (const Demand& demand : demands) {
      // A residual is added token by token; readers that want features transpose the sum.
      if (demand.feature_major && !demand.token_major && kernel_.residual_op == kNoId) {
        weights_stationary(demand);
      } else {
        tokens_stationary(demand);
      }
    }
  }

 private:
  std::int64_t tiles() const { return (rows_ + emitter_.tile_rows() - 1) / emitter_.tile_rows(); }
  std::int64_t k_blocks() const { return (k_ + emitter_.tile_rows() - 1) / emitter_.tile_rows(); }
  std::int64_t k_rows(std::int64_t block) const {
    return std::min(emitter_.tile_rows(), k_ - block * emitter_.tile_rows());
  }

  // Rows of the input are the tokens, except where the input is a slice of one token per sequence.
  Deps input_ready(std::int64_t block, std::int64_t first_tile, std::int64_t last_tile) const {
    Deps deps;
    const std::int64_t input_tiles = input_.tiles();
    if (input_.rows != rows_) {
      first_tile = 0;
      last_tile = input_tiles - 1;
    }
    // Heads that were rows of their own until here leave fewer columns: the last ones stand for
    // all.
    const std::int64_t at = std::min(first_block_ + block, input_.blocks() - 1);
    for (std::int64_t t = first_tile; t <= last_tile; ++t) deps.merge(input_.features(at, t));
    return deps;
  }

  // output^T: panels of weights stationary, up to 512 tokens moving, K accumulated in PSUM.
  void weights_stationary(const Demand& demand) {
    output_.feature_major.resize(static_cast<std::size_t>(output_.blocks() * tiles()));
    LoadedWeight weight;
    weight.panel_columns = emitter_.bank_columns();
    for (std::int64_t panel = 0; panel * emitter_.bank_columns() < demand.columns; ++panel) {
      emitter_.attribute_to(context_.graph, kernel_.matmul);
      context_.weights.load_panel(kernel_.weight, k_, demand.columns, panel, &weight);
      const std::int64_t end = std::min(demand.columns, (panel + 1) * emitter_.bank_columns());
      Deps last_use;
      for (std::int64_t column = panel * emitter_.bank_columns(); column < end;
           column += emitter_.tile_rows()) {
        const std::int64_t columns = std::min(emitter_.tile_rows(), end - column);
        for (std::int64_t token = 0; token < rows_; token += emitter_.bank_columns()) {
          last_use = stationary_group(weight, panel, columns, token,
                                      (demand.first_column + column) / emitter_.tile_rows());
        }
      }
      context_.weights.release_panel(weight, panel, last_use);
    }
  }

  Deps stationary_group(const LoadedWeight& weight, std::int64_t panel, std::int64_t columns,
                        std::int64_t token, std::int64_t block) {
    const std::int64_t tokens = std::min(emitter_.bank_columns(), rows_ - token);
    const std::int64_t first_tile = token / emitter_.tile_rows();
    const std::int64_t last_tile = (token + tokens - 1) / emitter_.tile_rows();
    const std::uint8_t bank = emitter_.acquire_bank();
    emitter_.attribute_to(context_.graph, kernel_.matmul);
    Deps group;
    for (std::int64_t kb = 0; kb < k_blocks(); ++kb) {
      Deps operands = weight.at(panel, kb);
      operands.merge(input_ready(kb, first_tile, last_tile));
      group = emitter_.matmul(bank, {k_rows(kb), columns, tokens}, operands, kb == 0,
                              kb + 1 == k_blocks());
    }
    Deps done;
    if (kernel_.activation_op != kNoId) {  // function(in + bias) in one pass of the Scalar engine
      emitter_.attribute_to(context_.graph, kernel_.activation_op);
      done = emitter_.lane(Engine::kScalar, {Opcode::kActivate, tokens, kReadsPsum | kWritesSbuf},
                           group);
      emitter_.release_bank(bank, done);
    } else {
      if (kernel_.bias_op != kNoId) emitter_.attribute_to(context_.graph, kernel_.bias_op);
      done = emitter_.evict(bank, tokens, group);
    }
    for (std::int64_t t = first_tile; t <= last_tile; ++t) {
      output_.feature_major[static_cast<std::size_t>(block * tiles() + t)] = done;
    }
    return group;
  }

  // output: a tile of tokens stationary, panels of up to 512 weight columns moving.
  void tokens_stationary(const Demand& demand) {
    output_.token_major.resize(static_cast<std::size_t>(tiles()));
    LoadedWeight weight;
    weight.panel_columns = emitter_.bank_columns();
    const std::int64_t panels =
        (demand.columns + emitter_.bank_columns() - 1) / emitter_.bank_columns();
    const double bytes = static_cast<double>(k_ * demand.columns) *
                         context_.weights.element_bytes_of(kernel_.weight);
    // Tile by tile while the whole weight fits the window; panel by panel when it must leave in
    // pieces to make room for the rest of itself.
    if (bytes <= emitter_.scheduling().prefetch_window.value()) {
      emitter_.attribute_to(context_.graph, kernel_.matmul);
      for (std::int64_t p = 0; p < panels; ++p)
        context_.weights.load_panel(kernel_.weight, k_, demand.columns, p, &weight);
      Deps last_use;
      for (std::int64_t t = 0; t < tiles(); ++t) {
        for (std::int64_t p = 0; p < panels; ++p) last_use = moving_group(demand, weight, p, t);
      }
      for (std::int64_t p = 0; p < panels; ++p) context_.weights.release_panel(weight, p, last_use);
      return;
    }
    for (std::int64_t p = 0; p < panels; ++p) {
      emitter_.attribute_to(context_.graph, kernel_.matmul);
      context_.weights.load_panel(kernel_.weight, k_, demand.columns, p, &weight);
      Deps last_use;
      for (std::int64_t t = 0; t < tiles(); ++t) last_use = moving_group(demand, weight, p, t);
      context_.weights.release_panel(weight, p, last_use);
    }
  }

  Deps moving_group(const Demand& demand, const LoadedWeight& weight, std::int64_t panel,
                    std::int64_t tile) {
    const std::int64_t columns =
        std::min(emitter_.bank_columns(), demand.columns - panel * emitter_.bank_columns());
    const std::int64_t rows = std::min(emitter_.tile_rows(), rows_ - tile * emitter_.tile_rows());
    const std::uint8_t bank = emitter_.acquire_bank();
    emitter_.attribute_to(context_.graph, kernel_.matmul);
    Deps group;
    for (std::int64_t kb = 0; kb < k_blocks(); ++kb) {
      Deps operands = weight.at(panel, kb);
      operands.merge(input_ready(kb, tile, tile));
      group = emitter_.matmul(bank, {k_rows(kb), rows, columns}, operands, kb == 0,
                              kb + 1 == k_blocks());
    }
    output_.token_major[static_cast<std::size_t>(tile)].merge(
        finish_moving(bank, columns, tile, group));
    return group;
  }

  // Eviction of a token-major group: bias along the free dimension, activation, residual.
  Deps finish_moving(std::uint8_t bank, std::int64_t columns, std::int64_t tile, Deps done) {
    bool in_psum = true;
    const auto pass = [&](OpId op, Engine engine, Opcode opcode, const Deps& also) {
      emitter_.attribute_to(context_.graph, op);
      Deps deps = done;
      deps.merge(also);
      const auto flags = static_cast<std::uint16_t>((in_psum ? kReadsPsum : 0) | kReadsSbuf |
                                                    kWritesSbuf | kAddMulSub);
      done = emitter_.lane(engine, {opcode, columns, flags}, deps);
      if (in_psum) emitter_.release_bank(bank, done);
      in_psum = false;
    };
    if (kernel_.bias_op != kNoId) pass(kernel_.bias_op, Engine::kVector, Opcode::kTensorTensor, {});
    if (kernel_.activation_op != kNoId)
      pass(kernel_.activation_op, Engine::kScalar, Opcode::kActivate, {});
    if (kernel_.residual_op != kNoId) {
      const Value& residual = require_token_major(context_, kernel_.residual);
      pass(kernel_.residual_op, Engine::kVector, Opcode::kTensorTensor, residual.tokens(tile));
    }
    if (in_psum) done = emitter_.evict(bank, columns, done);
    return done;
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Kernel& kernel_;
  const Value& input_;
  Value& output_;
  std::int64_t rows_ = 0;
  std::int64_t n_ = 0;
  std::int64_t k_ = 0;
  std::int64_t first_block_ = 0;
};

}  // namespace

void lower_linear(LoweringContext& context, const Kernel& kernel,
                  const std::vector<Demand>& demands) {
  context.emitter.attribute_to(context.graph, kernel.matmul);
  LinearLowering(context, kernel).run(demands);
}

}  // namespace foretell

// Normalisation of every head of the queries or keys by itself ([batch, heads, length, head_dim],
// or the heads after the tokens).
//
// The rotation after it wants features on the partitions, so it is done there: the sum over the
// columns of a head crosses the partitions through the tensor engine, by a stationary matrix with a
// block of ones for each head, and comes out on all of its partitions. gamma is one number per
// partition and is multiplied in the same pass as the reciprocal root.
#include <algorithm>

#include "model/mapping/neuron/lowering.hpp"

namespace foretell {
namespace {

class HeadNorm {
 public:
  HeadNorm(LoweringContext& context, const Kernel& kernel)
      : emitter_(context.emitter),
        centred_(context.graph.op(kernel.ops.front()).kind == "LayerNorm"),
        input_(require_feature_major(context, kernel.operands.front())),
        output_(context.emitter.value(kernel.output)),
        first_block_(kernel.operands.front().first_column / emitter_.tile_rows()) {
    const Shape& shape = context.graph.tensor(kernel.output).shape;
    // Recurrences leave the heads after the tokens, [batch, length, heads, head_dim].
    const bool heads_first = shape[0] * shape[2] == input_.rows;
    output_.rows = shape[0] * (heads_first ? shape[2] : shape[1]);
    output_.columns = element_count(shape) / output_.rows;
    parts_ = emitter_.blocks_of(shape[3]);
    contraction_ = std::min(emitter_.tile_rows(), output_.columns);
    emitter_.attribute_to(context.graph, kernel.ops.front());
  }

  void run() { output_.rows <= emitter_.narrow_rows() ? few_tokens() : many_tokens(); }

 private:
  // Whole heads that share the 128 partitions.
  std::int64_t groups() const { return output_.blocks() / parts_; }

  // All groups side by side, as many as fit a PSUM bank.
  void few_tokens() {
    Deps source;
    for (const Deps& block : input_.feature_major) source.merge(block);
    const std::int64_t elements = groups() * output_.rows;
    Deps all;
    for (std::int64_t first = 0; first < elements; first += emitter_.bank_columns()) {
      all.merge(normalise(std::min(emitter_.bank_columns(), elements - first), source));
    }
    set_narrow(&output_, output_.rows, output_.columns, all);
  }

  void many_tokens() {
    output_.feature_major.resize(static_cast<std::size_t>(output_.blocks() * output_.tiles()));
    for (std::int64_t group = 0; group < groups(); ++group) {
      for (std::int64_t row = 0; row < output_.rows; row += emitter_.bank_columns()) {
        normalise_rows(group, row, std::min(emitter_.bank_columns(), output_.rows - row));
      }
    }
  }

  void normalise_rows(std::int64_t group, std::int64_t row, std::int64_t rows) {
    const std::int64_t first_tile = row / emitter_.tile_rows();
    const std::int64_t last_tile = (row + rows - 1) / emitter_.tile_rows();
    const auto place = [&](std::int64_t block, std::int64_t tile, std::int64_t tiles) {
      return static_cast<std::size_t>(block * tiles + tile);
    };
    Deps source;
    for (std::int64_t part = 0; part < parts_; ++part) {
      const std::int64_t block = first_block_ + group * parts_ + part;
      for (std::int64_t t = first_tile; t <= last_tile; ++t)
        source.merge(input_.feature_major[place(block, t, input_.tiles())]);
    }
    const Deps done = normalise(rows, source);
    for (std::int64_t part = 0; part < parts_; ++part) {
      for (std::int64_t t = first_tile; t <= last_tile; ++t)
        output_.feature_major[place(group * parts_ + part, t, output_.tiles())] = done;
    }
  }

  // `n` columns of one group: its heads, in `parts_` blocks of 128 features where a head has more
  // of them.
  Deps normalise(std::int64_t n, const Deps& source) {
    Deps x = source;
    if (centred_) {
      const std::uint8_t bank = emitter_.acquire_bank();
      x = lane(Engine::kVector, Opcode::kTensorTensor, n, kFromPsum, sum_of_heads(bank, n, x));
      emitter_.release_bank(bank, x);
    }
    const Deps squares = lane(Engine::kScalar, Opcode::kActivate, n, kFromSbuf, x);
    const std::uint8_t bank = emitter_.acquire_bank();
    const Deps rstd =
        emitter_.lane(Engine::kScalar, {Opcode::kRsqrt, n, kReadsPsum | kWritesSbuf, contraction_},
                      sum_of_heads(bank, n, squares));
    emitter_.release_bank(bank, rstd);
    Deps done = lane(Engine::kVector, Opcode::kScalarTensorTensor, n, kFromSbuf, rstd);
    if (centred_) done = lane(Engine::kVector, Opcode::kTensorScalar, n, kFromSbuf, done);
    return done;
  }

  Deps sum_of_heads(std::uint8_t bank, std::int64_t n, const Deps& source) {
    Deps sum;
    for (std::int64_t part = 0; part < parts_; ++part) {
      sum = emitter_.matmul(bank, {contraction_, contraction_, n}, source, part == 0,
                            part + 1 == parts_);
    }
    return sum;
  }

  // The same instruction on every part.
  Deps lane(Engine engine, Opcode opcode, std::int64_t n, std::uint16_t flags, const Deps& deps) {
    Deps all;
    for (std::int64_t part = 0; part < parts_; ++part)
      all.merge(emitter_.lane(engine, {opcode, n, flags, contraction_}, deps));
    return all;
  }

  Emitter& emitter_;
  bool centred_;
  const Value& input_;
  Value& output_;
  std::int64_t first_block_;
  std::int64_t parts_ = 1;        // blocks of 128 features of a head
  std::int64_t contraction_ = 0;  // partitions in use
};

}  // namespace

void lower_head_norm(LoweringContext& context, const Kernel& kernel) {
  HeadNorm(context, kernel).run();
}

}  // namespace foretell

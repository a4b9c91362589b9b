// Operators outside the patterns that networks spend their time in: element by element over all
// partitions, along an axis, moved by DMA, or a product of two activations.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/mapping/neuron/lowering.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

class GeneralLowering {
 public:
  GeneralLowering(LoweringContext& context, const Kernel& kernel)
      : context_(context),
        emitter_(context.emitter),
        graph_(context.graph),
        kernel_(kernel),
        op_(context.graph.op(kernel.ops.front())) {}

  void run() {
    if (joins_columns()) return join();
    Deps ready;
    for (const View& view : kernel_.operands) {
      for (const Deps& deps : require_token_major(context_, view).token_major) ready.merge(deps);
    }
    emitter_.attribute_to(graph_, kernel_.ops.front());
    const Deps done = lower(ready);
    if (op_.kind == "Update") return;  // the weights are in HBM again and not read here
    for (const TensorId id : op_.outputs) {
      Value& value = emitter_.value(id);
      value.rows = row_count(graph_.tensor(id).shape);
      value.columns = column_count(graph_.tensor(id).shape);
      value.token_major.assign(static_cast<std::size_t>(value.tiles()), done);
    }
  }

 private:
  // Columns that come side by side are written where they belong: nothing moves.
  bool joins_columns() const {
    if (op_.kind != "Concat" || kernel_.operands.size() != op_.inputs.size()) return false;
    const auto axis = integer_of(op_, "axis");
    const auto rank = static_cast<std::int64_t>(graph_.tensor(kernel_.output).shape.size());
    return axis == -1 || axis == rank - 1;
  }

  void join() {
    Value joined = emitter_.new_value();
    joined.rows = row_count(graph_.tensor(kernel_.output).shape);
    joined.columns = column_count(graph_.tensor(kernel_.output).shape);
    joined.token_major.resize(static_cast<std::size_t>(joined.tiles()));
    for (const View& view : kernel_.operands) {
      const std::vector<Deps>& part = require_token_major(context_, view).token_major;
      for (std::size_t t = 0; t < joined.token_major.size(); ++t)
        joined.token_major[t].merge(part[std::min(t, part.size() - 1)]);
    }
    emitter_.value(kernel_.output) = std::move(joined);
  }

  Deps lower(const Deps& ready) {
    if (op_.kind == "MatMul") return product(ready);
    if (op_.kind == "Update") return update(ready);
    if (op_.kind == "Gradient") return gradient(ready);
    if (op_.kind == "Move" || op_.kind == "Concat" || op_.kind == "Pad") return move(ready);
    if (op_.kind == "CausalMask") return passes(Engine::kVector, Opcode::kTensorScalar, ready);
    if (op_.kind == "AlongAxis" || op_.kind == "Softmax") {  // largest or sum, function, scaling
      Deps done = passes(Engine::kVector, Opcode::kTensorReduce, ready);
      done = passes(Engine::kScalar, Opcode::kActivate, done);
      return passes(Engine::kVector, Opcode::kTensorScalar, done);
    }
    if (op_.kind != "Elementwise") return passes(Engine::kVector, Opcode::kTensorReduce, ready);
    if (op_.inputs.size() == 1) return passes(Engine::kScalar, Opcode::kActivate, ready);
    Deps done = ready;
    for (std::size_t i = 1; i < op_.inputs.size(); ++i)
      done = passes(Engine::kVector, Opcode::kTensorTensor, done);
    return done;
  }

  // Over the largest operand or the result, spread evenly over the partitions.
  Deps passes(Engine engine, Opcode opcode, const Deps& ready) {
    std::int64_t elements = element_count(graph_.tensor(kernel_.output).shape);
    for (const TensorId input : op_.inputs)
      elements = std::max(elements, element_count(graph_.tensor(input).shape));
    const std::int64_t per_partition = (elements + emitter_.tile_rows() - 1) / emitter_.tile_rows();
    Deps done;
    for (std::int64_t first = 0; first < per_partition; first += emitter_.free_elements()) {
      const std::int64_t n = std::min(emitter_.free_elements(), per_partition - first);
      done = emitter_.lane(engine, {opcode, n, kReadsSbuf | kWritesSbuf}, ready);
    }
    return done;
  }

  // Weights and states stream through SBUF and back; two flops per element and pass.
  Deps update(const Deps& ready) {
    const auto weights = static_cast<std::size_t>(integer_of(op_, "weights"));
    double bytes = 0;
    double elements = 0;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
      const Tensor& tensor = graph_.tensor(op_.inputs[i]);
      if (i < weights) elements += static_cast<double>(element_count(tensor.shape));
      if (i < weights || i >= 2 * weights) bytes += tensor.bytes().value();
    }
    emitter_.value(kernel_.output) = emitter_.new_value();
    const auto row_bytes = static_cast<std::int64_t>(emitter_.stream_row());
    const auto rows = static_cast<std::int64_t>(std::ceil(bytes / emitter_.stream_row()));
    const Deps loaded =
        emitter_.transfer(Ring::kReload, TransferDirection::kLoad, rows, row_bytes, ready);
    const Deps done = vector_passes(static_cast<std::int64_t>(elements),
                                    graph_.flops(kernel_.ops.front()).value() / elements, loaded);
    return emitter_.transfer(Ring::kSpill, TransferDirection::kStore, rows, row_bytes, done);
  }

  // Gradients of a table go back row by row, wherever their rows are.
  Deps gradient(const Deps& ready) {
    const std::string& of = text_of(op_, "of");
    if (of == "Move") return move(ready);
    std::int64_t elements = element_count(graph_.tensor(kernel_.output).shape);
    if (of != "Gather") {
      for (const TensorId input : op_.inputs)
        elements = std::max(elements, element_count(graph_.tensor(input).shape));
      return vector_passes(
          elements, graph_.flops(kernel_.ops.front()).value() / static_cast<double>(elements),
          ready);
    }
    const Tensor& rows = graph_.tensor(op_.inputs.front());
    const auto row_bytes = static_cast<std::int64_t>(static_cast<double>(column_count(rows.shape)) *
                                                     size_of(rows.dtype).value());
    return emitter_.transfer(Ring::kReload, TransferDirection::kLoad, row_count(rows.shape),
                             row_bytes, ready);
  }

  // Over all partitions; the engine multiplies and adds in one pass.
  Deps vector_passes(std::int64_t elements, double flops_per_element, const Deps& ready) {
    const auto passes = static_cast<int>(std::max(1.0, std::round(flops_per_element / 2)));
    const std::int64_t per_partition = (elements + emitter_.tile_rows() - 1) / emitter_.tile_rows();
    Deps done;
    for (std::int64_t first = 0; first < per_partition; first += emitter_.free_elements()) {
      const std::int64_t n = std::min(emitter_.free_elements(), per_partition - first);
      Deps part = ready;
      for (int pass = 0; pass < passes; ++pass) {
        part = emitter_.lane(Engine::kVector, {Opcode::kTensorTensor, n, kReadsSbuf | kWritesSbuf},
                             part);
      }
      done.merge(part);
    }
    return done;
  }

  // Row by row of the result, wherever they come from; what is scattered, as it lies before.
  Deps move(const Deps& ready) {
    const bool scatters = op_.kind == "Move" && text_of(op_, "function") == "Scatter";
    const Tensor& tensor = graph_.tensor(scatters ? op_.inputs.front() : kernel_.output);
    const auto row_bytes = static_cast<std::int64_t>(
        static_cast<double>(column_count(tensor.shape)) * size_of(tensor.dtype).value());
    return emitter_.transfer(Ring::kReload, TransferDirection::kLoad, row_count(tensor.shape),
                             row_bytes, ready);
  }

  // The left operand through the tensor engine once more, so that both have the contraction on
  // the partitions.
  Deps product(const Deps& ready) {
    const Shape& left = graph_.tensor(op_.inputs[0]).shape;
    const Shape& result = graph_.tensor(kernel_.output).shape;
    const std::int64_t k = left.back();
    const std::int64_t n = result.back();
    const std::int64_t m = result[result.size() - 2];
    const std::int64_t batch = element_count(result) / (m * n);
    Deps done;
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t row = 0; row < m; row += emitter_.tile_rows()) {
        const std::int64_t rows = std::min(emitter_.tile_rows(), m - row);
        for (std::int64_t column = 0; column < n; column += emitter_.bank_columns()) {
          const bool turns = column == 0 && !is_turned(op_.inputs[0]);
          done = tile(rows, std::min(emitter_.bank_columns(), n - column), k, turns, ready);
        }
      }
    }
    return done;
  }

  // Seen through a transposition: its contraction is on the partitions already.
  bool is_turned(TensorId id) const {
    const OpId producer = graph_.tensor(id).producer;
    return producer != kNoId && graph_.op(producer).kind == "Transpose" &&
           graph_.tensor(id).shape.size() == 2;
  }

  Deps tile(std::int64_t rows, std::int64_t columns, std::int64_t k, bool transposes,
            const Deps& ready) {
    Deps operand = ready;
    for (std::int64_t at = 0; transposes && at < k; at += emitter_.tile_rows()) {
      const std::uint8_t bank = emitter_.acquire_bank();
      const Deps turned =
          emitter_.transpose(bank, rows, std::min(emitter_.tile_rows(), k - at), ready);
      operand.merge(emitter_.evict(bank, rows, turned));
    }
    const std::uint8_t bank = emitter_.acquire_bank();
    Deps group;
    for (std::int64_t at = 0; at < k; at += emitter_.tile_rows()) {
      group = emitter_.matmul(bank, {std::min(emitter_.tile_rows(), k - at), rows, columns},
                              operand, at == 0, at + emitter_.tile_rows() >= k);
    }
    return emitter_.evict(bank, columns, group);
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Graph& graph_;
  const Kernel& kernel_;
  const Op& op_;
};

}  // namespace

void lower_general(LoweringContext& context, const Kernel& kernel) {
  GeneralLowering(context, kernel).run();
}

}  // namespace foretell

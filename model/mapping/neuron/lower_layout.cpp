// Transposition between the two layouts of an activation, and what enters or leaves the core.
#include <algorithm>

#include "model/base/errors.hpp"
#include "model/mapping/neuron/image.hpp"
#include "model/mapping/neuron/lowering.hpp"

namespace foretell {
namespace {

// A tensor that no operator computes: an input of the graph. It arrives by DMA, row by row.
void load_input(LoweringContext& context, TensorId id) {
  const Tensor& tensor = context.graph.tensor(id);
  FORETELL_CHECK(tensor.producer == kNoId,
                 "activation '" + tensor.name + "' has not been computed");
  Emitter& emitter = context.emitter;
  Value& value = emitter.value(id);
  value.rows = row_count(tensor.shape);
  value.columns = column_count(tensor.shape);
  const auto row_bytes =
      static_cast<std::int64_t>(static_cast<double>(value.columns) * size_of(tensor.dtype).value());
  for (std::int64_t t = 0; t < value.tiles(); ++t) {
    const std::int64_t rows = std::min(emitter.tile_rows(), value.rows - t * emitter.tile_rows());
    value.token_major.push_back(
        emitter.transfer(Ring::kInputs, TransferDirection::kLoad, rows, row_bytes, {}));
  }
}

// 128x128 blocks through the tensor engine, 4 to a PSUM bank, evicted together.
void transpose_tile(Emitter& emitter, std::int64_t rows, std::int64_t columns, const Deps& source,
                    std::vector<Deps>* blocks) {
  const std::int64_t per_bank = emitter.bank_columns() / emitter.tile_rows();
  const std::int64_t block_count = (columns + emitter.tile_rows() - 1) / emitter.tile_rows();
  for (std::int64_t first = 0; first < block_count; first += per_bank) {
    const std::int64_t count = std::min(per_bank, block_count - first);
    const std::uint8_t bank = emitter.acquire_bank();
    Deps group;
    for (std::int64_t b = 0; b < count; ++b)
      group = emitter.transpose(bank, rows, emitter.tile_rows(), source);
    const Deps done = emitter.evict(bank, count * rows, group);
    blocks->insert(blocks->end(), static_cast<std::size_t>(count), done);
  }
}

void transpose_to_feature_major(Emitter& emitter, Value* value) {
  const std::int64_t tiles = value->tiles();
  value->feature_major.resize(static_cast<std::size_t>(value->blocks() * tiles));
  for (std::int64_t t = 0; t < tiles; ++t) {
    std::vector<Deps> blocks;
    const std::int64_t rows = std::min(emitter.tile_rows(), value->rows - t * emitter.tile_rows());
    transpose_tile(emitter, rows, value->columns, value->token_major[static_cast<std::size_t>(t)],
                   &blocks);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      value->feature_major[b * static_cast<std::size_t>(tiles) + static_cast<std::size_t>(t)] =
          blocks[b];
    }
  }
}

void transpose_to_token_major(Emitter& emitter, Value* value) {
  const std::int64_t tiles = value->tiles();
  for (std::int64_t t = 0; t < tiles; ++t) {
    Deps source;
    for (std::int64_t b = 0; b < value->blocks(); ++b) {
      source.merge(value->feature_major[static_cast<std::size_t>(b * tiles + t)]);
    }
    std::vector<Deps> blocks;
    transpose_tile(emitter, emitter.tile_rows(), value->columns, source, &blocks);
    Deps all;
    for (const Deps& block : blocks) all.merge(block);
    value->token_major.push_back(all);
  }
}

}  // namespace

Value& require_feature_major(LoweringContext& context, const View& view) {
  Emitter& emitter = context.emitter;
  if (!emitter.has_value(view.tensor)) load_input(context, view.tensor);
  Value& value = emitter.value(view.tensor);
  if (value.feature_major.empty()) {
    context.residency.use(view.tensor, Layout::kTokenMajor);
    transpose_to_feature_major(emitter, &value);
  }
  context.residency.use(view.tensor, Layout::kFeatureMajor);
  return value;
}

Value& require_token_major(LoweringContext& context, const View& view) {
  Emitter& emitter = context.emitter;
  if (!emitter.has_value(view.tensor)) load_input(context, view.tensor);
  Value& value = emitter.value(view.tensor);
  if (value.token_major.empty()) {
    context.residency.use(view.tensor, Layout::kFeatureMajor);
    transpose_to_token_major(emitter, &value);
  }
  context.residency.use(view.tensor, Layout::kTokenMajor);
  return value;
}

void lower_output(LoweringContext& context, TensorId output) {
  if (is_image(context.graph, output)) return lower_image_output(context, output);
  const View view = resolve_view(context.graph, output);
  const Value& value = require_token_major(context, view);
  const Tensor& tensor = context.graph.tensor(output);
  const auto bytes = static_cast<std::int64_t>(tensor.bytes().value());
  const std::int64_t rows = row_count(tensor.shape);
  for (std::int64_t first = 0; first < rows; first += context.emitter.tile_rows()) {
    const std::int64_t count = std::min(context.emitter.tile_rows(), rows - first);
    const auto tile = static_cast<std::size_t>(first / context.emitter.tile_rows());
    const Deps& ready = value.token_major[std::min(tile, value.token_major.size() - 1)];
    context.emitter.transfer(Ring::kOutputs, TransferDirection::kStore, count, bytes / rows, ready);
  }
}

}  // namespace foretell

#include "model/mapping/neuron/weights.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {

double WeightStream::element_bytes_of(TensorId weight) const {
  return size_of(graph_.tensor(weight).dtype).value();
}

bool WeightStream::is_converted(TensorId weight) const {
  const DType stored = graph_.tensor(weight).dtype;
  const bool mixed = emitter_.core().tensor.mixes_fp8 && stored == DType::kFp8;
  return !mixed && size_of(stored) < size_of(emitter_.types().operand);
}

std::int64_t WeightStream::panel_columns(TensorId weight, std::int64_t k, std::int64_t n) const {
  const std::int64_t blocks = (k + emitter_.tile_rows() - 1) / emitter_.tile_rows();
  const double block_row =
      static_cast<double>(blocks * emitter_.tile_rows()) * element_bytes_of(weight);
  const auto column_blocks =
      static_cast<std::int64_t>(std::ceil(emitter_.stream_row() / block_row));
  return emitter_.tile_rows() *
         std::clamp<std::int64_t>(column_blocks, 1,
                                  (n + emitter_.tile_rows() - 1) / emitter_.tile_rows());
}

void WeightStream::load_panel(TensorId weight, std::int64_t k, std::int64_t n, std::int64_t panel,
                              LoadedWeight* loaded) {
  const auto index = static_cast<std::size_t>(panel);
  const auto kept = kept_.find(weight);
  if (kept != kept_.end() && kept->second.panel_columns == loaded->panel_columns &&
      index < kept->second.ready.size()) {
    loaded->ready.push_back(kept->second.ready[index]);
    loaded->chunks.emplace_back();
    return;
  }
  const std::int64_t columns = std::min(loaded->panel_columns, n - panel * loaded->panel_columns);
  const std::int64_t blocks = (k + emitter_.tile_rows() - 1) / emitter_.tile_rows();
  const double row_bytes = static_cast<double>(blocks * columns) * element_bytes_of(weight);
  // Even chunks: a short remainder would cost a whole descriptor time per row.
  const auto chunk_count =
      std::max<std::int64_t>(1, std::llround(row_bytes / emitter_.stream_row()));
  const std::int64_t blocks_per_chunk = (blocks + chunk_count - 1) / chunk_count;
  loaded->blocks_per_chunk = blocks_per_chunk;
  std::vector<Deps> ready;
  std::vector<std::size_t> chunks;
  for (std::int64_t first = 0; first < blocks; first += blocks_per_chunk) {
    const std::int64_t count = std::min(blocks_per_chunk, blocks - first);
    // A last block of fewer rows makes all rows of its chunk shorter instead of some of them.
    const std::int64_t k_rows =
        std::min(count * emitter_.tile_rows(), k - first * emitter_.tile_rows());
    const std::int64_t rows = std::min(emitter_.tile_rows(), k_rows);
    const Deps done = load_weights(weight, rows, (k_rows * columns + rows - 1) / rows, &chunks);
    ready.insert(ready.end(), static_cast<std::size_t>(count), done);
  }
  loaded->ready.push_back(ready);
  if (resident_.count(weight) != 0) {
    // It stays: its chunks count as released at once, the window is for weights that come and go.
    loaded->chunks.push_back(chunks);
    release_panel(*loaded, panel, {});
    loaded->chunks.pop_back();
    chunks.clear();
    LoadedWeight& keep = kept_[weight];
    keep.panel_columns = loaded->panel_columns;
    keep.ready.push_back(std::move(ready));
  }
  loaded->chunks.push_back(std::move(chunks));
}

Deps WeightStream::room_for(double bytes) const {
  const double total = (chunks_.empty() ? 0 : chunks_.back().end) + bytes;
  const double must_leave = total - emitter_.scheduling().prefetch_window.value();
  if (must_leave <= 0 || released_prefix_ == 0) return {};
  const auto begin = chunks_.begin();
  const auto known = begin + static_cast<std::ptrdiff_t>(released_prefix_);
  auto chunk = std::lower_bound(begin, known, must_leave,
                                [](const Chunk& c, double value) { return c.end < value; });
  if (chunk == known)
    --chunk;  // the running operator needs more than the window: it takes what it needs
  return chunk->last_use;
}

Deps WeightStream::load_once(std::int64_t rows, std::int64_t row_bytes,
                             std::vector<std::size_t>* chunks) {
  const double bytes = static_cast<double>(rows * row_bytes);
  Deps deps = room_for(bytes);
  deps.merge(not_before_);
  const Deps done =
      emitter_.transfer(Ring::kWeights, TransferDirection::kLoad, rows, row_bytes, deps);
  chunks->push_back(chunks_.size());
  chunks_.push_back({(chunks_.empty() ? 0 : chunks_.back().end) + bytes, {}, {}, false});
  return done;
}

Deps WeightStream::load_weights(TensorId weight, std::int64_t rows, std::int64_t elements_per_row,
                                std::vector<std::size_t>* chunks) {
  const double row_bytes = static_cast<double>(elements_per_row) * element_bytes_of(weight);
  const Deps done = load_once(rows, std::llround(row_bytes), chunks);
  if (!is_converted(weight)) return done;
  // Two one-byte elements per lane and cycle: half a pass of the Vector engine. Of four bits,
  // shifts and masks give two elements for each byte.
  const std::int64_t n = std::max<std::int64_t>(1, elements_per_row / 2);
  return emitter_.lane(Engine::kVector, {Opcode::kTensorCopy, n}, done);
}

void WeightStream::release(const std::vector<std::size_t>& chunks, const Deps& last_use) {
  for (const std::size_t chunk : chunks) {
    chunks_[chunk].own_use = chunks_[chunk].last_use = last_use;
    chunks_[chunk].released = true;
  }
  while (released_prefix_ < chunks_.size() && chunks_[released_prefix_].released) {
    if (released_prefix_ > 0) {
      chunks_[released_prefix_].last_use.merge(chunks_[released_prefix_ - 1].last_use);
    }
    ++released_prefix_;
  }
}

std::vector<QueueLengths> WeightStream::kept_until() const {
  std::vector<QueueLengths> until(chunks_.size());
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    for (int queue = 0; queue < kEngineCount; ++queue)
      until[c][static_cast<std::size_t>(queue)] = chunks_[c].own_use.count(queue);
  }
  return until;
}

void WeightStream::release_block(const LoadedWeight& loaded, std::int64_t panel, std::int64_t block,
                                 std::int64_t blocks, const Deps& last_use) {
  const std::vector<std::size_t>& chunks = loaded.chunks[static_cast<std::size_t>(panel)];
  const bool last_of_chunk = (block + 1) % loaded.blocks_per_chunk == 0 || block + 1 == blocks;
  if (chunks.empty() || !last_of_chunk) return;
  release({chunks[static_cast<std::size_t>(block / loaded.blocks_per_chunk)]}, last_use);
}

void WeightStream::release_panel(const LoadedWeight& loaded, std::int64_t panel,
                                 const Deps& last_use) {
  release(loaded.chunks[static_cast<std::size_t>(panel)], last_use);
}

}  // namespace foretell

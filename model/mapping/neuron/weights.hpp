// Weights of matmuls on their way from HBM to SBUF.
//
// Weights stream in program order through one DMA ring, chunk by chunk. A chunk may be loaded when
// the bytes that are in SBUF and not yet released stay within the prefetch window; a chunk is
// released by its last use. A weight that several operators share stays in SBUF.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "model/mapping/neuron/emitter.hpp"
#include "model/program/occupant.hpp"

namespace foretell {

// A weight [K, N] in SBUF: K in blocks of 128 rows on the partitions, N in panels of columns.
struct LoadedWeight {
  std::int64_t panel_columns = 0;
  std::vector<std::vector<Deps>> ready;          // [panel][block of K]
  std::vector<std::vector<std::size_t>> chunks;  // [panel]: chunks it came in
  std::int64_t blocks_per_chunk = 1;             // blocks of K in a chunk

  const Deps& at(std::int64_t panel, std::int64_t k_block) const {
    return ready[static_cast<std::size_t>(panel)][static_cast<std::size_t>(k_block)];
  }
};

class WeightStream {
 public:
  // `resident`: weights to keep in SBUF after their first load.
  WeightStream(Emitter& emitter, const Graph& graph, std::set<TensorId> resident)
      : emitter_(emitter), graph_(graph), resident_(std::move(resident)) {}

  // Emits the load of the next panel of `weight` [k, n] unless it is in SBUF already.
  void load_panel(TensorId weight, std::int64_t k, std::int64_t n, std::int64_t panel,
                  LoadedWeight* loaded);
  // Emits the load of other data that is read once, in the same stream: `rows` of `row_bytes`.
  // Appends to `chunks` what release() gives back.
  Deps load_once(std::int64_t rows, std::int64_t row_bytes, std::vector<std::size_t>* chunks);
  // Loads that follow begin when `deps` are met: which data it is was not known before.
  void wait_for(const Deps& deps) { not_before_ = deps; }
  void release(const std::vector<std::size_t>& chunks, const Deps& last_use);
  // Columns of a panel, in whole blocks of 128, whose rows are long enough for the DMA engines.
  std::int64_t panel_columns(TensorId weight, std::int64_t k, std::int64_t n) const;
  // Of an element as it is stored.
  double element_bytes_of(TensorId weight) const;
  // The block of the panel just loaded is not needed after `last_use`; blocks are used in order and
  // a chunk leaves with its last one, of `blocks` in all.
  void release_block(const LoadedWeight& loaded, std::int64_t panel, std::int64_t block,
                     std::int64_t blocks, const Deps& last_use);
  // The chunks of the panel are not needed after `last_use`.
  void release_panel(const LoadedWeight& loaded, std::int64_t panel, const Deps& last_use);
  // See Occupancy::weights_until.
  std::vector<QueueLengths> kept_until() const;

 private:
  struct Chunk {
    double end = 0;  // bytes of all chunks up to and including this one
    Deps own_use;    // of this chunk alone
    Deps last_use;   // of this chunk and of all before it, once the prefix is released
    bool released = false;
  };
  Deps room_for(double bytes) const;
  Deps load_weights(TensorId weight, std::int64_t rows, std::int64_t elements_per_row,
                    std::vector<std::size_t>* chunks);
  // Whether it is stored narrower than it is multiplied.
  bool is_converted(TensorId weight) const;

  Emitter& emitter_;
  const Graph& graph_;
  std::set<TensorId> resident_;
  std::map<TensorId, LoadedWeight> kept_;
  std::vector<Chunk> chunks_;
  Deps not_before_;
  std::size_t released_prefix_ = 0;
};

}  // namespace foretell

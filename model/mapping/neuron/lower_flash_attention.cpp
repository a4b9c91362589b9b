// Attention over long prompts and large images as the vendor's kernels run it: tile by tile of
// keys, with a running maximum and sum, so that scores never leave the core.
//
// What follows is the published form for prompts (NKIFA): a tile of queries stays stationary, keys
// pass in tiles of core.scheduling.flash_attention_keys in pieces of a bank of PSUM, and pieces
// that a causal mask hides as a whole are left out. Copies out of PSUM are shared between Vector
// and Scalar. The kernel for the self-attention of image generators (NKISD) differs in that all
// keys are one tile; the engines do the same. As in the vendor's form with its own allocation
// (NKIALLOC), the scores of the next tile are made while the exponentials of this one are: Vector
// looks for maxima while Scalar works, in place of waiting for it.
#include <algorithm>
#include <vector>

#include "model/mapping/neuron/lowering.hpp"

namespace foretell {
namespace {

class FlashAttention {
 public:
  FlashAttention(LoweringContext& context, const Kernel& kernel)
      : context_(context),
        emitter_(context.emitter),
        k_(kernel),
        query_(require_feature_major(context, kernel.query)),
        key_(require_feature_major(context, kernel.key)),
        value_(require_token_major(context, kernel.value)),
        output_(context.emitter.value(kernel.output)) {
    output_.rows = kernel.batch * kernel.queries;
    output_.columns = kernel.heads * kernel.head_dim;
    output_.token_major.resize(static_cast<std::size_t>(output_.tiles()));
  }

  void run() {
    // Scores of two tiles, and what is left of one as the operand of the product with the values.
    const int element = 2 * emitter_.vector_bytes() + element_bytes(emitter_.types().matmul);
    context_.residency.need_scratch(static_cast<double>(keys_of_a_tile() * element) *
                                    static_cast<double>(emitter_.tile_rows()));
    for (std::int64_t sequence = 0; sequence < k_.batch; ++sequence) {
      for (std::int64_t head = 0; head < k_.heads; ++head) run_head(sequence, head);
    }
  }

 private:
  struct Queries {
    std::int64_t sequence = 0;
    std::int64_t head = 0;
    std::int64_t first = 0;
    std::int64_t rows = 0;
  };
  struct Keys {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t end() const { return first + count; }
  };

  std::int64_t keys_of_a_tile() const {
    return std::max<std::int64_t>(emitter_.core().scheduling.flash_attention_keys,
                                  emitter_.bank_columns());
  }
  // The keys that at least one of the queries sees, in whole pieces of a bank.
  Keys seen(const Queries& queries) const {
    if (!k_.is_causal) return {0, k_.keys};
    const std::int64_t piece = emitter_.bank_columns();
    const std::int64_t first_query = k_.causal_offset + queries.first;
    const std::int64_t hidden = k_.window == 0 ? 0 : first_query + 1 - k_.window;
    const std::int64_t last = std::clamp<std::int64_t>(first_query + queries.rows, 1, k_.keys);
    const std::int64_t first = std::clamp<std::int64_t>(hidden, 0, last - 1) / piece * piece;
    return {first, std::min(k_.keys, (last + piece - 1) / piece * piece) - first};
  }
  // Does any of the queries not see any of the keys?
  bool is_masked(const Queries& queries, const Keys& keys) const {
    if (!k_.is_causal) return false;
    const std::int64_t first_query = k_.causal_offset + queries.first;
    const std::int64_t last_query = first_query + queries.rows - 1;
    return keys.end() - 1 > first_query || (k_.window > 0 && keys.first <= last_query - k_.window);
  }

  // Queries and keys that meet at once.
  struct Tile {
    Queries queries;
    Keys keys;
    bool is_first = false;  // of its queries
    bool is_last = false;
  };

  std::vector<Tile> tiles_of(std::int64_t sequence, std::int64_t head) const {
    std::vector<Tile> tiles;
    for (std::int64_t first = 0; first < k_.queries; first += emitter_.tile_rows()) {
      const Queries queries{sequence, head, first,
                            std::min(emitter_.tile_rows(), k_.queries - first)};
      const Keys all = seen(queries);
      for (std::int64_t key = all.first; key < all.end(); key += keys_of_a_tile()) {
        const Keys keys{key, std::min(keys_of_a_tile(), all.end() - key)};
        tiles.push_back({queries, keys, key == all.first, keys.end() >= all.end()});
      }
    }
    return tiles;
  }

  void run_head(std::int64_t sequence, std::int64_t head) {
    const std::vector<Tile> tiles = tiles_of(sequence, head);
    Deps maximum = scores(tiles.front().queries, tiles.front().keys);
    Deps sums;  // weights and weighted values so far
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const Tile& tile = tiles[i];
      const Weights weights = weights_of(tile, maximum);
      if (i + 1 < tiles.size()) {
        const Tile& next = tiles[i + 1];
        const Deps own = scores(next.queries, next.keys);
        maximum = next.is_first ? own : larger(own, maximum);
      }
      sums = add_tile(tile, weights, sums);
      if (tile.is_last) finish(tile.queries, sums);
    }
  }

  // The larger of the maxima so far.
  Deps larger(Deps maximum, const Deps& before) {
    emitter_.attribute_to(context_.graph, k_.softmax_op);
    maximum.merge(before);
    return lane(Engine::kVector, Opcode::kTensorTensor, 1, kFromSbuf, maximum);
  }

  struct Weights {
    Deps exponentials;
    Deps shrink;  // by what the sums so far shrink
  };

  Weights weights_of(const Tile& tile, const Deps& maximum) {
    emitter_.attribute_to(context_.graph, k_.softmax_op);
    Weights weights{{}, maximum};
    if (!tile.is_first)
      weights.shrink = lane(Engine::kScalar, Opcode::kActivate, 1, kFromSbuf, maximum);
    weights.exponentials =
        lane(Engine::kScalar, Opcode::kActivateReduce, tile.keys.count, kFromSbuf, maximum);
    return weights;
  }

  // To the sums so far, shrunk.
  Deps add_tile(const Tile& tile, const Weights& weights, const Deps& sums) {
    Deps scale = weights.shrink;
    if (!tile.is_first) {
      scale.merge(weights.exponentials);
      scale.merge(sums);
      scale = lane(Engine::kVector, Opcode::kScalarTensorTensor, 1, kFromSbuf, scale);
    }
    const Deps operand = transposed(tile.queries, tile.keys, weights.exponentials);
    return weighted_values(tile.queries, tile.keys, operand, scale, tile.is_first);
  }

  void finish(const Queries& queries, const Deps& sums) {
    emitter_.attribute_to(context_.graph, k_.softmax_op);
    const Deps inverse = lane(Engine::kVector, Opcode::kReciprocal, 1, kFromSbuf, sums);
    const Deps done = lane(Engine::kVector, Opcode::kTensorScalar, k_.head_dim, kFromSbuf, inverse);
    const std::int64_t first_row = queries.sequence * k_.queries + queries.first;
    for (std::int64_t t = first_row / emitter_.tile_rows();
         t <= (first_row + queries.rows - 1) / emitter_.tile_rows(); ++t) {
      output_.token_major[static_cast<std::size_t>(t)].merge(done);
    }
  }

  // q k^T in pieces of a bank, the mask where a piece crosses its edge, and the maximum.
  Deps scores(const Queries& queries, const Keys& keys) {
    emitter_.attribute_to(context_.graph, k_.scores_op);
    Deps maximum;
    for (std::int64_t first = keys.first; first < keys.end(); first += emitter_.bank_columns()) {
      const Keys piece{first, std::min(emitter_.bank_columns(), keys.end() - first)};
      Deps operands =
          query_.features_of_rows(k_.query.first_column + queries.head * k_.head_dim, k_.head_dim,
                                  queries.sequence * k_.queries + queries.first, queries.rows);
      const std::int64_t key_head = queries.head * k_.kv_heads / k_.heads;
      operands.merge(key_.features_of_rows(k_.key.first_column + key_head * k_.head_dim,
                                           k_.head_dim, queries.sequence * k_.keys + piece.first,
                                           piece.count));
      const std::uint8_t bank = emitter_.acquire_bank();
      const Deps product =
          emitter_.matmul(bank, {k_.head_dim, queries.rows, piece.count}, operands, true, true);
      Deps copied = lane(Engine::kScalar, Opcode::kTensorCopy, piece.count, kFromPsum, product);
      emitter_.release_bank(bank, copied);
      if (is_masked(queries, piece)) {
        emitter_.attribute_to(context_.graph, k_.mask_ops.front());
        copied = lane(Engine::kGpSimd, Opcode::kAffineSelect, piece.count, kFromSbuf, copied);
      }
      emitter_.attribute_to(context_.graph, k_.softmax_op);
      maximum.merge(
          lane(Engine::kVector, Opcode::kTensorReduce, piece.count, kFromSbuf | kAddOrMax, copied));
      emitter_.attribute_to(context_.graph, k_.scores_op);
    }
    return maximum;
  }

  // Keys to the partitions, for the product with the values.
  Deps transposed(const Queries& queries, const Keys& keys, const Deps& exponential) {
    emitter_.attribute_to(context_.graph, k_.context_op);
    const std::int64_t per_bank = emitter_.bank_columns() / emitter_.tile_rows();
    Deps all;
    for (std::int64_t first = 0; first < keys.count; first += per_bank * emitter_.tile_rows()) {
      const std::uint8_t bank = emitter_.acquire_bank();
      const std::int64_t end = std::min(keys.count, first + per_bank * emitter_.tile_rows());
      Deps group;
      std::int64_t blocks = 0;
      for (std::int64_t key = first; key < end; key += emitter_.tile_rows(), ++blocks) {
        group = emitter_.transpose(bank, queries.rows, std::min(emitter_.tile_rows(), end - key),
                                   exponential);
      }
      const Deps copied =
          lane(Engine::kVector, Opcode::kTensorCopy, blocks * queries.rows, kFromPsum, group);
      emitter_.release_bank(bank, copied);
      all.merge(copied);
    }
    return all;
  }

  // The product with the values, added to what the tiles before have left, shrunk.
  Deps weighted_values(const Queries& queries, const Keys& keys, const Deps& weights,
                       const Deps& shrink, bool is_first) {
    emitter_.attribute_to(context_.graph, k_.context_op);
    const std::uint8_t bank = emitter_.acquire_bank();
    Deps group;
    for (std::int64_t key = keys.first; key < keys.end(); key += emitter_.tile_rows()) {
      const std::int64_t count = std::min(emitter_.tile_rows(), keys.end() - key);
      Deps operands = value_.tokens_of_rows(queries.sequence * k_.keys + key, count);
      operands.merge(weights);
      group = emitter_.matmul(bank, {count, queries.rows, k_.head_dim}, operands, key == keys.first,
                              key + emitter_.tile_rows() >= keys.end());
    }
    group.merge(shrink);
    const Opcode opcode = is_first ? Opcode::kTensorCopy : Opcode::kScalarTensorTensor;
    const Deps added = lane(Engine::kVector, opcode, k_.head_dim, kFromPsum, group);
    emitter_.release_bank(bank, added);
    return added;
  }

  Deps lane(Engine engine, Opcode opcode, std::int64_t n, int flags, const Deps& deps) {
    return emitter_.lane(engine, {opcode, n, static_cast<std::uint16_t>(flags)}, deps);
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Kernel& k_;
  const Value& query_;
  const Value& key_;
  const Value& value_;
  Value& output_;
};

}  // namespace

bool takes_flash_attention(const CoreShape& core, const Kernel& kernel) {
  if (kernel.cached || kernel.head_dim > core.tensor.rows) return false;
  const std::int64_t least = core.scheduling.flash_attention_queries;
  const bool sees_all = kernel.mask_ops.empty() && kernel.keys >= least;
  return (kernel.is_causal || sees_all) && kernel.queries >= least;
}

void lower_flash_attention(LoweringContext& context, const Kernel& kernel) {
  context.emitter.attribute_to(context.graph, kernel.scores_op);
  FlashAttention(context, kernel).run();
}

}  // namespace foretell

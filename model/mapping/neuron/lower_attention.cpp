#include <algorithm>
#include <cmath>

#include "model/mapping/neuron/lowering.hpp"

namespace foretell {
namespace {

// One pass covers the queries of one tile (or of two short sequences) for a group of heads whose
// scores stay in SBUF together.
struct Pass {
  std::int64_t sequence = 0;   // first sequence of the pass
  std::int64_t sequences = 1;  // that share the 128 partitions
  std::int64_t first_query = 0;
  std::int64_t rows = 0;  // query rows per sequence
  std::int64_t first_head = 0;
  std::int64_t heads = 0;
  std::int64_t partitions() const { return rows * sequences; }
};

class AttentionLowering {
 public:
  AttentionLowering(LoweringContext& context, const Kernel& kernel)
      : context_(context),
        emitter_(context.emitter),
        k_(kernel),
        query_(require_feature_major(context, kernel.query)),
        key_(require_feature_major(context, kernel.key)),
        value_(require_token_major(context, kernel.value)),
        output_(context.emitter.value(kernel.output)) {
    output_.rows = kernel.batch * kernel.queries;
    output_.columns = kernel.heads * kernel.head_dim;
    output_.feature_major.resize(static_cast<std::size_t>(output_.blocks() * output_.tiles()));
  }

  void run() {
    // Two sequences of up to 64 queries sit side by side on the partitions (start 0 and 64).
    const std::int64_t together =
        k_.queries <= emitter_.tile_rows() / 2 && k_.queries > emitter_.tile_rows() / 4 ? 2 : 1;
    const std::int64_t group = heads_per_pass();
    Pass pass;
    for (pass.sequence = 0; pass.sequence < k_.batch; pass.sequence += together) {
      pass.sequences = std::min(together, k_.batch - pass.sequence);
      for (pass.first_query = 0; pass.first_query < k_.queries;
           pass.first_query += emitter_.tile_rows()) {
        pass.rows = std::min(emitter_.tile_rows(), k_.queries - pass.first_query);
        for (pass.first_head = 0; pass.first_head < k_.heads; pass.first_head += group) {
          pass.heads = std::min(group, k_.heads - pass.first_head);
          run_pass(pass);
        }
      }
    }
  }

 private:
  // Bytes of a partition that the scores of a pass may take, and that those of a head take.
  std::int64_t score_room() const {
    const SbufSpec& sbuf = emitter_.core().sbuf;
    return static_cast<std::int64_t>(emitter_.core().scheduling.softmax_share *
                                     sbuf.capacity.value() / sbuf.partitions);
  }
  std::int64_t head_bytes() const { return k_.keys * emitter_.vector_bytes(); }

  std::int64_t heads_per_pass() const {
    return std::clamp<std::int64_t>(score_room() / head_bytes(), 1, k_.heads);
  }

  void run_pass(const Pass& pass) {
    const std::int64_t bytes = std::min(pass.heads * head_bytes(), score_room());
    context_.residency.need_scratch(static_cast<double>(bytes * emitter_.tile_rows()));
    Deps state = scores(pass);
    const std::int64_t excess = pass.heads * head_bytes() - bytes;  // not even one head fits
    if (excess > 0) state = context_.residency.through_hbm(pass.partitions(), excess, state);
    state = softmax(pass, state);
    context(pass, state);
  }

  Deps operand(const Value& value, const View& view, std::int64_t head, std::int64_t first_row,
               std::int64_t rows) const {
    return value.features_of_rows(view.first_column + head * k_.head_dim, k_.head_dim, first_row,
                                  rows);
  }

  std::int64_t kv_head(std::int64_t head) const { return head * k_.kv_heads / k_.heads; }

  // q k^T: keys of as many heads as fit next to each other in a bank, evicted together with the
  // scale; then the mask over all heads.
  Deps scores(const Pass& pass) {
    Deps all;
    for (std::int64_t key = 0; key < k_.keys; key += emitter_.bank_columns()) {
      const std::int64_t keys = std::min(emitter_.bank_columns(), k_.keys - key);
      const std::int64_t heads_per_bank = std::max<std::int64_t>(1, emitter_.bank_columns() / keys);
      for (std::int64_t h = 0; h < pass.heads; h += heads_per_bank) {
        const std::int64_t heads = std::min(heads_per_bank, pass.heads - h);
        emitter_.attribute_to(context_.graph, k_.scores_op);
        const std::uint8_t bank = emitter_.acquire_bank();
        Deps group;
        for (std::int64_t i = 0; i < heads; ++i) {
          for (std::int64_t s = 0; s < pass.sequences; ++s) {
            const std::int64_t head = pass.first_head + h + i;
            const std::int64_t sequence = pass.sequence + s;
            Deps deps = operand(query_, k_.query, head, sequence * k_.queries + pass.first_query,
                                pass.rows);
            deps.merge(operand(key_, k_.key, kv_head(head), sequence * k_.keys + key, keys));
            group = matmuls_over_head_dim(bank, pass.rows, keys, deps);
          }
        }
        if (k_.scale_op != kNoId) emitter_.attribute_to(context_.graph, k_.scale_op);
        all.merge(emitter_.evict(bank, heads * keys, group));
      }
    }
    for (const OpId mask : k_.mask_ops) {
      emitter_.attribute_to(context_.graph, mask);
      all = vector_pass(Opcode::kTensorTensor, pass.heads * k_.keys, all);
    }
    return all;
  }

  Deps matmuls_over_head_dim(std::uint8_t bank, std::int64_t rows, std::int64_t keys,
                             const Deps& deps) {
    Deps group;
    for (std::int64_t d = 0; d < k_.head_dim; d += emitter_.tile_rows()) {
      const std::int64_t depth = std::min(emitter_.tile_rows(), k_.head_dim - d);
      group = emitter_.matmul(bank, {depth, rows, keys}, deps, d == 0,
                              d + emitter_.tile_rows() >= k_.head_dim);
    }
    return group;
  }

  // In pieces of the largest free size that an instruction takes.
  Deps vector_pass(Opcode opcode, std::int64_t n, const Deps& deps) {
    const auto flags =
        static_cast<std::uint16_t>(kReadsSbuf | kWritesSbuf | kAddMulSub | kAddOrMax);
    Deps done;
    for (std::int64_t first = 0; first < n; first += emitter_.free_elements()) {
      done.merge(emitter_.lane(
          Engine::kVector, {opcode, std::min(emitter_.free_elements(), n - first), flags}, deps));
    }
    return done;
  }

  // Estimated Vector + Scalar cycles of n elements in `pieces` instructions at `passes` passes.
  double cycles(std::int64_t n, std::int64_t pieces, double passes) const {
    const CoreShape::Lanes& vector = emitter_.core().vector;
    const double per_lane = 1.0 * emitter_.core().sbuf.partitions / vector.lanes;
    const double each = passes * per_lane * static_cast<double>(n) / static_cast<double>(pieces);
    return static_cast<double>(pieces) *
           (std::max(vector.min_interval.value(), each) + vector.access_overhead.value());
  }

  // max, exp(x - max), sum, 1/sum, normalise. Subtract and normalise run per head with a scalar
  // per partition, or over all heads at once as a two-operand pass where that is cheaper.
  Deps softmax(const Pass& pass, const Deps& scores) {
    emitter_.attribute_to(context_.graph, k_.softmax_op);
    const std::int64_t n = pass.heads * k_.keys;
    const bool per_head = cycles(n, pass.heads, 1) * 2 <= cycles(n, 1, 2) * 2 + cycles(n, 1, 1);
    const Deps maximum = vector_pass(Opcode::kTensorReduce, n, scores);
    Deps exponential;
    if (per_head) {
      for (std::int64_t h = 0; h < pass.heads; ++h) {
        exponential.merge(emitter_.lane(Engine::kScalar, {Opcode::kActivate, k_.keys}, maximum));
      }
    } else {
      const Deps shifted = vector_pass(Opcode::kTensorTensor, n, maximum);
      exponential = emitter_.lane(Engine::kScalar, {Opcode::kActivate, n}, shifted);
    }
    const Deps sum = vector_pass(Opcode::kTensorReduce, n, exponential);
    const Deps inverse = vector_pass(Opcode::kReciprocal, pass.heads, sum);
    if (!per_head) return vector_pass(Opcode::kTensorTensor, n, inverse);
    Deps normalised;
    for (std::int64_t h = 0; h < pass.heads; ++h) {
      normalised.merge(emitter_.lane(Engine::kVector, {Opcode::kTensorScalar, k_.keys}, inverse));
    }
    return normalised;
  }

  // P^T by the tensor engine, then (P v)^T: features on the partitions, as many heads beside each
  // other as 128 partitions hold.
  void context(const Pass& pass, const Deps& probabilities) {
    emitter_.attribute_to(context_.graph, k_.context_op);
    const Deps transposed = transpose_probabilities(pass, probabilities);
    const std::int64_t heads_per_block =
        std::max<std::int64_t>(1, emitter_.tile_rows() / k_.head_dim);
    const std::int64_t blocks_per_head =
        (k_.head_dim + emitter_.tile_rows() - 1) / emitter_.tile_rows();
    const std::int64_t columns = pass.rows * pass.sequences;
    const std::int64_t heads_per_bank =
        heads_per_block *
        std::max<std::int64_t>(1, emitter_.bank_columns() / (columns * blocks_per_head));
    for (std::int64_t h = 0; h < pass.heads; h += heads_per_bank) {
      const std::int64_t heads = std::min(heads_per_bank, pass.heads - h);
      const std::uint8_t bank = emitter_.acquire_bank();
      Deps group;
      for (std::int64_t i = 0; i < heads; ++i) {
        for (std::int64_t s = 0; s < pass.sequences; ++s) {
          group = context_matmuls(bank, pass, pass.sequence + s, transposed);
        }
      }
      const std::int64_t blocks = (heads + heads_per_block - 1) / heads_per_block * blocks_per_head;
      const Deps done = emitter_.evict(bank, blocks * columns, group);
      record(pass, pass.first_head + h, heads, done);
    }
  }

  Deps transpose_probabilities(const Pass& pass, const Deps& probabilities) {
    const std::int64_t key_blocks = (k_.keys + emitter_.tile_rows() - 1) / emitter_.tile_rows();
    const std::int64_t total = pass.heads * key_blocks;
    const std::int64_t per_bank = emitter_.bank_columns() / emitter_.tile_rows();
    Deps all;
    for (std::int64_t first = 0; first < total; first += per_bank) {
      const std::int64_t count = std::min(per_bank, total - first);
      const std::uint8_t bank = emitter_.acquire_bank();
      Deps group;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t key = (first + i) % key_blocks * emitter_.tile_rows();
        group = emitter_.transpose(bank, pass.partitions(),
                                   std::min(emitter_.tile_rows(), k_.keys - key), probabilities);
      }
      all.merge(emitter_.evict(bank, count * pass.partitions(), group));
    }
    return all;
  }

  Deps context_matmuls(std::uint8_t bank, const Pass& pass, std::int64_t sequence,
                       const Deps& transposed) {
    Deps group;
    for (std::int64_t d = 0; d < k_.head_dim; d += emitter_.tile_rows()) {
      const std::int64_t columns = std::min(emitter_.tile_rows(), k_.head_dim - d);
      for (std::int64_t key = 0; key < k_.keys; key += emitter_.tile_rows()) {
        const std::int64_t keys = std::min(emitter_.tile_rows(), k_.keys - key);
        Deps deps = value_.tokens_of_rows(sequence * k_.keys + key, keys);
        deps.merge(transposed);
        group = emitter_.matmul(bank, {keys, columns, pass.rows}, deps, key == 0,
                                key + emitter_.tile_rows() >= k_.keys);
      }
    }
    return group;
  }

  void record(const Pass& pass, std::int64_t first_head, std::int64_t heads, const Deps& done) {
    const std::int64_t tiles = output_.tiles();
    const std::int64_t first_row = pass.sequence * k_.queries + pass.first_query;
    const std::int64_t last_row =
        (pass.sequence + pass.sequences - 1) * k_.queries + pass.first_query + pass.rows - 1;
    const std::int64_t first_block = first_head * k_.head_dim / emitter_.tile_rows();
    const std::int64_t last_block = ((first_head + heads) * k_.head_dim - 1) / emitter_.tile_rows();
    for (std::int64_t block = first_block; block <= last_block; ++block) {
      for (std::int64_t t = first_row / emitter_.tile_rows(); t <= last_row / emitter_.tile_rows();
           ++t) {
        output_.feature_major[static_cast<std::size_t>(block * tiles + t)].merge(done);
      }
    }
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

void lower_attention(LoweringContext& context, const Kernel& kernel) {
  context.emitter.attribute_to(context.graph, kernel.scores_op);
  AttentionLowering(context, kernel).run();
}

}  // namespace foretell

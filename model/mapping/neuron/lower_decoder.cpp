// What only decoders have: rotary positions, the KV cache, attention over the cache, and the sum
// over the cores of a tensor-parallel copy.
#include <algorithm>
#include <cmath>

#include "model/mapping/neuron/lowering.hpp"
#include "workloads/ir/attributes.hpp"
#include "workloads/ir/routing.hpp"

namespace foretell {
namespace {

// x * cos + rotate(x) * sin on [head_dim, n]: the tensor engine exchanges the halves.
Deps rotate(Emitter& emitter, std::int64_t head_dim, std::int64_t n, const Deps& source) {
  const std::uint8_t bank = emitter.acquire_bank();
  const Deps swapped = emitter.matmul(
      bank, {std::min(head_dim, emitter.tile_rows()), std::min(head_dim, emitter.tile_rows()), n},
      source, true, true);
  const Deps cosine = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, n, kFromSbuf}, source);
  Deps deps = swapped;
  deps.merge(cosine);
  const Deps sine = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, n, kFromPsum}, deps);
  emitter.release_bank(bank, sine);
  return emitter.lane(Engine::kVector, {Opcode::kTensorTensor, n, kFromSbuf}, sine);
}

// One query token of one head, or of some that share keys, against keys and values in the cache.
// Keys lie on the partitions, so scores come out as [128, keys / 128]; sums and maxima over all
// keys cross the partitions through the tensor engine.
class CachedAttention {
 public:
  CachedAttention(LoweringContext& context, const Kernel& kernel)
      : context_(context), emitter_(context.emitter), k_(kernel) {
    const std::int64_t sharing = k_.kv_heads > 0 ? k_.heads / k_.kv_heads : 1;
    const bool together = emitter_.core().scheduling.heads_share_cache != 0;
    const std::int64_t most = std::max<std::int64_t>(1, emitter_.tile_rows() / k_.queries);
    heads_ = together ? std::clamp<std::int64_t>(sharing, 1, most) : 1;
    queries_ = heads_ * k_.queries;
  }

  void run() {
    Deps ready;
    for (const View& view : {k_.query, k_.key, k_.value}) {
      if (emitter_.has_value(view.tensor)) ready.merge(narrow_operand(context_, view));
    }
    const double element = size_of(context_.graph.tensor(k_.key.tensor).dtype).value();
    key_row_bytes_ =
        static_cast<std::int64_t>(static_cast<double>(depth_blocks() * k_.keys) * element);
    value_row_bytes_ =
        static_cast<std::int64_t>(static_cast<double>(key_blocks() * k_.head_dim) * element);
    converts_ = element < element_bytes(emitter_.types().matmul);
    Deps all;
    for (std::int64_t sequence = 0; sequence < k_.batch; ++sequence) {
      for (std::int64_t head = 0; head < k_.heads; head += heads_) all.merge(run_heads(ready));
    }
    set_narrow(&emitter_.value(k_.output), k_.batch * k_.queries, k_.heads * k_.head_dim, all);
  }

 private:
  std::int64_t key_blocks() const {
    return (k_.keys + emitter_.tile_rows() - 1) / emitter_.tile_rows();
  }
  // Blocks of 128 columns of a head.
  std::int64_t depth_blocks() const {
    return (k_.head_dim + emitter_.tile_rows() - 1) / emitter_.tile_rows();
  }
  std::int64_t depth(std::int64_t block) const {
    return std::min(emitter_.tile_rows(), k_.head_dim - block * emitter_.tile_rows());
  }

  Deps run_heads(const Deps& query) {
    emitter_.attribute_to(context_.graph, k_.scores_op);
    std::vector<std::size_t> key_chunks;
    std::vector<std::size_t> value_chunks;
    const Deps keys =
        converted(context_.weights.load_once(std::min(k_.head_dim, emitter_.tile_rows()),
                                             key_row_bytes_, &key_chunks),
                  k_.keys);
    emitter_.attribute_to(context_.graph, k_.context_op);
    const Deps values =
        converted(context_.weights.load_once(std::min(k_.keys, emitter_.tile_rows()),
                                             value_row_bytes_, &value_chunks),
                  key_blocks() * k_.head_dim);
    Deps operands = query;
    operands.merge(keys);
    Deps last_use;
    const Deps scores = masked_scores(operands, &last_use);
    context_.weights.release(key_chunks, last_use);
    Deps weights = softmax(scores);
    weights.merge(values);
    const Deps done = context(weights, &last_use);
    context_.weights.release(value_chunks, last_use);
    return done;
  }

  // A cache in a narrower type than the operands: two of its elements per lane and cycle, half a
  // pass of the Vector engine.
  Deps converted(const Deps& loaded, std::int64_t elements) {
    if (!converts_) return loaded;
    const std::int64_t n = std::max<std::int64_t>(1, elements / 2);
    return emitter_.lane(Engine::kVector, {Opcode::kTensorCopy, n}, loaded);
  }

  Deps masked_scores(const Deps& operands, Deps* last_use) {
    emitter_.attribute_to(context_.graph, k_.scores_op);
    Deps scores;
    const std::int64_t per_bank = std::max<std::int64_t>(1, emitter_.bank_columns() / queries_);
    for (std::int64_t first = 0; first < key_blocks(); first += per_bank) {
      const std::int64_t end = std::min(key_blocks(), first + per_bank);
      const std::uint8_t bank = emitter_.acquire_bank();
      for (std::int64_t block = first; block < end; ++block) {
        const std::int64_t keys =
            std::min(emitter_.tile_rows(), k_.keys - block * emitter_.tile_rows());
        for (std::int64_t d = 0; d < depth_blocks(); ++d) {
          *last_use = emitter_.matmul(bank, {depth(d), keys, queries_}, operands, d == 0,
                                      d + 1 == depth_blocks());
        }
      }
      scores.merge(emitter_.evict(bank, (end - first) * queries_, *last_use));
    }
    for (const OpId mask : k_.mask_ops) {
      emitter_.attribute_to(context_.graph, mask);
      scores =
          emitter_.lane(Engine::kVector, {Opcode::kTensorTensor, elements(), kFromSbuf}, scores);
    }
    return scores;
  }

  std::int64_t elements() const { return key_blocks() * queries_; }

  // Reduction over the keys: the free dimension first, then the partitions by a transpose.
  Deps maximum(const Deps& scores) {
    const Deps partial = emitter_.lane(
        Engine::kVector, {Opcode::kTensorReduce, elements(), kReadsSbuf | kWritesSbuf | kAddOrMax},
        scores);
    const std::uint8_t bank = emitter_.acquire_bank();
    const Deps across = emitter_.transpose(bank, emitter_.tile_rows(), queries_, partial);
    const Deps top = emitter_.lane(
        Engine::kVector,
        {Opcode::kTensorReduce, emitter_.tile_rows(), kReadsPsum | kWritesSbuf | kAddOrMax},
        across);
    emitter_.release_bank(bank, top);
    return broadcast(top);
  }

  // One number per query to all partitions: a matmul by ones.
  Deps broadcast(const Deps& source) {
    const std::uint8_t bank = emitter_.acquire_bank();
    const Deps spread = emitter_.matmul(
        bank, {emitter_.tile_rows(), emitter_.tile_rows(), queries_}, source, true, true);
    return emitter_.evict(bank, queries_, spread);
  }

  Deps softmax(const Deps& scores) {
    emitter_.attribute_to(context_.graph, k_.softmax_op);
    const Deps top = maximum(scores);
    const Deps exponential =
        emitter_.lane(Engine::kScalar, {Opcode::kActivateReduce, elements()}, top);
    const std::uint8_t bank = emitter_.acquire_bank();
    const Deps sum = emitter_.matmul(bank, {emitter_.tile_rows(), emitter_.tile_rows(), queries_},
                                     exponential, true, true);
    const Deps inverse = emitter_.lane(
        Engine::kVector, {Opcode::kReciprocal, queries_, kReadsPsum | kWritesSbuf}, sum);
    emitter_.release_bank(bank, inverse);
    return emitter_.lane(Engine::kVector, {Opcode::kTensorScalar, elements()}, inverse);
  }

  Deps context(const Deps& weights, Deps* last_use) {
    emitter_.attribute_to(context_.graph, k_.context_op);
    const std::uint8_t bank = emitter_.acquire_bank();
    for (std::int64_t d = 0; d < depth_blocks(); ++d) {
      for (std::int64_t block = 0; block < key_blocks(); ++block) {
        const std::int64_t keys =
            std::min(emitter_.tile_rows(), k_.keys - block * emitter_.tile_rows());
        *last_use = emitter_.matmul(bank, {keys, depth(d), queries_}, weights, block == 0,
                                    block + 1 == key_blocks());
      }
    }
    return emitter_.evict(bank, depth_blocks() * queries_, *last_use);
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Kernel& k_;
  std::int64_t key_row_bytes_ = 0;
  std::int64_t value_row_bytes_ = 0;
  bool converts_ = false;
  std::int64_t heads_ = 1;    // that read keys and values together
  std::int64_t queries_ = 1;  // rows of these
};

// A tensor that is read in whatever layout it has.
void use_all(LoweringContext& context, TensorId tensor) {
  const Value& value = context.emitter.value(tensor);
  if (!value.token_major.empty()) context.residency.use(tensor, Layout::kTokenMajor);
  if (!value.feature_major.empty()) context.residency.use(tensor, Layout::kFeatureMajor);
}

}  // namespace

void lower_rope(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  emitter.attribute_to(context.graph, kernel.ops.front());
  const Value& input = require_feature_major(context, kernel.operands.front());
  const Shape& shape = context.graph.tensor(kernel.output).shape;  // [B, heads, S, dim]
  Value& output = emitter.value(kernel.output);
  output.rows = shape[0] * shape[2];
  output.columns = shape[1] * shape[3];
  output.feature_major.resize(static_cast<std::size_t>(output.blocks() * output.tiles()));
  const std::int64_t tiles = output.tiles();
  if (output.rows <= emitter.narrow_rows()) {  // all heads side by side
    Deps source;
    for (const Deps& block : input.feature_major) source.merge(block);
    const std::int64_t elements = shape[1] * output.rows;
    Deps all;
    for (std::int64_t first = 0; first < elements; first += emitter.bank_columns()) {
      all.merge(
          rotate(emitter, shape[3], std::min(emitter.bank_columns(), elements - first), source));
    }
    set_narrow(&output, output.rows, output.columns, all);
    return;
  }
  const std::int64_t first_block = kernel.operands.front().first_column / emitter.tile_rows();
  for (std::int64_t block = 0; block < output.blocks(); ++block) {
    for (std::int64_t row = 0; row < output.rows; row += emitter.bank_columns()) {
      const std::int64_t n = std::min(emitter.bank_columns(), output.rows - row);
      Deps source;
      for (std::int64_t t = row / emitter.tile_rows(); t <= (row + n - 1) / emitter.tile_rows();
           ++t) {
        source.merge(input.feature_major[static_cast<std::size_t>(
            (first_block + block) * input.tiles() + t)]);
      }
      const Deps done = rotate(emitter, shape[3], n, source);
      for (std::int64_t t = row / emitter.tile_rows(); t <= (row + n - 1) / emitter.tile_rows();
           ++t) {
        output.feature_major[static_cast<std::size_t>(block * tiles + t)] = done;
      }
    }
  }
}

void lower_update_cache(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  emitter.attribute_to(context.graph, kernel.ops.front());
  const View& view = kernel.operands.back();
  const Value& fresh = emitter.value(view.tensor);
  use_all(context, view.tensor);
  Deps ready;
  for (const Deps& tile : fresh.token_major) ready.merge(tile);
  for (const Deps& block : fresh.feature_major) ready.merge(block);
  const Op& op = context.graph.op(kernel.ops.front());
  const Tensor& rows = context.graph.tensor(op.inputs.back());  // [B, heads, S, dim]
  const double element = size_of(context.graph.tensor(kernel.output).dtype).value();
  const auto row_bytes =
      static_cast<std::int64_t>(static_cast<double>(rows.shape.back()) * element);
  const Deps stored = emitter.transfer(Ring::kOutputs, TransferDirection::kStore,
                                       row_count(rows.shape), row_bytes, ready);
  // Attention reads the cache with the new row in it; in prefill it reads the rows themselves.
  set_narrow(&emitter.value(kernel.output), 1, emitter.tile_rows(), stored);
}

void lower_cached_attention(LoweringContext& context, const Kernel& kernel) {
  CachedAttention(context, kernel).run();
}

namespace {

CollectiveKind collective_kind(const Op& op) {
  if (op.kind == "ReduceScatter") return CollectiveKind::kReduceScatter;
  if (op.kind == "AllGather") return CollectiveKind::kAllGather;
  if (op.kind == "AllToAll" || op.kind == "ExpertExchange") return CollectiveKind::kAllToAll;
  return CollectiveKind::kAllReduce;
}

std::int64_t elements_of(const Graph& graph, const std::vector<TensorId>& tensors) {
  std::int64_t elements = 0;
  for (const TensorId id : tensors) elements += element_count(graph.tensor(id).shape);
  return elements;
}

// Elements of the larger buffer of a core, with the padding of shares. Tokens go to the ranks that
// their choices reach, each of them as likely as the others.
double collective_elements(const Graph& graph, const Op& op) {
  const std::int64_t in = elements_of(graph, op.inputs);
  const std::int64_t out = elements_of(graph, op.outputs);
  if (op.kind == "AllReduce" || op.kind == "AllToAll") return static_cast<double>(out);
  const auto share = static_cast<double>(std::min(in, out));
  const std::int64_t ranks = integer_of(op, "ranks", 1);
  if (op.kind != "ExpertExchange") return share * static_cast<double>(ranks);
  return share * ranks_reached(ranks, integer_of(op, "top_k", 1));
}

// Results of a token that come back from several ranks are added to the first of them.
Deps added_up(Emitter& emitter, const Graph& graph, const Op& combine, const Deps& arrived) {
  const double others =
      ranks_reached(integer_of(combine, "ranks", 1), integer_of(combine, "top_k", 1)) - 1;
  const double sums = others * static_cast<double>(elements_of(graph, combine.outputs));
  const auto n = static_cast<std::int64_t>(sums / static_cast<double>(emitter.tile_rows()));
  if (n == 0) return arrived;
  return emitter.pass(Engine::kVector, {Opcode::kTensorTensor, n, kFromSbuf}, arrived);
}

bool combines(const Op& op) {
  return op.kind == "ExpertExchange" && text_of(op, "direction") == "combine";
}

}  // namespace

void lower_collective(LoweringContext& context, const Kernel& kernel) {
  Emitter& emitter = context.emitter;
  const Op& op = context.graph.op(kernel.ops.front());
  Deps ready;
  for (const View& operand : kernel.operands) {
    use_all(context, operand.tensor);
    const Value& value = emitter.value(operand.tensor);
    for (const Deps& tile : value.token_major) ready.merge(tile);
    for (const Deps& block : value.feature_major) ready.merge(block);
  }
  emitter.attribute_to(context.graph, kernel.ops.front());
  Collective collective;
  collective.kind = collective_kind(op);
  collective.bytes = static_cast<std::uint64_t>(
      std::ceil(collective_elements(context.graph, op) * element_bytes(emitter.types().matmul)));
  collective.ranks = static_cast<std::int32_t>(integer_of(op, "ranks", 0));
  collective.stride = static_cast<std::int32_t>(integer_of(op, "stride", 1));
  Deps done = emitter.builder().emit(collective, ready);
  if (combines(op)) done = added_up(emitter, context.graph, op, done);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const bool has_tokens = !emitter.value(kernel.operands[i].tensor).token_major.empty();
    const bool has_features = !emitter.value(kernel.operands[i].tensor).feature_major.empty();
    Value& output = emitter.value(op.outputs[i]);
    const Shape& shape = context.graph.tensor(op.outputs[i]).shape;
    output.rows = row_count(shape);
    output.columns = column_count(shape);
    const auto tiles = static_cast<std::size_t>(output.tiles());
    if (has_tokens) output.token_major.assign(tiles, done);
    if (has_features)
      output.feature_major.assign(static_cast<std::size_t>(output.blocks()) * tiles, done);
  }
}

}  // namespace foretell

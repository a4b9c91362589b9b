// Linear recurrences: Scan of the operator table.
//
//   * Prompts go chunk by chunk. Scores inside a chunk, what its queries find in the state and what
//     its keys add to it are products of the tensor engine that accumulate in PSUM; decays are
//     factors on the way. The delta rules solve a triangular system first, by squaring: of C rows
//     the powers 2, 4 … C / 2 of the matrix, and the product of one plus each (Yang et al.,
//     "Parallelizing Linear Transformers with the Delta Rule", say what is solved).
//   * A state that is one column per channel (Mamba) is scanned along the tokens by the Vector
//     engine, 512 at a time, as the vendor's kernel does (workloads/programs/mamba-v3.yaml).
//   * Single tokens pass over the state, which streams through SBUF: decay, outer product,
//   read-out.
#include <algorithm>
#include <string>
#include <vector>

#include "model/mapping/neuron/lowering.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

constexpr std::uint16_t kPlain = kReadsSbuf | kWritesSbuf;

class ScanLowering {
 public:
  ScanLowering(LoweringContext& context, const Kernel& kernel)
      : context_(context),
        emitter_(context.emitter),
        kernel_(kernel),
        op_(context.graph.op(kernel.ops.front())),
        function_(text_of(op_, "function")),
        output_(context.emitter.value(kernel.output)) {
    const Shape& query = context.graph.tensor(op_.inputs[0]).shape;
    const Shape& value = context.graph.tensor(op_.inputs[2]).shape;
    batch_ = value[0];
    tokens_ = value[1];
    key_heads_ = query[2];
    heads_ = value[2];
    keys_ = query[3];
    values_ = value[3];
    const Tensor& state = context.graph.tensor(op_.inputs.back());
    state_bytes_ = size_of(state.dtype).value();
    output_.rows = batch_ * tokens_;
    output_.columns = heads_ * values_;
    output_.feature_major.resize(static_cast<std::size_t>(output_.blocks() * output_.tiles()));
  }

  void run() {
    const bool prompt = tokens_ > 1;
    for (const View& view : kernel_.operands) {
      const Value& value = require_feature_major(context_, view);
      for (const Deps& block : value.feature_major) ready_.merge(block);
      if (!prompt || values_ == 1) continue;
      for (const Deps& tile : require_token_major(context_, view).token_major) ready_.merge(tile);
    }
    emitter_.attribute_to(context_.graph, kernel_.ops.front());
    if (!prompt) return values_ == 1 ? step_of_channels() : step_of_heads();
    values_ == 1 ? scan_channels() : scan_chunks();
  }

 private:
  bool delta() const { return function_.find("delta") != std::string::npos || keyed(); }
  // Every column of a key has a decay of its own.
  bool keyed() const { return function_ == "kimi_delta" || function_ == "rwkv7"; }
  std::int64_t tile() const { return emitter_.tile_rows(); }
  // Blocks of columns of a key, which lie on the partitions.
  std::int64_t key_blocks() const { return emitter_.blocks_of(keys_); }
  std::int64_t key_rows(std::int64_t block) const {
    return std::min(tile(), keys_ - block * tile());
  }

  Deps multiply(std::int64_t n, const Deps& deps) {
    return emitter_.pass(Engine::kVector, {Opcode::kTensorTensor, n, kFromSbuf}, deps);
  }
  // The Vector engine adds or multiplies what is in PSUM on its way out.
  Deps merged(std::uint8_t bank, std::int64_t n, const Deps& deps) {
    const Deps done = emitter_.lane(Engine::kVector, {Opcode::kTensorTensor, n, kFromPsum}, deps);
    emitter_.release_bank(bank, done);
    return done;
  }

  // --- single tokens ---------------------------------------------------------------------------

  std::int64_t elements() const { return batch_ * heads_ * keys_ * values_; }
  std::int64_t per_partition() const { return (elements() + tile() - 1) / tile(); }
  std::int64_t state_row_bytes(std::int64_t per_row) const {
    return static_cast<std::int64_t>(static_cast<double>(per_row) * state_bytes_);
  }

  // Pieces of the state that stay within a bank of PSUM on every partition.
  void step_of_heads() {
    const std::int64_t per_bank = std::max<std::int64_t>(1, emitter_.bank_columns() / values_);
    Deps all;
    for (std::int64_t head = 0; head < batch_ * heads_; head += per_bank)
      all.merge(heads_step(std::min(per_bank, batch_ * heads_ - head)));
    set_narrow(&output_, output_.rows, output_.columns, all);
  }

  // Heads whose values lie side by side, with the columns of a key on the partitions.
  Deps heads_step(std::int64_t heads) {
    std::vector<std::size_t> chunks;
    const std::int64_t n = heads * values_;
    Deps state = context_.weights.load_once(std::min(tile(), keys_),
                                            state_row_bytes(key_blocks() * n), &chunks);
    state.merge(ready_);
    Deps stored;
    Deps found = state;
    if (delta()) {  // what the state answers to the key, which the new value replaces
      const std::uint8_t bank = emitter_.acquire_bank();
      found = merged(bank, n, read_out(bank, heads, state));
      found = multiply(n, found);  // times the rate
    }
    for (std::int64_t block = 0; block < key_blocks(); ++block) {
      const Deps decayed = multiply(n, state);
      const std::uint8_t bank = emitter_.acquire_bank();
      Deps outer;
      for (std::int64_t head = 0; head < heads; ++head) {
        outer = emitter_.matmul(bank, {1, key_rows(block), values_}, found, head == 0,
                                head + 1 == heads);
      }
      outer.merge(decayed);
      stored.merge(merged(bank, n, outer));
    }
    const std::uint8_t bank = emitter_.acquire_bank();
    const Deps result = read_out(bank, heads, stored);
    context_.weights.release(chunks, result);
    emitter_.transfer(Ring::kOutputs, TransferDirection::kStore, std::min(tile(), keys_),
                      state_row_bytes(key_blocks() * n), stored);
    return emitter_.evict(bank, n, result);
  }

  // The state of every head times one row of columns.
  Deps read_out(std::uint8_t bank, std::int64_t heads, const Deps& state) {
    Deps sum;
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t block = 0; block < key_blocks(); ++block) {
        sum = emitter_.matmul(bank, {key_rows(block), 1, values_}, state, head == 0 && block == 0,
                              head + 1 == heads && block + 1 == key_blocks());
      }
    }
    return sum;
  }

  // Channels lie on the partitions, their few states along them; keys and queries are the same for
  // all channels and are spread by a product with ones.
  void step_of_channels() {
    std::vector<std::size_t> chunks;
    const std::int64_t n = per_partition();
    Deps state = context_.weights.load_once(tile(), state_row_bytes(n), &chunks);
    state.merge(ready_);
    const Deps spread = spread_rows(2 * batch_ * keys_);
    const Deps decay = emitter_.pass(Engine::kScalar, {Opcode::kActivate, n}, ready_);
    Deps added = spread;
    added.merge(ready_);
    added = multiply(n, added);  // step x value, times the key
    state.merge(decay);
    state = multiply(n, state);
    state.merge(added);
    state = multiply(n, state);
    context_.weights.release(chunks, state);
    emitter_.transfer(Ring::kOutputs, TransferDirection::kStore, tile(), state_row_bytes(n), state);
    Deps result = multiply(n, state);
    result = emitter_.pass(
        Engine::kVector, {Opcode::kTensorReduce, n, static_cast<std::uint16_t>(kPlain | kAddOrMax)},
        result);
    set_narrow(&output_, output_.rows, output_.columns, result);
  }

  // Rows of `columns` numbers to all partitions, as long as a bank is.
  Deps spread_rows(std::int64_t columns) {
    Deps all;
    for (std::int64_t first = 0; first < columns; first += emitter_.bank_columns()) {
      const std::int64_t n = std::min(emitter_.bank_columns(), columns - first);
      const std::uint8_t bank = emitter_.acquire_bank();
      all.merge(emitter_.evict(bank, n, emitter_.matmul(bank, {1, tile(), n}, ready_, true, true)));
    }
    return all;
  }

  // --- prompts: channels -----------------------------------------------------------------------

  void scan_channels() {
    const std::int64_t blocks = output_.blocks();
    for (std::int64_t sequence = 0; sequence < batch_; ++sequence) {
      for (std::int64_t block = 0; block < blocks; ++block) scan_block(sequence, block);
    }
    store_state();
  }

  // 128 channels of a sequence: for each state of a channel its decays, what the tokens add to it,
  // the scan, and its share of the result.
  void scan_block(std::int64_t sequence, std::int64_t block) {
    const Deps steps = multiply(tokens_, ready_);  // step x value
    Deps result;
    for (std::int64_t state = 0; state < keys_; ++state) {
      Deps last;  // of the piece before
      for (std::int64_t first = 0; first < tokens_; first += emitter_.bank_columns()) {
        const std::int64_t n = std::min(emitter_.bank_columns(), tokens_ - first);
        const std::uint8_t of_key = emitter_.acquire_bank();
        const std::uint8_t of_query = emitter_.acquire_bank();
        Deps key = emitter_.matmul(of_key, {1, tile(), n}, ready_, true, true);
        Deps query = emitter_.matmul(of_query, {1, tile(), n}, ready_, true, true);
        Deps scanned = emitter_.lane(Engine::kScalar, {Opcode::kActivate, n, kPlain}, ready_);
        key.merge(steps);
        scanned.merge(merged(of_key, n, key));
        scanned.merge(last);
        last = emitter_.lane(Engine::kVector, {Opcode::kTensorTensorScan, n, kPlain}, scanned);
        query.merge(last);
        result = multiply(n, merged(of_query, n, query));
        record(block, sequence * tokens_ + first, n, result);
      }
    }
  }

  void record(std::int64_t block, std::int64_t first_row, std::int64_t rows, const Deps& done) {
    for (std::int64_t t = first_row / tile(); t <= (first_row + rows - 1) / tile(); ++t)
      output_.feature_major[static_cast<std::size_t>(block * output_.tiles() + t)].merge(done);
  }

  void store_state() {
    Deps all;
    for (const Deps& block : output_.feature_major) all.merge(block);
    emitter_.transfer(Ring::kOutputs, TransferDirection::kStore, tile(),
                      state_row_bytes(per_partition()), all);
  }

  // --- prompts: heads --------------------------------------------------------------------------

  void scan_chunks() {
    const std::int64_t stated = integer_of(op_, "chunk");
    chunk_ = std::clamp<std::int64_t>(stated, 1, std::min(tile(), tokens_));
    for (std::int64_t sequence = 0; sequence < batch_; ++sequence) {
      for (std::int64_t group = 0; group < key_heads_; ++group) scan_group(sequence, group);
    }
    store_state();
  }

  // Heads of values that share their keys and queries.
  void scan_group(std::int64_t sequence, std::int64_t group) {
    const std::int64_t shared = heads_ / key_heads_;
    std::vector<Deps> states(static_cast<std::size_t>(shared));
    for (std::int64_t first = 0; first < tokens_; first += chunk_) {
      const std::int64_t rows = std::min(chunk_, tokens_ - first);
      const Deps scores = keyed() ? Deps{} : inside(rows, ready_);
      for (std::int64_t h = 0; h < shared; ++h) {
        Deps& state = states[static_cast<std::size_t>(h)];
        const Deps done = chunk_of_head(rows, scores, first == 0, &state);
        const std::int64_t column = (group * shared + h) * values_;
        for (std::int64_t block = column / tile(); block <= (column + values_ - 1) / tile();
             ++block)
          record(block, sequence * tokens_ + first, rows, done);
      }
    }
  }

  // Keys times queries of a chunk, keys on the partitions: [rows, rows].
  Deps inside(std::int64_t rows, const Deps& operands) {
    const std::uint8_t bank = emitter_.acquire_bank();
    Deps sum;
    for (std::int64_t block = 0; block < key_blocks(); ++block) {
      sum = emitter_.matmul(bank, {key_rows(block), rows, rows}, operands, block == 0,
                            block + 1 == key_blocks());
    }
    return emitter_.evict(bank, rows, sum);
  }

  Deps square(std::int64_t rows, const Deps& operands) {
    const std::uint8_t bank = emitter_.acquire_bank();
    return merged(bank, rows, emitter_.matmul(bank, {rows, rows, rows}, operands, true, true));
  }

  // The inverse of one plus the scores of keys among themselves below the diagonal, which are
  // nilpotent: both the powers and their transposes are kept, as one is stationary for the other.
  Deps solved(std::int64_t rows, const Deps& scores) {
    Deps power = scores;
    Deps inverse = scores;
    for (std::int64_t reach = 2; reach < rows; reach *= 2) {
      Deps both = square(rows, power);
      both.merge(square(rows, power));
      power = both;
      both.merge(inverse);
      inverse = square(rows, both);
    }
    return inverse;
  }

  // Keys and queries times the decay of their columns up to their token.
  Deps decayed_columns(std::int64_t rows) {
    Deps deps = emitter_.pass(Engine::kScalar, {Opcode::kActivate, key_blocks() * rows}, ready_);
    deps.merge(ready_);
    deps = multiply(key_blocks() * rows, deps);
    return multiply(key_blocks() * rows, deps);
  }

  // What `rows` tokens of one head give; `state` is the one that they find, and then leave.
  Deps chunk_of_head(std::int64_t rows, Deps scores, bool is_first, Deps* state) {
    Deps operands = ready_;
    if (keyed()) {
      operands = decayed_columns(rows);
      scores = inside(rows, operands);
    } else {  // decays between any two tokens of the chunk
      scores.merge(emitter_.pass(Engine::kScalar, {Opcode::kActivate, rows}, ready_));
      scores = multiply(rows, scores);
    }
    Deps values = ready_;
    if (delta()) values = corrected_values(rows, operands, is_first, *state);
    const Deps result = results(rows, scores, values, is_first, *state);
    *state = next_state(rows, operands, values, is_first, *state);
    return result;
  }

  // In the delta rules, new values in place of what the state and the chunk itself already answer.
  Deps corrected_values(std::int64_t rows, const Deps& operands, bool is_first, const Deps& state) {
    Deps among = inside(rows, operands);
    among = multiply(rows, among);  // decays and rates
    Deps inverse = solved(rows, among);
    Deps values = ready_;
    if (!is_first) {
      const std::uint8_t bank = emitter_.acquire_bank();
      Deps deps = operands;
      deps.merge(state);
      values = merged(bank, values_, found_in_state(bank, rows, deps));
    }
    inverse.merge(values);
    const std::uint8_t bank = emitter_.acquire_bank();
    return emitter_.evict(bank, values_,
                          emitter_.matmul(bank, {rows, rows, values_}, inverse, true, true));
  }

  // `rows` keys times the state: [rows, values].
  Deps found_in_state(std::uint8_t bank, std::int64_t rows, const Deps& deps) {
    Deps sum;
    for (std::int64_t block = 0; block < key_blocks(); ++block) {
      sum = emitter_.matmul(bank, {key_rows(block), rows, values_}, deps, block == 0,
                            block + 1 == key_blocks());
    }
    return sum;
  }

  // Scores times values, and queries times the state, turned: values on the partitions.
  Deps results(std::int64_t rows, Deps scores, const Deps& values, bool is_first,
               const Deps& state) {
    const std::uint8_t bank = emitter_.acquire_bank();
    scores.merge(values);
    if (!is_first) {
      Deps queries = multiply(key_blocks() * rows, ready_);  // decay since the chunk began
      queries.merge(state);
      for (std::int64_t at = 0; at < values_; at += tile()) {
        for (std::int64_t block = 0; block < key_blocks(); ++block) {
          emitter_.matmul(bank, {key_rows(block), std::min(tile(), values_ - at), rows}, queries,
                          at == 0 && block == 0, false);
        }
      }
    }
    Deps sum;
    for (std::int64_t at = 0; at < values_; at += tile()) {
      sum = emitter_.matmul(bank, {rows, std::min(tile(), values_ - at), rows}, scores,
                            is_first && at == 0, at + tile() >= values_);
    }
    return emitter_.evict(bank, emitter_.blocks_of(values_) * rows, sum);
  }

  // The decayed state and what keys and values of the chunk add.
  Deps next_state(std::int64_t rows, const Deps& operands, const Deps& values, bool is_first,
                  const Deps& state) {
    Deps keys = operands;
    keys.merge(emitter_.pass(Engine::kVector, {Opcode::kTensorScalar, keys_},
                             ready_));  // decay to the end
    keys.merge(values);
    Deps all;
    for (std::int64_t block = 0; block < key_blocks(); ++block) {
      const std::uint8_t bank = emitter_.acquire_bank();
      Deps sum = emitter_.matmul(bank, {rows, key_rows(block), values_}, keys, true, true);
      if (is_first) {
        all.merge(emitter_.evict(bank, values_, sum));
        continue;
      }
      sum.merge(state);
      const Deps next =
          emitter_.lane(Engine::kVector, {Opcode::kScalarTensorTensor, values_, kFromPsum}, sum);
      emitter_.release_bank(bank, next);
      all.merge(next);
    }
    return all;
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Kernel& kernel_;
  const Op& op_;
  std::string function_;
  Value& output_;
  Deps ready_;
  double state_bytes_ = 4;
  std::int64_t batch_ = 0, tokens_ = 0, key_heads_ = 0, heads_ = 0, keys_ = 0, values_ = 0;
  std::int64_t chunk_ = 1;
};

}  // namespace

void lower_scan(LoweringContext& context, const Kernel& kernel) {
  ScanLowering(context, kernel).run();
}

}  // namespace foretell

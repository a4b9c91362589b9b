// What today's decoders have beside attention and recurrences: short convolutions over the last few
// tokens, means of every few tokens for a shorter cache, and indexers that choose keys. Channels
// lie on the partitions and tokens along them.
#include <algorithm>
#include <string>
#include <vector>

#include "model/mapping/neuron/lowering.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

constexpr std::uint16_t kPasses = kReadsSbuf | kWritesSbuf;
constexpr std::uint16_t kLargestOrSum = kPasses | kAddOrMax;

// What the three have in common: one operand feature-major, passes over all of it.
class ChannelPasses {
 public:
  ChannelPasses(LoweringContext& context, const Kernel& kernel)
      : context_(context),
        emitter_(context.emitter),
        op_(context.graph.op(kernel.ops.front())),
        output_(context.emitter.value(kernel.output)) {
    for (const View& view : kernel.operands) {
      for (const Deps& block : require_feature_major(context, view).feature_major)
        ready_.merge(block);
    }
    emitter_.attribute_to(context.graph, kernel.ops.front());
  }

 protected:
  const Tensor& input(std::size_t index) const {
    return context_.graph.tensor(op_.inputs.at(index));
  }

  Deps multiply(std::int64_t n, const Deps& deps) {
    return emitter_.pass(Engine::kVector, {Opcode::kTensorTensor, n, kFromSbuf}, deps);
  }

  // A state with channels on the partitions.
  std::int64_t row_bytes(const Tensor& state) const {
    const double rows = static_cast<double>(emitter_.tile_rows());
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(state.bytes().value() / rows));
  }
  Deps loaded(const Tensor& state, std::vector<std::size_t>* chunks) {
    return context_.weights.load_once(emitter_.tile_rows(), row_bytes(state), chunks);
  }
  void stored(const Tensor& state, const Deps& deps) {
    emitter_.transfer(Ring::kOutputs, TransferDirection::kStore, emitter_.tile_rows(),
                      row_bytes(state), deps);
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Op& op_;
  Value& output_;
  Deps ready_;
};

class ShortConvLowering : ChannelPasses {
 public:
  ShortConvLowering(LoweringContext& context, const Kernel& kernel)
      : ChannelPasses(context, kernel), taps_(input(1).shape[1]) {
    output_.rows = row_count(input(0).shape);
    output_.columns = column_count(input(0).shape);
    activates_ = text_of(op_, "activation") != "none";
  }

  void run() {
    const Tensor& state = input(2);
    if (input(0).shape[1] > 1) return prompt(state);
    std::vector<std::size_t> chunks;
    Deps window = loaded(state, &chunks);
    window.merge(ready_);
    const std::int64_t n = output_.blocks() * output_.rows;
    Deps done = multiply(n * taps_, window);
    done = emitter_.pass(Engine::kVector, {Opcode::kTensorReduce, n * taps_, kLargestOrSum}, done);
    context_.weights.release(chunks, done);
    stored(state, window);
    set_narrow(&output_, output_.rows, output_.columns, activated(n, done));
  }

 private:
  // Tap by tap over the tokens of 128 channels, each with a factor per partition.
  void prompt(const Tensor& state) {
    output_.feature_major.resize(static_cast<std::size_t>(output_.blocks() * output_.tiles()));
    for (std::int64_t block = 0; block < output_.blocks(); ++block) {
      for (std::int64_t first = 0; first < output_.rows; first += emitter_.free_elements()) {
        const std::int64_t n = std::min(emitter_.free_elements(), output_.rows - first);
        Deps done = ready_;
        for (std::int64_t tap = 0; tap < taps_; ++tap)
          done = emitter_.pass(Engine::kVector, {Opcode::kScalarTensorTensor, n, kFromSbuf}, done);
        done = activated(n, done);
        for (std::int64_t t = first / emitter_.tile_rows();
             t <= (first + n - 1) / emitter_.tile_rows(); ++t)
          output_.feature_major[static_cast<std::size_t>(block * output_.tiles() + t)] = done;
      }
    }
    stored(state, ready_);
  }

  Deps activated(std::int64_t n, const Deps& deps) {
    return activates_ ? emitter_.pass(Engine::kScalar, {Opcode::kActivate, n, kFromSbuf}, deps)
                      : deps;
  }

  std::int64_t taps_;
  bool activates_ = true;
};

// Exponentials of the scores, their sums and those of the weighted values, and the quotients. What
// is not complete yet waits in a state, of which a token writes its row.
class CompressLowering : ChannelPasses {
 public:
  using ChannelPasses::ChannelPasses;

  void run() {
    const std::int64_t columns = emitter_.blocks_of(column_count(input(0).shape));
    const std::int64_t ratio = integer_of(op_, "ratio");
    const bool one = input(0).shape[1] == 1;
    const std::int64_t n = columns * row_count(input(0).shape) * (one ? ratio : 1);
    Deps values = ready_;
    std::vector<std::size_t> chunks;
    if (one && op_.inputs.size() > 2) values.merge(loaded(input(2), &chunks));
    Deps weights = emitter_.pass(Engine::kScalar, {Opcode::kActivate, n, kFromSbuf}, values);
    Deps sums = emitter_.pass(Engine::kVector, {Opcode::kTensorReduce, n, kLargestOrSum}, weights);
    const Deps weighted = multiply(n, weights);
    sums.merge(emitter_.pass(Engine::kVector, {Opcode::kTensorReduce, n, kLargestOrSum}, weighted));
    context_.weights.release(chunks, sums);
    if (one && op_.inputs.size() > 2) stored_row();
    output_.rows = row_count(context_.graph.tensor(op_.outputs.front()).shape);
    output_.columns = column_count(context_.graph.tensor(op_.outputs.front()).shape);
    const std::int64_t left = output_.blocks() * output_.rows;
    const Deps inverse =
        emitter_.pass(Engine::kVector, {Opcode::kReciprocal, left, kFromSbuf}, sums);
    set_narrow(&output_, output_.rows, output_.columns, multiply(left, inverse));
  }

 private:
  void stored_row() {
    const Tensor& state = input(2);  // [B, tokens, values and scores]
    const double bytes = static_cast<double>(state.shape[2]) * size_of(state.dtype).value();
    emitter_.transfer(Ring::kOutputs, TransferDirection::kStore, state.shape[0],
                      static_cast<std::int64_t>(bytes), ready_);
  }
};

// Every head scores every key on the tensor engine; heads are weighted and summed up by the Vector
// engine, and GpSimd finds the best keys of up to 128 queries at a time.
class IndexerLowering : ChannelPasses {
 public:
  IndexerLowering(LoweringContext& context, const Kernel& kernel)
      : ChannelPasses(context, kernel), queries_(input(0).shape), keys_(input(1).shape[1]) {}

  void run() {
    Deps scored;
    for (std::int64_t sequence = 0; sequence < queries_[0]; ++sequence)
      scored.merge(queries_[1] > 1 ? many_queries() : one_query());
    choose(scored);
  }

 private:
  std::int64_t heads() const { return queries_[2]; }
  std::int64_t columns() const { return queries_[3]; }
  std::int64_t key_rows(std::int64_t keys) const {
    return static_cast<std::int64_t>(static_cast<double>(keys) * size_of(input(1).dtype).value());
  }

  // Keys on the partitions, heads side by side.
  Deps one_query() {
    std::vector<std::size_t> chunks;
    Deps keys = context_.weights.load_once(std::min(columns(), emitter_.tile_rows()),
                                           key_rows(keys_), &chunks);
    keys.merge(ready_);
    const std::int64_t blocks = emitter_.blocks_of(keys_);
    const std::int64_t per_bank = std::max<std::int64_t>(1, emitter_.bank_columns() / heads());
    Deps all;
    Deps last;
    for (std::int64_t first = 0; first < blocks; first += per_bank) {
      const std::int64_t count = std::min(per_bank, blocks - first);
      const std::uint8_t bank = emitter_.acquire_bank();
      for (std::int64_t block = 0; block < count; ++block)
        last = scores(bank, emitter_.tile_rows(), heads(), keys);
      const Deps positive = emitter_.lane(
          Engine::kScalar, {Opcode::kActivate, count * heads(), kReadsPsum | kWritesSbuf}, last);
      emitter_.release_bank(bank, positive);
      all.merge(multiply(count * heads(), positive));
    }
    context_.weights.release(chunks, last);
    return emitter_.pass(Engine::kVector, {Opcode::kTensorReduce, blocks * heads(), kLargestOrSum},
                         all);
  }

  // `stationary` columns of one operand times `moving` of the other, over the columns of a head.
  Deps scores(std::uint8_t bank, std::int64_t stationary, std::int64_t moving, const Deps& deps) {
    Deps done;
    for (std::int64_t at = 0; at < columns(); at += emitter_.tile_rows()) {
      done = emitter_.matmul(bank,
                             {std::min(emitter_.tile_rows(), columns() - at), stationary, moving},
                             deps, at == 0, at + emitter_.tile_rows() >= columns());
    }
    return done;
  }

  // Queries on the partitions; of the keys those that are not hidden, a bank at a time.
  Deps many_queries() {
    std::vector<std::size_t> chunks;
    Deps keys = context_.weights.load_once(std::min(columns(), emitter_.tile_rows()),
                                           key_rows(keys_), &chunks);
    keys.merge(ready_);
    const std::int64_t before = keys_ - queries_[1];
    Deps all;
    Deps last;
    for (std::int64_t row = 0; row < queries_[1]; row += emitter_.tile_rows()) {
      const std::int64_t rows = std::min(emitter_.tile_rows(), queries_[1] - row);
      const std::int64_t seen = std::min(keys_, before + row + rows);
      for (std::int64_t key = 0; key < seen; key += emitter_.bank_columns()) {
        const std::int64_t n = std::min(emitter_.bank_columns(), seen - key);
        for (std::int64_t head = 0; head < heads(); ++head) {
          const std::uint8_t bank = emitter_.acquire_bank();
          last = scores(bank, rows, n, keys);
          const Deps positive = emitter_.lane(
              Engine::kScalar, {Opcode::kActivate, n, kReadsPsum | kWritesSbuf}, last);
          emitter_.release_bank(bank, positive);
          all =
              emitter_.pass(Engine::kVector, {Opcode::kScalarTensorTensor, n, kFromSbuf}, positive);
        }
      }
    }
    context_.weights.release(chunks, last);
    return all;
  }

  void choose(const Deps& scored) {
    const Shape& shape = context_.graph.tensor(op_.outputs.front()).shape;  // [B, S, chosen]
    const std::int64_t block = integer_of(op_, "block");
    const std::int64_t candidates = (keys_ + block - 1) / block;
    output_.rows = row_count(shape);
    output_.columns = column_count(shape);
    output_.token_major.clear();
    for (std::int64_t t = 0; t < output_.tiles(); ++t) {
      Deps best = scored;
      if (block > 1)  // the best key of a block stands for it
        best = emitter_.pass(Engine::kVector, {Opcode::kTensorReduce, keys_, kLargestOrSum}, best);
      Emitter::Lane top{Opcode::kTopK, candidates, kPasses};
      top.aux = output_.columns;
      output_.token_major.push_back(emitter_.lane(Engine::kGpSimd, top, best));
    }
  }

  Shape queries_;
  std::int64_t keys_;
};

}  // namespace

void lower_short_conv(LoweringContext& context, const Kernel& kernel) {
  ShortConvLowering(context, kernel).run();
}

void lower_compress(LoweringContext& context, const Kernel& kernel) {
  CompressLowering(context, kernel).run();
}

void lower_indexer(LoweringContext& context, const Kernel& kernel) {
  IndexerLowering(context, kernel).run();
}

}  // namespace foretell

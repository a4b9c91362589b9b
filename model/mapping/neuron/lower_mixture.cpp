// Mixture of experts: tokens are sorted by the expert that the router chose, every expert that has
// tokens multiplies them by its weights, and the results go back to the order of the tokens.
//
// How many rows each expert gets is said by the graph (workloads/ir/routing.hpp); where it says
// nothing, the routing is balanced. Weights of an expert that not every call reads can only be
// fetched once the choice is known.
#include <algorithm>
#include <numeric>
#include <vector>

#include "model/base/errors.hpp"
#include "model/mapping/neuron/lowering.hpp"
#include "workloads/ir/attributes.hpp"
#include "workloads/ir/routing.hpp"

namespace foretell {
namespace {

// Rows [first, first + count) of the sorted tokens belong to one expert.
struct ExpertRows {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

class Experts {
 public:
  Experts(LoweringContext& context, const Kernel& kernel)
      : context_(context),
        emitter_(context.emitter),
        kernel_(kernel),
        op_(context.graph.op(kernel.ops.front())),
        output_(context.emitter.value(kernel.output)) {
    const Shape& weight = context.graph.tensor(op_.inputs[1]).shape;  // [experts, K, N]
    k_ = weight[1];
    n_ = weight[2];
    counts_ = rows_of_experts(weight[0]);
    rows_ = std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
    output_.rows = rows_;
    output_.columns = n_;
    const Value& choice = require_token_major(context, kernel.operands.back());
    for (const Deps& tile : choice.token_major) choice_.merge(tile);
    // All experts are read anyway, whatever the choice.
    known_early_ = static_cast<std::int64_t>(counts_.size()) == weight[0];
  }

  void run(bool token_major) {
    const Value input = sorted_input();
    input_ = &input;
    emitter_.attribute_to(context_.graph, kernel_.ops.front());
    if (!known_early_) context_.weights.wait_for(choice_);
    if (token_major) {
      output_.token_major.resize(static_cast<std::size_t>(output_.tiles()));
    } else {
      output_.feature_major.resize(static_cast<std::size_t>(output_.blocks() * output_.tiles()));
    }
    std::int64_t first = 0;
    for (const std::int64_t count : counts_) {
      const ExpertRows rows{first, count};
      token_major ? tokens_stationary(rows) : weights_stationary(rows);
      first += rows.count;
    }
    context_.weights.wait_for({});
  }

 private:
  std::vector<std::int64_t> rows_of_experts(std::int64_t experts) const {
    if (has_attribute(op_, "rows")) return integers_of(op_, "rows");
    const std::int64_t rows = element_count(context_.graph.tensor(op_.inputs[2]).shape);
    return rows_per_expert({RoutingKind::kBalanced, 0, {}}, {rows, 1, experts, experts});
  }

  // The rows of the experts one after another, feature-major. Matmuls that read the same rows share
  // them.
  Value sorted_input() {
    const TensorId id = op_.inputs[0];
    const View view{id, 0, k_};
    if (!emitter_.has_value(id)) {
      const Value& tokens = emitter_.value(kernel_.operands.front().tensor);
      emitter_.value(id) = tokens.rows == 1                  ? copied()
                           : rows_ <= emitter_.narrow_rows() ? columns_by_address()
                                                             : rows_by_transfer();
    }
    return require_feature_major(context_, view);
  }

  // One token: every expert reads the same column.
  Value copied() {
    Value value = emitter_.new_value();
    set_narrow(&value, rows_, k_, narrow_operand(context_, kernel_.operands.front()));
    return value;
  }

  // Few tokens: the columns of an expert are copied from where the choice says.
  Value columns_by_address() {
    Deps deps = narrow_operand(context_, kernel_.operands.front());
    deps.merge(choice_);
    emitter_.attribute_to(context_.graph, kernel_.ops.front());
    Deps all;
    for (const std::int64_t count : counts_) {
      all.merge(emitter_.lane(
          Engine::kGpSimd, {Opcode::kTensorCopyDynamic, emitter_.blocks_of(k_) * count, kFromSbuf},
          deps));
    }
    Value value = emitter_.new_value();
    set_narrow(&value, rows_, k_, all);
    return value;
  }

  // Many tokens: rows move inside SBUF, one descriptor each.
  Value rows_by_transfer() {
    const Value& tokens = require_token_major(context_, kernel_.operands.front());
    Deps deps = choice_;
    for (const Deps& tile : tokens.token_major) deps.merge(tile);
    emitter_.attribute_to(context_.graph, kernel_.ops.front());
    Value value = emitter_.new_value();
    value.rows = rows_;
    value.columns = k_;
    for (std::int64_t t = 0; t < value.tiles(); ++t) {
      const std::int64_t rows = std::min(emitter_.tile_rows(), rows_ - t * emitter_.tile_rows());
      value.token_major.push_back(emitter_.transfer(Ring::kSpill, TransferDirection::kOnChip, rows,
                                                    k_ * emitter_.vector_bytes(), deps));
    }
    return value;
  }

  Deps input_ready(std::int64_t k_block, std::int64_t first_row, std::int64_t rows) const {
    Deps deps;
    const std::int64_t tiles = input_->tiles();
    for (std::int64_t t = first_row / emitter_.tile_rows();
         t <= (first_row + rows - 1) / emitter_.tile_rows(); ++t)
      deps.merge(input_->feature_major[static_cast<std::size_t>(k_block * tiles + t)]);
    return deps;
  }

  std::int64_t k_rows(std::int64_t block) const {
    return std::min(emitter_.tile_rows(), k_ - block * emitter_.tile_rows());
  }

  // Blocks of 128 columns of the weight stationary, up to 512 rows moving. Of few rows several
  // blocks share a bank.
  void weights_stationary(const ExpertRows& rows) {
    LoadedWeight weight;
    weight.panel_columns = context_.weights.panel_columns(op_.inputs[1], k_, n_);
    const std::int64_t blocks = emitter_.blocks_of(n_);
    const std::int64_t per_bank = std::clamp<std::int64_t>(emitter_.bank_columns() / rows.count, 1,
                                                           emitter_.eviction_blocks());
    for (std::int64_t first = 0; first < blocks; first += per_bank) {
      const std::int64_t count = std::min(per_bank, blocks - first);
      for (std::int64_t row = 0; row < rows.count; row += emitter_.bank_columns()) {
        stationary_blocks(&weight, {first, count}, rows, row);
      }
    }
  }

  struct Blocks {
    std::int64_t first;
    std::int64_t count;
  };

  // Panels are loaded for the first rows and released after the last.
  void stationary_blocks(LoadedWeight* weight, const Blocks& blocks, const ExpertRows& rows,
                         std::int64_t row) {
    const std::int64_t per_panel = weight->panel_columns / emitter_.tile_rows();
    const std::int64_t moving = std::min(emitter_.bank_columns(), rows.count - row);
    const bool last_rows = row + moving == rows.count;
    const std::uint8_t bank = emitter_.acquire_bank();
    emitter_.attribute_to(context_.graph, kernel_.ops.front());
    Deps group;
    for (std::int64_t block = blocks.first; block < blocks.first + blocks.count; ++block) {
      const std::int64_t panel = block / per_panel;
      if (row == 0 && block % per_panel == 0)
        context_.weights.load_panel(op_.inputs[1], k_, n_, panel, weight);
      for (std::int64_t kb = 0; kb < emitter_.blocks_of(k_); ++kb) {
        Deps deps = weight->at(panel, kb);
        deps.merge(input_ready(kb, rows.first + row, moving));
        group = emitter_.matmul(
            bank,
            {k_rows(kb), std::min(emitter_.tile_rows(), n_ - block * emitter_.tile_rows()), moving},
            deps, kb == 0, kb + 1 == emitter_.blocks_of(k_));
      }
      const bool last_of_panel =
          (block + 1) % per_panel == 0 || block + 1 == emitter_.blocks_of(n_);
      if (last_rows && last_of_panel) context_.weights.release_panel(*weight, panel, group);
    }
    const Deps done = finish(bank, blocks.count * moving, group);
    record(blocks.first, blocks.count, rows.first + row, moving, done);
  }

  void record(std::int64_t first_block, std::int64_t blocks, std::int64_t first_row,
              std::int64_t rows, const Deps& done) {
    const std::int64_t tiles = output_.tiles();
    for (std::int64_t block = first_block; block < first_block + blocks; ++block) {
      for (std::int64_t t = first_row / emitter_.tile_rows();
           t <= (first_row + rows - 1) / emitter_.tile_rows(); ++t)
        output_.feature_major[static_cast<std::size_t>(block * tiles + t)].merge(done);
    }
  }

  // Up to 128 rows stationary, panels of 512 columns of the weight moving.
  void tokens_stationary(const ExpertRows& rows) {
    LoadedWeight weight;
    weight.panel_columns = emitter_.bank_columns();
    for (std::int64_t panel = 0; panel * emitter_.bank_columns() < n_; ++panel) {
      context_.weights.load_panel(op_.inputs[1], k_, n_, panel, &weight);
      Deps last_use;
      for (std::int64_t row = 0; row < rows.count; row += emitter_.tile_rows()) {
        last_use = moving_group(weight, panel, rows.first + row,
                                std::min(emitter_.tile_rows(), rows.count - row));
      }
      context_.weights.release_panel(weight, panel, last_use);
    }
  }

  Deps moving_group(const LoadedWeight& weight, std::int64_t panel, std::int64_t first_row,
                    std::int64_t rows) {
    const std::int64_t columns =
        std::min(emitter_.bank_columns(), n_ - panel * emitter_.bank_columns());
    const std::uint8_t bank = emitter_.acquire_bank();
    emitter_.attribute_to(context_.graph, kernel_.ops.front());
    Deps group;
    for (std::int64_t kb = 0; kb < emitter_.blocks_of(k_); ++kb) {
      Deps deps = weight.at(panel, kb);
      deps.merge(input_ready(kb, first_row, rows));
      group = emitter_.matmul(bank, {k_rows(kb), rows, columns}, deps, kb == 0,
                              kb + 1 == emitter_.blocks_of(k_));
    }
    const Deps done = finish(bank, columns, group);
    for (std::int64_t t = first_row / emitter_.tile_rows();
         t <= (first_row + rows - 1) / emitter_.tile_rows(); ++t)
      output_.token_major[static_cast<std::size_t>(t)].merge(done);
    return group;
  }

  Deps finish(std::uint8_t bank, std::int64_t elements, const Deps& group) {
    if (kernel_.activation_op == kNoId) return emitter_.evict(bank, elements, group);
    emitter_.attribute_to(context_.graph, kernel_.activation_op);
    const Deps done = emitter_.lane(Engine::kScalar,
                                    {Opcode::kActivate, elements, kReadsPsum | kWritesSbuf}, group);
    emitter_.release_bank(bank, done);
    return done;
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Kernel& kernel_;
  const Op& op_;
  Value& output_;
  const Value* input_ = nullptr;
  Deps choice_;
  bool known_early_ = false;
  std::int64_t k_ = 0;
  std::int64_t n_ = 0;
  std::int64_t rows_ = 0;             // of all experts here
  std::vector<std::int64_t> counts_;  // of each that has any
};

// Results [tokens * k] times the router's factors, summed over k, features on the partitions: the
// factors reach all partitions by a matmul with ones.
void combine_few(LoweringContext& context, const Kernel& kernel, std::int64_t rows,
                 std::int64_t tokens, std::int64_t columns) {
  Emitter& emitter = context.emitter;
  Deps results = narrow_operand(context, kernel.operands.front());
  emitter.attribute_to(context.graph, kernel.ops.front());
  const std::int64_t elements = emitter.blocks_of(columns) * rows;
  if (kernel.operands.size() > 1) {
    const Value& factors = require_token_major(context, kernel.operands.back());
    emitter.attribute_to(context.graph, kernel.ops.front());
    const std::uint8_t bank = emitter.acquire_bank();
    results.merge(emitter.evict(bank, rows,
                                emitter.matmul(bank, {tokens, emitter.tile_rows(), rows},
                                               factors.token_major.front(), true, true)));
    results = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, elements, kFromSbuf}, results);
  }
  emitter.attribute_to(context.graph, kernel.ops.back());
  const Deps sum = emitter.lane(
      Engine::kVector, {Opcode::kTensorReduce, elements, kReadsSbuf | kWritesSbuf | kAddOrMax},
      results);
  set_narrow(&emitter.value(kernel.output), tokens, columns, sum);
}

// Tokens on the partitions: a factor per partition, then the k results of each token are brought
// side by side, one descriptor per row, and added.
void combine_many(LoweringContext& context, const Kernel& kernel, std::int64_t rows,
                  std::int64_t tokens, std::int64_t columns) {
  Emitter& emitter = context.emitter;
  const Value& results = require_token_major(context, kernel.operands.front());
  Deps factors;
  if (kernel.operands.size() > 1) {
    for (const Deps& tile : require_token_major(context, kernel.operands.back()).token_major)
      factors.merge(tile);
  }
  emitter.attribute_to(context.graph, kernel.ops.front());
  Deps weighted;
  for (const Deps& tile : results.token_major) {
    Deps deps = tile;
    deps.merge(factors);
    weighted.merge(kernel.operands.size() > 1
                       ? emitter.lane(Engine::kVector, {Opcode::kTensorScalar, columns}, deps)
                       : deps);
  }
  emitter.attribute_to(context.graph, kernel.ops.back());
  Value& output = emitter.value(kernel.output);
  output.rows = tokens;
  output.columns = columns;
  const std::int64_t k = (rows + tokens - 1) / tokens;
  for (std::int64_t t = 0; t < output.tiles(); ++t) {
    const std::int64_t count = std::min(emitter.tile_rows(), tokens - t * emitter.tile_rows());
    const std::int64_t results_here = (count * rows + tokens - 1) / tokens;
    const Deps moved = emitter.transfer(Ring::kSpill, TransferDirection::kOnChip, results_here,
                                        columns * emitter.vector_bytes(), weighted);
    Deps sum = moved;
    for (std::int64_t other = 1; other < k; ++other)
      sum = emitter.lane(Engine::kVector, {Opcode::kTensorTensor, columns, kFromSbuf}, sum);
    output.token_major.push_back(sum);
  }
}

}  // namespace

void lower_experts(LoweringContext& context, const Kernel& kernel, bool token_major) {
  context.emitter.attribute_to(context.graph, kernel.ops.front());
  Experts(context, kernel).run(token_major);
}

void lower_combine(LoweringContext& context, const Kernel& kernel) {
  const Op& op = context.graph.op(kernel.ops.back());
  const Shape& in = context.graph.tensor(op.inputs.front()).shape;
  const std::int64_t columns = column_count(in);
  const std::int64_t rows = row_count(in);
  const std::int64_t tokens = row_count(context.graph.tensor(kernel.output).shape);
  if (rows <= context.emitter.narrow_rows()) {
    combine_few(context, kernel, rows, tokens, columns);
  } else {
    combine_many(context, kernel, rows, tokens, columns);
  }
}

}  // namespace foretell

#include "model/mapping/gpu/attention_kernels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "calib/fitted/gpu/attention_block_additions.hpp"
#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/timing/gpu/attention_block_timing.hpp"
#include "model/timing/gpu/cta_schedule.hpp"
#include "model/timing/gpu/energy_work.hpp"

namespace foretell {
namespace {

// Without a table for encoders or for narrow caches those of prompts and wide caches on the same
// chip say more than those of another chip.
std::vector<std::string> tables_for(const std::string& architecture, const std::string& framework,
                                    const AttentionType& type, const AttentionShape& shape) {
  std::vector<std::string> tables = attention_tables(architecture, framework, type, shape);
  const auto add = [&](const AttentionType& other_type, const AttentionShape& other_shape) {
    for (std::string& table : attention_tables(architecture, framework, other_type, other_shape)) {
      tables.push_back(std::move(table));
    }
  };
  AttentionType wide = type;
  wide.key_bytes = type.query_bytes;
  if (wide.key_bytes != type.key_bytes) add(wide, shape);
  if (shape.phase == AttentionPhase::kEncoder) {
    AttentionShape causal = shape;
    causal.phase = AttentionPhase::kContext;
    add(type, causal);
    add(wide, causal);
  }
  return tables;
}

// No table has INT8 attention; its kernels are taken to be those of two bytes on another pipe.
AttentionType as_measured(AttentionType type) {
  if (type.rate == "int8") type.query_bytes = type.key_bytes = 2;
  return type;
}

void note_bounds(const GpuDeviceSpec& device, const AttentionType& type, const AttentionWork& work,
                 Grid& kernel, MappedOp& op) {
  const bool matrix = device.matrix_rate.count(type.rate) > 0;
  const std::int64_t slots = static_cast<std::int64_t>(device.sms) * kernel.ctas_per_sm;
  double blocks = 0;
  Seconds busy;
  for (const CtaRun& run : kernel.ctas) {
    blocks += static_cast<double>(run.count);
    busy += static_cast<double>(run.count) * run.duration;
  }
  op.engine = matrix ? "tensor" : "vector";
  op.kernel = kernel.name;
  op.waves = blocks / static_cast<double>(slots);
  op.occupancy =
      std::min(1.0, busy / static_cast<double>(slots) / cta_makespan(kernel.ctas, slots));
  kernel.moved = kernel.dram_bytes;
  kernel.busy[WorkUnit::kLaunch] = kernel.launch + kernel.memory_latency;
  kernel.busy[matrix ? WorkUnit::kTensorPipe : WorkUnit::kVectorPipe] = work.products;
  kernel.busy[WorkUnit::kSpecialFunctions] = work.softmax;
  kernel.busy[WorkUnit::kOperandFeed] = work.feed;
  kernel.busy[WorkUnit::kPipelineLatency] = work.latency;
  kernel.busy[WorkUnit::kDram] = kernel.dram_bytes / kernel.dram_rate;
  kernel.busy[WorkUnit::kL2] = kernel.l2_bytes / kernel.l2_rate;
  kernel.busy[WorkUnit::kReduction] = kernel.tail;
}

// As the closed form, to which energies are fitted, counts it; but for keys that are in L2. Keys
// that an indexer chose have no such form: their arithmetic is that of the graph.
void count_work(const AttentionDimensions& attention, AttentionPhase phase,
                const AttentionType& type, Grid& kernel, MappedOp& op) {
  const auto window = static_cast<double>(attention.window);
  EnergyAttention sizes;
  sizes.batch = static_cast<double>(attention.batch);
  sizes.queries = static_cast<double>(attention.queries);
  sizes.keys = static_cast<double>(attention.keys);
  sizes.heads = static_cast<double>(attention.heads);
  sizes.key_heads = static_cast<double>(attention.kv_heads);
  sizes.head_dim = static_cast<double>(attention.head_dim);
  const double before = std::max(0.0, sizes.keys - sizes.queries);
  const bool is_masked = attention.causal || attention.queries == 1;
  if (attention.selected > 0 || (!is_masked && window > 0)) return;
  const bool tokens = phase == AttentionPhase::kGeneration;
  sizes.pairs = !is_masked ? sizes.queries * sizes.keys
                : tokens   ? scored_pairs(sizes.queries, before, window)
                           : executed_pairs(sizes.queries, before, window);
  if (tokens && window > 0) sizes.keys = std::min(window, sizes.keys);
  const OperandType operands{bits_of_rate(type.rate), type.query_bytes};
  kernel.work = attention_energy_work(sizes, operands, type.key_bytes);
  kernel.work.dram = kernel.dram_bytes;
  op.is_counted = true;
}

}  // namespace

std::int64_t mean_chosen_keys(std::int64_t queries, std::int64_t keys, std::int64_t selected) {
  const std::int64_t first = keys - queries + 1;  // that the first query sees
  const std::int64_t fewer = std::clamp<std::int64_t>(selected - first, 0, queries);
  const std::int64_t seen = fewer * first + fewer * (fewer - 1) / 2 + (queries - fewer) * selected;
  return std::max<std::int64_t>(1, (seen + queries / 2) / queries);
}

AttentionShape shape_of(const AttentionDimensions& attention) {
  AttentionShape shape;
  shape.batch = attention.batch;
  shape.queries = attention.queries;
  shape.keys = attention.keys;
  shape.heads = attention.heads;
  shape.key_heads = attention.kv_heads;
  shape.head_dim = attention.head_dim;
  shape.window = attention.window;
  const bool few = attention.queries <= kernel_shapes().attention.few_queries &&
                   attention.queries < attention.keys;
  if (few || attention.keys == 1) {
    shape.phase = AttentionPhase::kGeneration;
    shape.heads *= attention.queries;
    shape.queries = 1;
  } else if (!attention.causal) {
    shape.phase = AttentionPhase::kEncoder;
  }
  return shape;
}

// What a library states its attention to reach on these chips is the rate of whole kernels: their
// softmax is in it.
void AttentionKernels::cap_rate(double head_width, AttentionFactors& factors) const {
  const auto& shares = factors_.library().attention_share;
  const auto stated = shares.find(device_.architecture);
  if (stated == shares.end()) return;
  const double share = share_of_width(stated->second, head_width);
  if (factors.mma_efficiency > 0 && factors.mma_efficiency <= share) return;
  factors.mma_efficiency = share;
  factors.score = factors.masked_score = Cycles(0);
}

std::string AttentionKernels::framework(const AttentionShape& shape, bool in_chunks) const {
  const bool tokens = shape.phase == AttentionPhase::kGeneration;
  const bool share = heads_share_keys_ && (chunks_share_keys_ || !in_chunks);
  const KernelLibrary& library = factors_.library();
  return tokens && !share ? library.one_head : library.id;
}

AttentionKernels::Chosen AttentionKernels::choose(const std::string& framework,
                                                  const AttentionShape& shape,
                                                  const AttentionType& type) const {
  const std::vector<std::string> tables =
      tables_for(device_.architecture, framework, as_measured(type), shape);
  if (const auto fitted = factors_.attention(tables)) {
    Chosen chosen{fitted->factors,
                  library_of_call(device_.architecture, tables.front(), fitted->table),
                  "",
                  {fitted->interval_low, fitted->interval_high}};
    const std::string write = table_of_cache_write(chosen.library, type, shape.phase);
    const bool is_own = fitted->device == device_.id;
    if (!is_own && !write.empty() && chosen.factors.prepare_block == Cycles(0)) {
      if (const auto other = factors_.attention({write})) {
        chosen.factors.prepare_block = other->factors.prepare_block;
      }
    }
    if (!is_own || fitted->table != tables.front()) {
      chosen.note = "attention: factors of " + fitted->table + " on " + fitted->device;
    }
    return chosen;
  }
  const auto width = static_cast<double>(shape.head_dim);
  return {ideal_attention_factors(device_, type.rate, width),
          library_of_table(device_.architecture, tables.front()), ""};
}

AttentionBlockFacts::Call AttentionKernels::chosen_call(const char* phase) const {
  return {factors_.library().id, "msa", phase, device_.architecture};
}

AttentionDimensions AttentionKernels::one_by_one(AttentionDimensions attention) const {
  if (attention.selected == 0 || attention.queries == 1) return attention;
  if (kept<AttentionBlockFacts>().shares_choice(chosen_call("context"))) return attention;
  attention.keys = mean_chosen_keys(attention.queries, attention.keys, attention.selected);
  attention.batch *= attention.queries;
  attention.queries = 1;
  attention.window = 0;
  return attention;
}

void AttentionKernels::read_chosen(const AttentionDimensions& asked,
                                   const AttentionDimensions& read, Grid& kernel) const {
  const bool prompt = asked.queries > 1;
  const AttentionBlockFacts::Call call = chosen_call(prompt ? "context" : "generation");
  const auto& facts = kept<AttentionBlockFacts>();
  if (const auto walk = facts.walk_of_chosen(call); prompt && walk.key > Cycles(0)) {
    const bool other = asked.narrow_cache && walk.narrow_key > Cycles(0);
    const Cycles key = other ? walk.narrow_key : walk.key;
    const auto keys = static_cast<double>(read.keys);
    const auto groups = static_cast<double>(read.batch * read.kv_heads);
    kernel.ctas.clear();
    kernel.ctas_per_sm = walk.blocks_per_sm;
    kernel.tail = Seconds(0);
    const Seconds block(keys * key.value() / device_.clock.boost.value());
    add_ctas(kernel, read.batch * read.kv_heads, block);
    // The walk is as fast as its keys come out of L2, and DRAM fills that meanwhile.
    const Seconds walked = groups * block / static_cast<double>(device_.sms);
    kernel.l2_rate = std::max(kernel.l2_rate, kernel.l2_bytes / walked);
    kernel.stages_ahead = factors_.common().stages_limit;
    // Of blocks chosen anywhere in the caches L2 has what it has of these.
    const double key_bytes =
        2.0 * static_cast<double>(asked.head_dim) * (asked.narrow_cache ? 1 : 2);
    const double cached =
        key_bytes * static_cast<double>(asked.batch * asked.keys * asked.kv_heads);
    const double missing = std::max(0.0, 1 - device_.l2.capacity.value() / cached);
    kernel.dram_bytes = std::max(kernel.dram_bytes, Bytes(groups * keys * key_bytes * missing));
  }
  const auto layer = attention_block_additions(factors_, facts, call, call.phase);
  if (layer) kernel.stretch *= attention_in_layer(layer->factors, asked.narrow_cache);
}

void AttentionKernels::add(const AttentionDimensions& asked, const AttentionType& type, Bytes dram,
                           MappedOp& op) {
  const AttentionDimensions attention = one_by_one(asked);
  const AttentionShape shape = shape_of(attention);
  const std::string kernels = framework(shape, attention.in_chunks);
  const std::string table = attention_tables(device_.architecture, kernels, type, shape).front();
  const std::string key = table + ' ' + std::to_string(shape.head_dim);
  auto known = chosen_.find(key);
  if (known == chosen_.end()) known = chosen_.emplace(key, choose(kernels, shape, type)).first;
  const Chosen& chosen = known->second;
  AttentionFactors factors = chosen.factors;
  factors.launch = launch_;
  cap_rate(static_cast<double>(shape.head_dim), factors);
  AttentionPlan plan = plan_attention(device_, chosen.library, type, factors, shape);
  Grid kernel = std::move(plan.program.kernels.back());
  kernel.dram_bytes = dram;
  if (asked.selected > 0) read_chosen(asked, attention, kernel);
  note_bounds(device_, type, plan.work, kernel, op);
  count_work(attention, shape.phase, type, kernel, op);
  op.note = chosen.note;
  op.program.kernels.push_back(std::move(kernel));
  op.intervals80.push_back(chosen.interval80);
}

}  // namespace foretell

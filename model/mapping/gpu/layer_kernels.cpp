#include "model/mapping/gpu/layer_kernels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "hw/spec/gpu/attention_block_facts.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/gpu/layer_kernel_choice.hpp"
#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/mapping/gpu/network_kernels.hpp"
#include "model/timing/gpu/attention_block_timing.hpp"
#include "model/timing/gpu/cta_schedule.hpp"
#include "model/timing/gpu/exchange_kernels.hpp"
#include "model/timing/gpu/experts_kernels.hpp"
#include "model/timing/gpu/network_exchange.hpp"
#include "model/timing/gpu/state_space_kernels.hpp"

namespace foretell {
namespace {

const LayerKernelChoice& layer_choice() { return kept<LayerKernelChoice>(); }
const LayerKernelLibrary& layer_facts() { return kept<LayerKernelLibrary>(); }
const AttentionBlockFacts& block_facts() { return kept<AttentionBlockFacts>(); }

ExpertLoad load_of(const ExpertShape& shape) {
  std::map<std::int64_t, double> counts;
  for (const std::int64_t rows : shape.rows) {
    if (rows > 0) ++counts[rows];
  }
  ExpertLoad load;
  for (const auto& [rows, count] : counts) {
    load.groups.push_back({static_cast<double>(rows), count});
  }
  load.tokens = static_cast<double>(shape.tokens);
  return load;
}

}  // namespace

void note_busy(int sms, Grid& kernel) {
  kernel.moved = kernel.dram_bytes;
  kernel.busy[WorkUnit::kLaunch] = kernel.launch + kernel.memory_latency;
  if (kernel.dram_bytes > Bytes(0)) {
    kernel.busy[WorkUnit::kDram] = kernel.dram_bytes / kernel.dram_rate;
  }
  if (kernel.l2_bytes > Bytes(0)) kernel.busy[WorkUnit::kL2] = kernel.l2_bytes / kernel.l2_rate;
  kernel.busy[WorkUnit::kReduction] = kernel.tail;
  Seconds blocks;
  for (const CtaRun& run : kernel.ctas) blocks += static_cast<double>(run.count) * run.duration;
  const auto slots = static_cast<double>(sms) * kernel.ctas_per_sm;
  kernel.busy[WorkUnit::kPipelineLatency] = blocks / slots;
}

void note_largest(int sms, const Grid& kernel, MappedOp& op) {
  const std::int64_t slots = static_cast<std::int64_t>(sms) * kernel.ctas_per_sm;
  std::int64_t count = 0;
  for (const CtaRun& run : kernel.ctas) count += run.count;
  op.kernel = kernel.name;
  op.waves = static_cast<double>(count) / static_cast<double>(slots);
  op.occupancy =
      std::min(1.0, kernel.busy[WorkUnit::kPipelineLatency] / cta_makespan(kernel.ctas, slots));
}

std::optional<LayerKernels::Chosen> LayerKernels::find(const Wanted& wanted) const {
  const KernelFactorsLibrary& library = factors_.tables()->kernels(wanted.folder);
  std::vector<std::string> tables;
  std::map<std::string, std::int64_t> sms;
  const auto add = [&](const LayerOperationChoice& kernels, const std::string& last) {
    if (kernels.most_tokens > 0 && wanted.tokens > kernels.most_tokens) return;
    if (wanted.exchanged && !kernels.exchanged) return;
    if (wanted.spread && !kernels.spread) return;
    for (const std::string& kernel : kernels.kernels) {
      std::string table = kernels.tables_of + ' ' + kernel + (last.empty() ? "" : ' ' + last);
      if (!library.knows(table)) continue;
      sms.emplace(table, kernels.sms);
      tables.push_back(std::move(table));
    }
  };
  // Of one library those of the type itself come before those of a type like it.
  const auto all = layer_choice().kernels(wanted.operation, factors_.library().id);
  for (auto first = all.begin(); first != all.end();) {
    const auto end = std::find_if(
        first, all.end(), [&](const auto* other) { return other->library != (*first)->library; });
    for (const std::string& last : wanted.tables) {
      for (auto one = first; one != end; ++one) add(**one, last);
    }
    first = end;
  }
  LayerType type = layer_facts().type(wanted.type);
  if (device_.matrix_rate.count(type.rate) == 0 && !type.other_rate.empty()) {
    type.rate = type.other_rate;
  }
  if (tables.empty() || device_.matrix_rate.count(type.rate) == 0) return std::nullopt;
  const ChosenFactorSet found = library.choose(device_, tables);
  Chosen chosen;
  chosen.factors.common = factors_.common();
  FieldList list;
  fields(list, chosen.factors);
  read_factor_set(found.set, list);
  chosen.table = found.set.table;
  chosen.facts = layer_facts().facts(chosen.table, device_.architecture);
  chosen.type = std::move(type);
  chosen.sms = sms.at(chosen.table);
  chosen.interval80 = {found.set.interval_low, found.set.interval_high};
  if (found.device != device_.id) {
    if (const GpuDeviceSpec* from = find_published_device(found.device)) {
      carry_over(chosen.factors, *from, device_,
                 {std::string(wanted.folder) == "mla", chosen.facts.operand_readers > 0});
    }
  }
  if (found.device != device_.id || chosen.table != tables.front()) {
    chosen.note = wanted.operation + ": factors of " + chosen.table + " on " + found.device;
  }
  return chosen;
}

const LayerKernels::Chosen* LayerKernels::choose(const Wanted& wanted) {
  if (factors_.id() == "none") return nullptr;
  std::string key = wanted.operation + '\n' + wanted.type + '\n' + wanted.tables.front();
  if (wanted.tokens > 0) key += '\n' + std::to_string(wanted.tokens);
  if (wanted.exchanged) key += "\nexchanged";
  if (wanted.spread) key += "\nspread";
  auto known = chosen_.find(key);
  if (known == chosen_.end()) known = chosen_.emplace(std::move(key), find(wanted)).first;
  return known->second ? &*known->second : nullptr;
}

LayerCall LayerKernels::call_of(const Chosen& chosen) const {
  return {device_, chosen.facts, chosen.type, chosen.factors, between_};
}

void LayerKernels::take(const Chosen& chosen, GridSequence program, MappedOp& op) const {
  op.note = chosen.note;
  // In a table that was measured without graphs the launch is the host's; in a graph a kernel takes
  // the floor of the chip.
  if (chosen.factors.host > Seconds(0)) {
    Seconds& launch = program.kernels.front().launch;
    launch = std::min(launch, device_.launch_floor * static_cast<double>(program.kernels.size()));
  }
  Seconds longest;
  for (Grid& kernel : program.kernels) {
    note_busy(device_.sms, kernel);
    const Seconds blocks = kernel.busy[WorkUnit::kPipelineLatency];
    if (blocks > longest) {
      longest = blocks;
      note_largest(device_.sms, kernel, op);
    }
    op.program.kernels.push_back(std::move(kernel));
    op.intervals80.push_back(chosen.interval80);
  }
}

bool LayerKernels::add_experts(const ExpertShape& shape, DType compute, DType weights,
                               MappedOp& op) {
  const LayerTypeChoice* type =
      layer_choice().type(std::string(to_string(compute)), std::string(to_string(weights)),
                          factors_.library().id, device_.matrix_rate);
  if (type == nullptr) return false;
  Wanted wanted{"experts", "experts", type->type, type->tables};
  wanted.exchanged = shape.exchanged;
  wanted.spread = shape.held > 0 && shape.held < shape.experts;
  const Chosen* chosen = nullptr;
  if (!shape.gated) {
    wanted.operation += " without a gate";
    chosen = choose(wanted);
    wanted.operation = "experts";
  }
  if (chosen == nullptr) chosen = choose(wanted);
  if (chosen == nullptr) return false;
  Chosen own = *chosen;
  own.facts.gated = shape.gated;
  ExpertsShape experts;
  experts.tokens = shape.tokens;
  experts.hidden = shape.hidden;
  experts.intermediate = shape.intermediate;
  experts.top_k = shape.top_k;
  experts.experts = shape.experts;
  if (shape.held > 0) experts.ep = std::max<std::int64_t>(1, shape.experts / shape.held);
  op.engine = "tensor";
  experts.gated = shape.gated;
  const ExpertLoad load = load_of(shape);
  take(own, experts_kernels(call_of(own), experts, load), op);
  const OperandType operands{bits_of_rate(own.type.rate), own.type.weight_bytes,
                             own.type.activation_bytes};
  const EnergyWork work = experts_work(own.facts, device_.id, experts, {load}, operands);
  const double share = 1 / static_cast<double>(op.program.kernels.size());
  for (Grid& kernel : op.program.kernels) kernel.work = work * share;
  op.is_counted = true;
  return true;
}

bool LayerKernels::add_latent(const AttentionDimensions& attention, double cache_bytes,
                              MappedOp& op) {
  LatentShape shape;
  shape.batch = attention.batch;
  shape.queries = attention.queries;
  shape.keys = attention.keys;
  shape.heads = attention.heads;
  shape.cache_bytes = cache_bytes;
  if (attention.selected > 0 && is_latent_head(attention.head_dim, attention.value_dim)) {
    shape.selected = attention.selected;
    return add_chosen_latent(shape, op);
  }
  const bool few = attention.queries <= kernel_shapes().attention.few_queries;
  const bool asks = is_latent_head(attention.head_dim, attention.value_dim);
  if (few && asks) {
    shape.prompt = false;
    shape.heads *= attention.queries;  // side by side
    shape.queries = 1;
    if (attention.window > 0) shape.keys = std::min(shape.keys, attention.window);
  } else if ((!asks && !is_expanded_head(attention.head_dim, attention.value_dim)) ||
             !attention.causal || attention.window > 0) {
    return false;
  }
  const char* cache = cache_bytes < 2 ? "bf16 fp8" : "bf16 bf16";
  const Chosen* chosen =
      choose({"mla", shape.prompt ? "latent prompts" : "latent tokens", "bf16", {cache}});
  if (chosen == nullptr) return false;
  Chosen own = *chosen;
  if (shape.prompt) {  // the graph has multiplied them out, or not
    own.facts.absorbed_prompts = asks;
    own.facts.absorbed_up_to = 0;
  }
  GridSequence program = latent_kernels(call_of(own), shape);
  // Rotations and what writes the cache are operators of their own.
  const Seconds launch = program.kernels.front().launch;
  program.kernels.erase(program.kernels.begin());
  program.kernels.front().launch = launch;
  op.engine = "tensor";
  take(own, std::move(program), op);
  return true;
}

bool LayerKernels::add_chosen_latent(const LatentShape& shape, MappedOp& op) {
  const bool prompt = shape.queries > 1;
  const AttentionBlockFacts::Call call{factors_.library().id, "dsa",
                                       prompt ? "context" : "generation", device_.architecture};
  const AttentionBlockFacts::Choice choice = block_facts().choice(call);
  LatentShape asked = shape;
  asked.fills_choice = choice.fills;
  asked.divides_choice = choice.divides;
  const bool narrow = shape.cache_bytes < 2;
  if (choice.widens) asked.cache_bytes = 2;
  const char* cache = asked.cache_bytes < 2 ? "bf16 fp8" : "bf16 bf16";
  const Chosen* chosen = choose({"mla", "latent tokens", "bf16", {cache}});
  if (chosen == nullptr) return false;
  const auto layer = factors_.attention_block(call.framework + ' ' + call.kind + ' ' + call.phase);
  if (layer) asked.choice_time = attention_in_layer(layer->factors, narrow);
  op.engine = "tensor";
  take(*chosen, chosen_latent_kernels(call_of(*chosen), asked), op);
  return true;
}

bool LayerKernels::add_latent_product(std::int64_t tokens, std::int64_t heads, std::int64_t n,
                                      std::int64_t k, MappedOp& op) {
  LatentProductShape shape;
  shape.tokens = tokens;
  shape.heads = heads;
  shape.to_latent = is_absorbed_product(k, n);
  if (!shape.to_latent && !is_absorbed_product(n, k)) return false;
  const Chosen* chosen = choose({"mla_products",
                                 shape.to_latent ? "queries to latents" : "latents to results",
                                 "bf16",
                                 {"bf16"}});
  if (chosen == nullptr) return false;
  op.engine = "tensor";
  take(*chosen, latent_product_kernels(call_of(*chosen), shape), op);
  return true;
}

bool LayerKernels::add_scan(const StateSpace& work, MappedOp& op) {
  StateSpaceShape shape;
  const bool update = work.chunk <= 1;
  shape.part = update ? StateSpacePart::kStateUpdate : StateSpacePart::kScan;
  shape.batch = work.batch;
  shape.seq_len = work.tokens;
  shape.heads = work.heads;
  shape.head_dim = work.value_dim;
  shape.state_dim = work.key_dim;
  shape.chunk = work.chunk;
  const Chosen* chosen =
      choose({"state_space", work.function + (update ? " update" : " scan"), "bf16", {""}});
  if (chosen == nullptr) return false;
  op.engine = update ? "memory" : "tensor";
  take(*chosen, state_space_kernels(call_of(*chosen), shape), op);
  return true;
}

bool LayerKernels::add_exchange(const Exchanged& exchange, MappedOp& op) {
  if (!(device_.nvlink.bandwidth > BytesPerSecond(0))) return false;
  const Chosen* chosen =
      choose({"expert_exchange", exchange.direction, "bf16", {""}, exchange.tokens});
  if (chosen == nullptr) return false;
  ExchangeShape shape;
  const GroupNodes at =
      nodes_of_group(system_, static_cast<int>(exchange.ranks), static_cast<int>(exchange.stride));
  shape.gpus = exchange.ranks;
  shape.gpus_per_node = at.ranks;
  shape.network_rate = system_.network.bandwidth.value();
  shape.hidden = exchange.hidden;
  shape.tokens = exchange.tokens;
  shape.top_k = exchange.top_k;
  shape.experts = exchange.experts;
  shape.sms = chosen->sms;
  GridSequence program = exchange_kernels(call_of(*chosen), shape);
  if (exchange.direction == "dispatch" && exchange.hidden <= exchange.top_k) {
    program.kernels.front() = Grid{};
    program.kernels.front().name = "sent with the tokens";
  }
  op.engine = "link";
  take(*chosen, std::move(program), op);
  Grid& kernel = op.program.kernels.back();
  const ExchangeTime time = exchange_time(kernel.exchange);
  kernel.busy[WorkUnit::kLaunch] += time.latency;
  kernel.busy[WorkUnit::kLink] = time.moving;
  return true;
}

}  // namespace foretell

#include "model/timing/gpu/experts_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/timing/gpu/attention_timing.hpp"

namespace foretell {
namespace {

constexpr double kActivationBytes = 2;

// Bytes of the passes: rows to their experts, where they are copied, and into the type of the
// products; activation; the sum over the experts of a token.
double moved_by_passes(const LayerCall& call, const ExpertsShape& shape, const ExpertLoad& load,
                       double rows, double widths) {
  const LayerKernelFacts& facts = call.facts();
  const double converted = kActivationBytes + call.type().activation_bytes;
  const double copied = facts.permutes ? rows : load.tokens;
  const double choices = load.tokens * static_cast<double>(shape.top_k);
  const double walked = facts.all_choices ? choices : rows;
  const double summed = facts.all_choices || facts.sums_all ? choices : rows;
  const bool copies = facts.permutes || call.type().activation_bytes < kActivationBytes;
  const auto hidden = static_cast<double>(shape.hidden);
  return (copies ? copied * hidden * converted : 0) +
         (facts.activates ? walked * widths * kActivationBytes : 0) +
         (summed + load.tokens) * hidden * kActivationBytes;
}

// The launch of the table, with the experts of this layer in place of those that it was measured
// with.
Seconds launch_of(const LayerCall& call, const ExpertsShape& shape) {
  const LayerKernelFacts& facts = call.facts();
  const double fewer = facts.sorted_experts - static_cast<double>(shape.experts);
  return std::max(Seconds(0), call.factors().launch - facts.sort_per_expert * fewer);
}

// What a tuner knew of the rows: as many for each expert.
std::vector<LayerCall::Groups> tuned_for(const LayerKernelFacts& facts, const ExpertsShape& shape) {
  const auto tokens = static_cast<double>(shape.tokens);
  const double tuned = facts.tuned_at_powers ? std::exp2(std::floor(std::log2(tokens))) : tokens;
  const double choices = tuned * static_cast<double>(shape.top_k);
  const auto experts = static_cast<double>(shape.experts);
  const double rows = std::max(1.0, choices / experts);
  return {{rows, std::max(1.0, std::min(experts, choices) / static_cast<double>(shape.ep))}};
}

// By the rows of an expert, if all choices were for this GPU: the first tile with as many.
const LayerTile& tile_of_rows(const LayerKernelFacts& facts, const ExpertsShape& shape) {
  const double choices = static_cast<double>(shape.tokens) * static_cast<double>(shape.top_k);
  const std::int64_t here = shape.experts / shape.ep;
  const double rows = choices / static_cast<double>(here);
  const auto wide =
      std::find_if(facts.tiles.begin(), facts.tiles.end(),
                   [&](const LayerTile& tile) { return tile.rows >= facts.tile_of_rows * rows; });
  return wide == facts.tiles.end() ? facts.tiles.back() : *wide;
}

// Choices of other GPUs' experts, of which kernels that walk all choices have blocks: evenly.
std::vector<LayerCall::Groups> load_elsewhere(const LayerKernelFacts& facts,
                                              const ExpertsShape& shape, const ExpertLoad& load,
                                              double rows) {
  const double choices = load.tokens * static_cast<double>(shape.top_k) - rows;
  const std::int64_t elsewhere = shape.experts - shape.experts / shape.ep;
  const auto experts = static_cast<double>(elsewhere);
  if (!facts.all_choices || shape.ep == 1 || !(choices > 0)) return {};
  return {{std::max(1.0, choices / experts), std::min(experts, choices)}};
}

}  // namespace

const LayerTile* untuned_tile(const LayerKernelFacts& facts, const std::string& device,
                              const ExpertsShape& shape) {
  const std::int64_t here = shape.experts / shape.ep;
  if (facts.tuned != nullptr) {
    const auto of_device = facts.tuned->find(device);
    const std::pair<std::int64_t, std::int64_t> sizes(here, shape.intermediate / shape.tp);
    if (of_device != facts.tuned->end() && of_device->second.count(sizes) > 0) return nullptr;
  }
  const auto tokens = static_cast<double>(shape.tokens);
  for (const UntunedTile& tile : facts.untuned) {
    const double most = tile.up_to_experts ? static_cast<double>(here) : tile.most_tokens;
    if (!(most > 0) || tokens <= most) return &tile.tile;
  }
  return nullptr;
}

EnergyWork experts_work(const LayerKernelFacts& facts, const std::string& device,
                        const ExpertsShape& shape, std::vector<ExpertLoad> loads,
                        OperandType type) {
  constexpr int kWithGate = 3;
  constexpr int kWithoutGate = 2;
  EnergyExperts sizes;
  sizes.loads = std::move(loads);
  sizes.hidden = static_cast<double>(shape.hidden);
  sizes.intermediate = static_cast<double>(shape.intermediate) / static_cast<double>(shape.tp);
  sizes.top_k = static_cast<double>(shape.top_k);
  sizes.walks_all = facts.all_choices;
  sizes.activates = facts.activates;
  if (const LayerTile* tile = untuned_tile(facts, device, shape)) sizes.tile = *tile;
  sizes.matrices = shape.gated ? kWithGate : kWithoutGate;
  return experts_energy_work(sizes, type);
}

GridSequence experts_kernels(const LayerCall& call, const ExpertsShape& shape,
                             const ExpertLoad& load) {
  const auto hidden = static_cast<double>(shape.hidden);
  const double width = static_cast<double>(shape.intermediate) / static_cast<double>(shape.tp);
  double rows = 0;
  double touched = 0;
  for (const LayerCall::Groups& group : load.groups) {
    rows += group.rows * group.count;
    touched += group.count;
  }
  const double first = call.facts().gated && shape.gated ? 2 * width : width;
  const double moved = moved_by_passes(call, shape, load, rows, first + width);
  GridSequence program;
  Grid passes = call.pass("permute, activate and sum up", moved, load.tokens + rows);
  passes.launch = launch_of(call, shape) + call.factors().group * touched;
  program.kernels.push_back(passes);
  if (load.groups.empty()) return program;
  const std::vector<LayerCall::Groups> chosen_for = tuned_for(call.facts(), shape);
  const std::vector<LayerCall::Groups> elsewhere = load_elsewhere(call.facts(), shape, load, rows);
  const LayerTile* untuned = untuned_tile(call.facts(), call.device().id, shape);
  const auto add_product = [&](const char* name, double n, double k) {
    LayerTile tile;
    if (call.facts().tile_of_rows > 0) {
      tile = tile_of_rows(call.facts(), shape);
    } else {
      tile = untuned != nullptr ? *untuned : call.fastest_tile(chosen_for, n, k);
    }
    program.kernels.push_back(call.grouped_product(load.groups, n, k, tile, elsewhere));
    program.kernels.back().name = name;
  };
  add_product("first products of experts", first, hidden);
  add_product("last product of experts", hidden, width);
  return program;
}

Seconds experts_time(const LayerCall& call, const ExpertsShape& shape,
                     const std::vector<ExpertLoad>& loads) {
  Seconds time(0);
  for (const ExpertLoad& load : loads) {
    time += program_time(experts_kernels(call, shape, load), call.device());
  }
  return time / static_cast<double>(loads.size());
}

}  // namespace foretell

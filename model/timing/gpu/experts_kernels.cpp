#include "model/timing/gpu/experts_kernels.hpp"

#include <algorithm>
#include <cmath>

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
  const double walked = facts.all_choices ? load.tokens * static_cast<double>(shape.top_k) : rows;
  const bool copies = facts.permutes || call.type().activation_bytes < kActivationBytes;
  const auto hidden = static_cast<double>(shape.hidden);
  return (copies ? copied * hidden * converted : 0) +
         (facts.activates ? walked * widths * kActivationBytes : 0) +
         (walked + load.tokens) * hidden * kActivationBytes;
}

// What a library knows of the rows when it chooses tiles: as many for each expert.
std::vector<LayerCall::Groups> tuned_for(const LayerKernelFacts& facts, const ExpertsShape& shape) {
  const auto tokens = static_cast<double>(shape.tokens);
  if (facts.untuned_tiles) {
    const std::int64_t here = shape.experts / shape.ep;
    const auto local = static_cast<double>(here);
    return {{tokens * static_cast<double>(shape.top_k) / local, local}};
  }
  const double tuned = facts.tuned_at_powers ? std::exp2(std::floor(std::log2(tokens))) : tokens;
  const double choices = tuned * static_cast<double>(shape.top_k);
  const auto experts = static_cast<double>(shape.experts);
  const double rows = std::max(1.0, choices / experts);
  return {{rows, std::max(1.0, std::min(experts, choices) / static_cast<double>(shape.ep))}};
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
  passes.launch = call.factors().launch + call.factors().group * touched;
  program.kernels.push_back(passes);
  if (load.groups.empty()) return program;
  const std::vector<LayerCall::Groups> chosen_for = tuned_for(call.facts(), shape);
  const std::vector<LayerCall::Groups> elsewhere = load_elsewhere(call.facts(), shape, load, rows);
  program.kernels.push_back(
      call.grouped_product(load.groups, first, hidden, chosen_for, elsewhere));
  program.kernels.back().name = "first products of experts";
  program.kernels.push_back(
      call.grouped_product(load.groups, hidden, width, chosen_for, elsewhere));
  program.kernels.back().name = "last product of experts";
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

#include "model/timing/gpu/experts_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/timing/gpu/attention_timing.hpp"

namespace foretell {
namespace {

constexpr const char* kBalanced = "balanced";
constexpr const char* kPowerLaw = "power_law_";
constexpr int kDraws = 5;
constexpr double kActivationBytes = 2;

double power_exponent(const std::string& distribution) {
  if (distribution == kBalanced) return 0;
  if (starts_with(distribution, kPowerLaw)) {
    try {
      std::size_t used = 0;
      const std::string text = distribution.substr(std::string(kPowerLaw).size());
      const double exponent = std::stod(text, &used);
      if (used == text.size() && exponent > 0 && exponent < 100) return exponent;
    } catch (const std::exception&) {  // said below
    }
  }
  throw UserError("distribution: '" + distribution +
                  "' is not known; write balanced or power_law_1.2 with any exponent above 0");
}

ExpertLoad as_load(const std::map<std::int64_t, double>& counts) {
  ExpertLoad load;
  for (const auto& [rows, count] : counts) {
    if (rows > 0) load.push_back({static_cast<double>(rows), count});
  }
  return load;
}

// Token t takes experts t + j ceil(experts / top_k), around the end; few tokens spread out.
ExpertLoad balanced_load(const ExpertsShape& shape) {
  const std::int64_t experts = shape.experts;
  const std::int64_t local = experts / shape.ep;
  const std::int64_t stride = (experts + shape.top_k - 1) / shape.top_k;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(local));
  const std::int64_t rounds = shape.tokens >= stride ? shape.tokens / experts : 0;
  const std::int64_t rest = shape.tokens - rounds * experts;
  for (std::int64_t t = 0; t < rest; ++t) {
    const std::int64_t first = shape.tokens >= stride ? t : t * stride / shape.tokens;
    for (std::int64_t j = 0; j < shape.top_k; ++j) {
      const std::int64_t expert = (first + j * stride) % experts;
      if (expert < local) ++rows[static_cast<std::size_t>(expert)];
    }
  }
  std::map<std::int64_t, double> counts;
  for (const std::int64_t count : rows) ++counts[count + rounds * shape.top_k];
  return as_load(counts);
}

// SplitMix64 (Steele et al., 2014), for numbers from 0 to 1.
double next_uniform(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t bits = state;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((bits ^ (bits >> 31U)) >> 11U) * 0x1.0p-53;
}

// Loads by the inverse of the distribution between its ends, scaled to the tokens, at most one row
// of a token for an expert; the group of experts with the largest sum.
ExpertLoad drawn_load(const ExpertsShape& shape, double exponent, std::uint64_t& state) {
  const auto tokens = static_cast<double>(shape.tokens);
  const bool many = shape.tokens * shape.top_k > shape.experts;
  const double low = many ? 1 : 0.01;
  const double high = many ? std::max(1.001, tokens * 0.8) : 2;
  const double power = exponent == 1 ? 1e-9 : 1 - exponent;
  const double from = std::pow(low, power);
  const double to = std::pow(high, power);
  std::vector<double> loads(static_cast<std::size_t>(shape.experts));
  double sum = 0;
  for (double& load : loads) {
    load = std::pow((to - from) * next_uniform(state) + from, 1 / power);
    sum += load;
  }
  const double scale = tokens * static_cast<double>(shape.top_k) / sum;
  const auto local = static_cast<std::size_t>(shape.experts / shape.ep);
  std::size_t largest = 0;
  double most = -1;
  for (std::size_t first = 0; first < loads.size(); first += local) {
    double group = 0;
    for (std::size_t i = first; i < first + local; ++i) {
      loads[i] = std::min(tokens, std::round(loads[i] * scale));
      group += loads[i];
    }
    if (group > most) {
      most = group;
      largest = first;
    }
  }
  std::map<std::int64_t, double> counts;
  for (std::size_t i = largest; i < largest + local; ++i) {
    ++counts[static_cast<std::int64_t>(loads[i])];
  }
  return as_load(counts);
}

}  // namespace

void check_experts_shape(const ExpertsShape& shape) {
  for (const std::int64_t size : {shape.tokens, shape.hidden, shape.intermediate, shape.top_k,
                                  shape.experts, shape.tp, shape.ep}) {
    if (size < 1) throw UserError("experts: sizes and splits are at least 1");
  }
  if (shape.top_k > shape.experts) {
    throw UserError(
        fmt::format("top_k: {} is more than the {} experts there are", shape.top_k, shape.experts));
  }
  if (shape.experts % shape.ep != 0) {
    throw UserError(fmt::format("ep: {} does not divide {} experts", shape.ep, shape.experts));
  }
  if (shape.intermediate % shape.tp != 0) {
    throw UserError(
        fmt::format("tp: {} does not divide experts {} wide", shape.tp, shape.intermediate));
  }
  power_exponent(shape.distribution);
}

std::vector<ExpertLoad> expert_loads(const ExpertsShape& shape) {
  check_experts_shape(shape);
  const double exponent = power_exponent(shape.distribution);
  if (!(exponent > 0)) return {balanced_load(shape)};
  std::vector<ExpertLoad> loads;
  std::uint64_t state = 1;
  for (int i = 0; i < kDraws; ++i) loads.push_back(drawn_load(shape, exponent, state));
  return loads;
}

GridSequence experts_kernels(const LayerCall& call, const ExpertsShape& shape,
                             const ExpertLoad& load) {
  const auto hidden = static_cast<double>(shape.hidden);
  const double width = static_cast<double>(shape.intermediate) / static_cast<double>(shape.tp);
  const auto tokens = static_cast<double>(shape.tokens);
  double rows = 0;
  double touched = 0;
  for (const LayerCall::Groups& group : load) {
    rows += group.rows * group.count;
    touched += group.count;
  }
  const double first = call.facts().gated ? 2 * width : width;
  const double moved = rows * (hidden * (2 * kActivationBytes + call.type().activation_bytes) +
                               (first + width) * kActivationBytes) +
                       2 * tokens * hidden * kActivationBytes;
  GridSequence program;
  Grid passes = call.pass("permute, activate and sum up", moved, tokens + rows);
  passes.launch = call.factors().launch + call.factors().group * touched;
  program.kernels.push_back(passes);
  if (load.empty()) return program;
  program.kernels.push_back(call.grouped_product(load, first, hidden));
  program.kernels.back().name = "first products of experts";
  program.kernels.push_back(call.grouped_product(load, hidden, width));
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

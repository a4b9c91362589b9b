#include "model/timing/gpu/expert_loads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr const char* kBalanced = "balanced";
constexpr const char* kPowerLaw = "power_law_";

double power_exponent(const std::string& distribution) {
  if (distribution == kBalanced) return 0;
  if (starts_with(distribution, kPowerLaw)) {
    const double exponent =
        to_number(distribution.substr(std::string_view(kPowerLaw).size())).value_or(0);
    if (exponent > 0 && exponent < 100) return exponent;
  }
  throw UserError("distribution: '" + distribution +
                  "' is not known; write balanced or power_law_1.2 with any exponent above 0");
}

// Grants the wishes of tokens, and sums up rows.
class Router {
 public:
  Router(const ExpertsShape& shape, const TableRouting& routing)
      : experts_(static_cast<std::size_t>(shape.experts)),
        local_(experts_ / static_cast<std::size_t>(shape.ep)),
        top_k_(static_cast<std::size_t>(shape.top_k)),
        groups_(static_cast<std::size_t>(routing.groups)),
        top_groups_(static_cast<std::size_t>(routing.top_groups)),
        others_to_first_(routing.others_to_first),
        first_only_(routing.first_only),
        wishes_(experts_),
        allowed_(experts_, true),
        rows_(local_) {}

  // `tokens` tokens that wish for these experts, one for each choice.
  void route(const std::vector<std::size_t>& wished, std::int64_t tokens) {
    for (const std::size_t expert : wished) ++wishes_[expert];
    if (top_groups_ < groups_) choose_groups();
    std::vector<std::size_t> granted;
    for (const std::size_t expert : wished) {
      const bool is_new = std::find(granted.begin(), granted.end(), expert) == granted.end();
      if (allowed_[expert] && is_new) granted.push_back(expert);
    }
    for (std::size_t expert = 0; granted.size() < top_k_ && expert < experts_; ++expert) {
      if (allowed_[expert] && wishes_[expert] == 0) granted.push_back(expert);
    }
    for (const std::size_t expert : wished) wishes_[expert] = 0;
    take(granted, tokens);
  }

  ExpertLoad load() const {
    std::map<std::int64_t, double> counts;
    for (const std::int64_t rows : rows_) ++counts[rows];
    ExpertLoad load;
    for (const auto& [rows, count] : counts) {
      if (rows > 0) load.groups.push_back({static_cast<double>(rows), count});
    }
    load.tokens = static_cast<double>(tokens_);
    return load;
  }

 private:
  // The groups with the largest sum of their two best scores; a score grows with the wishes.
  void choose_groups() {
    const std::size_t each = experts_ / groups_;
    std::vector<std::pair<double, std::size_t>> scores;
    for (std::size_t group = 0; group < groups_; ++group) {
      double best = 1;
      double next = 1;
      for (std::size_t i = group * each; i < (group + 1) * each; ++i) {
        const double score = std::exp(wishes_[i]);
        next = std::max(next, std::min(best, score));
        best = std::max(best, score);
      }
      scores.emplace_back(-(best + next), group);
    }
    std::sort(scores.begin(), scores.end());
    std::fill(allowed_.begin(), allowed_.end(), false);
    for (std::size_t i = 0; i < top_groups_; ++i) {
      const auto first = allowed_.begin() + static_cast<std::ptrdiff_t>(scores[i].second * each);
      std::fill(first, first + static_cast<std::ptrdiff_t>(each), true);
    }
  }

  void take(const std::vector<std::size_t>& granted, std::int64_t tokens) {
    if (first_only_) {
      tokens_ += tokens;
      rows_[0] += tokens;
      return;
    }
    const bool any = std::any_of(granted.begin(), granted.end(),
                                 [&](std::size_t expert) { return expert < local_; });
    if (any || !others_to_first_) tokens_ += tokens;
    for (const std::size_t expert : granted) {
      if (expert < local_) {
        rows_[expert] += tokens;
      } else if (any && others_to_first_) {
        rows_[0] += tokens;
      }
    }
  }

  std::size_t experts_;
  std::size_t local_;
  std::size_t top_k_;
  std::size_t groups_;
  std::size_t top_groups_;
  bool others_to_first_;
  bool first_only_;
  std::vector<int> wishes_;
  std::vector<bool> allowed_;
  std::vector<std::int64_t> rows_;
  std::int64_t tokens_ = 0;
};

// Token t takes experts t + j ceil(experts / top_k), around the end; few tokens spread out.
ExpertLoad balanced_load(const ExpertsShape& shape, const TableRouting& routing) {
  const std::int64_t stride = (shape.experts + shape.top_k - 1) / shape.top_k;
  const bool many = shape.tokens >= stride;
  const std::int64_t different = many ? std::min(shape.tokens, shape.experts) : shape.tokens;
  Router router(shape, routing);
  std::vector<std::size_t> wished(static_cast<std::size_t>(shape.top_k));
  for (std::int64_t t = 0; t < different; ++t) {
    const std::int64_t first = many ? t : t * stride / shape.tokens;
    for (std::int64_t j = 0; j < shape.top_k; ++j) {
      wished[static_cast<std::size_t>(j)] =
          static_cast<std::size_t>((first + j * stride) % shape.experts);
    }
    router.route(wished, (shape.tokens - t - 1) / different + 1);
  }
  return router.load();
}

// SplitMix64 (Steele et al., 2014), for numbers from 0 to 1.
double next_uniform(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t bits = state;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((bits ^ (bits >> 31U)) >> 11U) * 0x1.0p-53;
}

// Experts from the largest wish to the smallest.
std::vector<std::size_t> by_wish(const std::vector<std::int64_t>& wishes) {
  std::vector<std::size_t> order(wishes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wishes[a] > wishes[b]; });
  return order;
}

// One more for experts with the fewest, at even distances; returns how many were given.
std::int64_t spread_over_fewest(std::vector<std::int64_t>& wishes, std::int64_t missing) {
  const std::int64_t fewest = *std::min_element(wishes.begin(), wishes.end());
  std::vector<std::size_t> experts;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    if (wishes[i] == fewest) experts.push_back(i);
  }
  const auto given = std::min(experts.size(), static_cast<std::size_t>(missing));
  for (std::size_t i = 0; i < given; ++i) ++wishes[experts[i * experts.size() / given]];
  return static_cast<std::int64_t>(given);
}

// Wishes by the inverse of the distribution between its ends, scaled to the choices of all tokens;
// what rounding leaves over goes to those with the fewest, what it adds is taken from the largest.
std::vector<std::int64_t> drawn_wishes(const ExpertsShape& shape, double exponent,
                                       std::uint64_t& state) {
  const auto tokens = static_cast<double>(shape.tokens);
  const bool many = shape.tokens * shape.top_k > shape.experts;
  const RoutingShapes& law = kernel_shapes().routing;
  constexpr double kLeastHigh = 1.001;  // above the low end, so that there is something to draw
  const double low = many ? 1 : law.few_least;
  const double high = many ? std::max(kLeastHigh, tokens * law.largest_share) : law.few_most;
  const double power = exponent == 1 ? 1e-9 : 1 - exponent;
  const double from = std::pow(low, power);
  const double to = std::pow(high, power);
  std::vector<double> drawn(static_cast<std::size_t>(shape.experts));
  double sum = 0;
  for (double& wish : drawn) {
    wish = std::pow((to - from) * next_uniform(state) + from, 1 / power);
    sum += wish;
  }
  const double scale = tokens * static_cast<double>(shape.top_k) / sum;
  std::vector<std::int64_t> wishes;
  std::int64_t missing = shape.tokens * shape.top_k;
  for (const double wish : drawn) {
    wishes.push_back(std::llround(wish * scale));
    missing -= wishes.back();
  }
  while (missing > 0) missing -= spread_over_fewest(wishes, missing);
  for (; missing < 0; ++missing) --*std::max_element(wishes.begin(), wishes.end());
  return wishes;
}

// The experts of the GPU with the largest sum change places with those of the first.
void largest_first(std::vector<std::int64_t>& wishes, std::size_t local) {
  std::size_t largest = 0;
  std::int64_t most = -1;
  for (std::size_t first = 0; first < wishes.size(); first += local) {
    const auto begin = wishes.begin() + static_cast<std::ptrdiff_t>(first);
    const std::int64_t sum =
        std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(local), std::int64_t{0});
    if (sum > most) {
      most = sum;
      largest = first;
    }
  }
  for (std::size_t i = 0; largest > 0 && i < local; ++i) std::swap(wishes[i], wishes[largest + i]);
}

// Wishes stand in a row, the largest expert's first; token t takes those at t, t + tokens, …, so
// that neighbours wish for the same but where the row goes over to the next expert.
ExpertLoad drawn_load(const ExpertsShape& shape, const TableRouting& routing, double exponent,
                      std::uint64_t& state) {
  std::vector<std::int64_t> wishes = drawn_wishes(shape, exponent, state);
  largest_first(wishes, static_cast<std::size_t>(shape.experts / shape.ep));
  const std::vector<std::size_t> order = by_wish(wishes);
  std::vector<std::int64_t> ends;
  std::set<std::int64_t> changes{0};
  std::int64_t end = 0;
  for (const std::size_t expert : order) {
    end += wishes[expert];
    ends.push_back(end);
    changes.insert(end % shape.tokens);
  }
  Router router(shape, routing);
  std::vector<std::size_t> wished(static_cast<std::size_t>(shape.top_k));
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    const auto next = std::next(change);
    for (std::int64_t j = 0; j < shape.top_k; ++j) {
      const auto place = std::upper_bound(ends.begin(), ends.end(), *change + j * shape.tokens);
      wished[static_cast<std::size_t>(j)] = order[static_cast<std::size_t>(place - ends.begin())];
    }
    router.route(wished, (next == changes.end() ? shape.tokens : *next) - *change);
  }
  return router.load();
}

}  // namespace

void check_experts_shape(const ExpertsShape& shape, const TableRouting& routing) {
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
  if (shape.experts % routing.groups != 0 ||
      shape.experts / routing.groups * routing.top_groups < shape.top_k) {
    throw UserError(fmt::format("experts: {} of {} groups of {} experts do not give {} choices",
                                routing.top_groups, routing.groups, shape.experts, shape.top_k));
  }
  power_exponent(shape.distribution);
}

std::vector<ExpertLoad> expert_loads(const ExpertsShape& shape, const TableRouting& routing) {
  check_experts_shape(shape, routing);
  const double exponent = power_exponent(shape.distribution);
  if (!(exponent > 0)) return {balanced_load(shape, routing)};
  std::vector<ExpertLoad> loads;
  std::uint64_t state = 1;
  for (int i = 0; i < kernel_shapes().routing.draws; ++i)
    loads.push_back(drawn_load(shape, routing, exponent, state));
  return loads;
}

}  // namespace foretell

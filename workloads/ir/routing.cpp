#include "workloads/ir/routing.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::string_view kPowerLawPrefix = "power-law:";
constexpr std::string_view kLoadsPrefix = "loads:";
constexpr double kReach = 10;  // standard deviations beyond which nothing counts
constexpr double kMaxExponent = 10;

double parse_number(std::string_view text, std::string_view whole) {
  if (const std::optional<double> value = to_number(text)) return *value;
  throw UserError(
      "experts: '" + std::string(text) + "' in '" + std::string(whole) +
      "' is no number; write for example power-law:1.2, or a file with one load per line");
}

// The shortest text that reads back as the same number.
std::string number_text(double value) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

// Binomial numbers of rows: expert i stands for the quantile (i + 1/2) / count.
std::vector<double> binomial_quantiles(double rows, double chance, std::int64_t count) {
  if (chance >= 1) return std::vector<double>(static_cast<std::size_t>(count), rows);
  const double mean = rows * chance;
  const double reach = kReach * std::sqrt(mean * (1 - chance)) + 1;
  const auto log_chance = [&](double k) {
    return std::lgamma(rows + 1) - std::lgamma(k + 1) - std::lgamma(rows - k + 1) +
           k * std::log(chance) + (rows - k) * std::log1p(-chance);
  };
  const auto size = static_cast<std::size_t>(count);
  std::vector<double> result;
  double below = 0;
  for (double k = std::max(0.0, std::floor(mean - reach)); k <= rows; ++k) {
    below += std::exp(log_chance(k));
    while (result.size() < size &&
           (static_cast<double>(result.size()) + 0.5) / static_cast<double>(count) <= below) {
      result.push_back(k);
    }
    if (k > mean + reach) break;
  }
  result.resize(size, rows);
  return result;
}

// A number in (0, 1) that depends on nothing but its arguments (SplitMix64).
double pseudo_random(std::uint64_t draw, std::uint64_t index) {
  std::uint64_t z = (draw * 0x100000001B3ULL + index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  z ^= z >> 31U;
  return (static_cast<double>(z >> 11U) + 0.5) / 9007199254740992.0;  // 2^53
}

// Loads of the busiest of the ranks, ascending.
std::vector<double> busiest(const std::vector<double>& loads, std::int64_t held) {
  std::size_t best = 0;
  double most = -1;
  const auto size = static_cast<std::size_t>(held);
  for (std::size_t first = 0; first + size <= loads.size(); first += size) {
    const double sum =
        std::accumulate(loads.begin() + static_cast<std::ptrdiff_t>(first),
                        loads.begin() + static_cast<std::ptrdiff_t>(first + size), 0.0);
    if (sum <= most) continue;
    most = sum;
    best = first;
  }
  std::vector<double> mine(loads.begin() + static_cast<std::ptrdiff_t>(best),
                           loads.begin() + static_cast<std::ptrdiff_t>(best + size));
  std::sort(mine.begin(), mine.end());
  return mine;
}

struct Copy {
  double load = 0;
  std::int64_t copies = 1;  // of the same expert, this one included
};

// One of each expert and `redundant` more, the most loaded first.
std::vector<Copy> copies_of(const std::vector<double>& loads, std::int64_t redundant) {
  std::vector<std::int64_t> copies(loads.size(), 1);
  const auto load = [&](std::size_t i) { return loads[i] / static_cast<double>(copies[i]); };
  for (std::int64_t i = 0; i < redundant; ++i) {
    std::size_t most = 0;
    for (std::size_t expert = 1; expert < loads.size(); ++expert) {
      if (load(expert) > load(most)) most = expert;
    }
    ++copies[most];
  }
  std::vector<Copy> all;
  for (std::size_t i = 0; i < loads.size(); ++i)
    all.insert(all.end(), static_cast<std::size_t>(copies[i]), {load(i), copies[i]});
  std::stable_sort(all.begin(), all.end(),
                   [](const Copy& a, const Copy& b) { return a.load > b.load; });
  return all;
}

// The copies on the busiest of the ranks that they are placed on, ascending.
std::vector<Copy> busiest_of_placed(const std::vector<double>& loads, const RoutedTokens& routed) {
  struct Rank {
    double load = 0;
    std::vector<Copy> copies;
  };
  const auto places = static_cast<std::size_t>(routed.held);
  std::vector<Rank> ranks(
      static_cast<std::size_t>((routed.experts + routed.redundant) / routed.held));
  for (const Copy& copy : copies_of(loads, routed.redundant)) {
    Rank* least = nullptr;
    for (Rank& rank : ranks) {
      const bool has_place = rank.copies.size() < places;
      if (has_place && (least == nullptr || rank.load < least->load)) least = &rank;
    }
    FORETELL_CHECK(least != nullptr, "a place for every copy of an expert");
    least->load += copy.load;
    least->copies.push_back(copy);
  }
  const auto most = std::max_element(ranks.begin(), ranks.end(),
                                     [](const Rank& a, const Rank& b) { return a.load < b.load; });
  return {most->copies.rbegin(), most->copies.rend()};
}

// Loads of the rank that counts, ascending.
std::vector<double> busiest_rank(const std::vector<double>& loads, const RoutedTokens& routed) {
  if (routed.redundant == 0) return busiest(loads, routed.held);
  std::vector<double> mine;
  for (const Copy& copy : busiest_of_placed(loads, routed)) mine.push_back(copy.load);
  return mine;
}

// The load of every expert, where all have equal chances.
std::vector<double> equal_loads(const RoutedTokens& routed) {
  const double rows = static_cast<double>(routed.tokens * routed.top_k);
  return std::vector<double>(static_cast<std::size_t>(routed.experts),
                             rows / static_cast<double>(routed.experts));
}

// Rows of the rank that has most of them, where every token chooses experts with equal chances. The
// rows of a rank are nearly normal around the mean, and the largest of this many lies where Blom's
// formula has the expected largest of a normal sample (Statistical Estimates and Transformed
// Beta-Variables, 1958). Choices of a token differ, which narrows the spread, and so do copies,
// which each get an even share of the rows of their expert.
double rows_of_busiest(const RoutedTokens& routed) {
  const double ranks = std::round(static_cast<double>(routed.experts + routed.redundant) /
                                  static_cast<double>(routed.held));
  const double rows = static_cast<double>(routed.tokens * routed.top_k);
  const auto experts = static_cast<double>(routed.experts);
  double mean = rows * static_cast<double>(routed.held) / experts;
  double variance = mean;
  if (routed.redundant > 0) {
    mean = 0;
    variance = 0;
    for (const Copy& copy : busiest_of_placed(equal_loads(routed), routed)) {
      mean += copy.load;
      variance += copy.load / static_cast<double>(copy.copies);
    }
  }
  if (ranks <= 1) return mean;
  const double differ = (experts - static_cast<double>(routed.top_k)) / (experts - 1);
  const double deviation = std::sqrt(variance * (1 - 1 / ranks) * differ);
  const double largest =
      boost::math::quantile(boost::math::normal(), (ranks - 0.375) / (ranks + 0.25));
  const auto most = static_cast<double>(routed.tokens * std::min(routed.top_k, routed.held));
  return std::min(most, mean + largest * deviation);
}

// Where all experts have equal chances: few rows of an expert with many copies, more of others.
std::vector<double> rows_of_equal_experts(const RoutedTokens& routed, bool by_chance) {
  const double rows = static_cast<double>(routed.tokens * routed.top_k);
  std::map<std::int64_t, std::int64_t, std::greater<>> counts;  // of copies on this rank
  double mean = 0;
  const std::vector<double> loads = equal_loads(routed);
  for (const Copy& copy : busiest_of_placed(loads, routed)) {
    ++counts[copy.copies];
    mean += copy.load;
  }
  // By chance the rank that counts has more than the mean.
  const double each = loads.front() * (by_chance ? rows_of_busiest(routed) / mean : 1);
  std::vector<double> mine;
  for (const auto& [copies, count] : counts) {
    const double share = each / static_cast<double>(copies);
    const std::vector<double> some =
        by_chance ? binomial_quantiles(rows, share / rows, count)
                  : std::vector<double>(static_cast<std::size_t>(count), share);
    mine.insert(mine.end(), some.begin(), some.end());
  }
  std::sort(mine.begin(), mine.end());
  return mine;
}

// Scaled to `rows` rows; no expert gets more than every token.
std::vector<double> scaled(std::vector<double> loads, double rows, double most) {
  for (int round = 0; round < 8; ++round) {
    double fixed = 0;
    double free = 0;
    for (const double load : loads) (load >= most ? fixed : free) += load;
    if (!(free > 0)) break;
    const double factor = std::max(0.0, rows - fixed) / free;
    for (double& load : loads) load = load >= most ? most : std::min(most, load * factor);
  }
  return loads;
}

std::vector<double> drawn_rows(double exponent, const RoutedTokens& routed, const PowerLaw& law) {
  FORETELL_CHECK(law.draws > 0, "draws of a power law");
  const double rows = static_cast<double>(routed.tokens * routed.top_k);
  const double largest = std::max(2.0, law.largest_share * static_cast<double>(routed.tokens));
  const double power = 1 - exponent;
  const double reach = std::pow(largest, power) - 1;
  std::vector<double> mean(static_cast<std::size_t>(routed.held), 0);
  for (int draw = 0; draw < law.draws; ++draw) {
    std::vector<double> loads;
    for (std::int64_t i = 0; i < routed.experts; ++i) {
      const double u =
          pseudo_random(static_cast<std::uint64_t>(draw), static_cast<std::uint64_t>(i));
      loads.push_back(std::pow(reach * u + 1, 1 / power));
    }
    const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
    for (double& load : loads) load *= rows / sum;
    const std::vector<double> mine =
        busiest_rank(scaled(std::move(loads), rows, static_cast<double>(routed.tokens)), routed);
    for (std::size_t i = 0; i < mine.size(); ++i) mean[i] += mine[i] / law.draws;
  }
  return mean;
}

std::vector<double> measured_loads(const ExpertRouting& routing, const RoutedTokens& routed) {
  std::vector<double> loads;
  for (std::int64_t i = 0; i < routed.experts; ++i)
    loads.push_back(routing.loads[static_cast<std::size_t>(i) % routing.loads.size()]);
  const double rows = static_cast<double>(routed.tokens * routed.top_k);
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  for (double& load : loads) load *= rows / sum;
  return busiest_rank(scaled(std::move(loads), rows, static_cast<double>(routed.tokens)), routed);
}

// Expected rows of each expert of the rank that counts, ascending.
std::vector<double> expected_rows(const ExpertRouting& routing, const RoutedTokens& routed,
                                  const PowerLaw& law) {
  const double rows = static_cast<double>(routed.tokens * routed.top_k);
  const double all = static_cast<double>(routed.experts);
  const bool by_chance = routing.kind == RoutingKind::kRandom;
  if (routed.redundant > 0 && (by_chance || routing.kind == RoutingKind::kBalanced))
    return rows_of_equal_experts(routed, by_chance);
  switch (routing.kind) {
    case RoutingKind::kRandom:
      if (routed.experts == 1) return {rows};
      return binomial_quantiles(
          rows, rows_of_busiest(routed) / static_cast<double>(routed.held) / rows, routed.held);
    case RoutingKind::kBalanced: {
      // A stride over all experts: with fewer rows than experts they lie evenly apart.
      std::vector<double> result;
      for (std::int64_t i = routed.held; i > 0; --i) {
        result.push_back(std::floor(rows / all * static_cast<double>(i)) -
                         std::floor(rows / all * static_cast<double>(i - 1)));
      }
      std::sort(result.begin(), result.end());
      return result;
    }
    case RoutingKind::kPowerLaw:
      return drawn_rows(routing.exponent, routed, law);
    case RoutingKind::kLoads:
      return measured_loads(routing, routed);
  }
  throw InternalError(__FILE__, __LINE__, "routing without rows");
}

// Whole numbers with the same sum, rounded where the fractions are largest.
std::vector<std::int64_t> whole_rows(const std::vector<double>& expected, double sum) {
  std::vector<std::int64_t> rows;
  for (const double value : expected) rows.push_back(static_cast<std::int64_t>(value));
  std::int64_t rest =
      std::llround(sum) - std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  if (rest < 0 || rest > static_cast<std::int64_t>(rows.size())) {
    for (std::size_t i = rows.size(); rest != 0; i = i == 0 ? rows.size() : i) {
      --i;
      const std::int64_t change = rest > 0 ? 1 : -1;
      if (rows[i] + change < 0) continue;
      rows[i] += change;
      rest -= change;
    }
    return rows;
  }
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double fraction_a = expected[a] - std::floor(expected[a]);
    const double fraction_b = expected[b] - std::floor(expected[b]);
    return fraction_a != fraction_b ? fraction_a > fraction_b : a > b;
  });
  for (std::size_t i = 0; i < static_cast<std::size_t>(rest); ++i) ++rows[order[i]];
  return rows;
}

double rows_of_rank(const ExpertRouting& routing, const RoutedTokens& routed,
                    const std::vector<double>& expected) {
  if (routing.kind == RoutingKind::kRandom) return rows_of_busiest(routed);
  if (routed.redundant == 0 && routing.kind == RoutingKind::kBalanced) {
    const double share = static_cast<double>(routed.held) / static_cast<double>(routed.experts);
    return static_cast<double>(routed.tokens * routed.top_k) * share;
  }
  return std::accumulate(expected.begin(), expected.end(), 0.0);
}

}  // namespace

ExpertRouting parse_routing(std::string_view text) {
  const std::string_view word = trim(text);
  ExpertRouting routing;
  if (word.empty() || word == "random") return routing;
  if (word == "balanced") {
    routing.kind = RoutingKind::kBalanced;
  } else if (starts_with(word, kPowerLawPrefix)) {
    routing.kind = RoutingKind::kPowerLaw;
    routing.exponent = parse_number(word.substr(kPowerLawPrefix.size()), word);
    if (!(routing.exponent > 0) || routing.exponent == 1 || routing.exponent > kMaxExponent) {
      throw UserError("experts: the exponent of '" + std::string(word) +
                      "' must be above 0, up to 10, and not 1; published tables take 1.2");
    }
  } else if (starts_with(word, kLoadsPrefix)) {
    routing.kind = RoutingKind::kLoads;
    double sum = 0;
    for (const std::string& part : split(word.substr(kLoadsPrefix.size()), ',')) {
      routing.loads.push_back(parse_number(trim(part), word));
      if (routing.loads.back() < 0)
        throw UserError("experts: a load in '" + std::string(word) + "' is below 0");
      sum += routing.loads.back();
    }
    if (!(sum > 0)) throw UserError("experts: '" + std::string(word) + "' holds no load above 0");
  } else {
    throw UserError("experts: '" + std::string(word) +
                    "' is no routing; known are random, balanced, power-law:EXPONENT and a file "
                    "with one load per line");
  }
  return routing;
}

std::string to_string(const ExpertRouting& routing) {
  switch (routing.kind) {
    case RoutingKind::kRandom:
      return "random";
    case RoutingKind::kBalanced:
      return "balanced";
    case RoutingKind::kPowerLaw:
      return std::string(kPowerLawPrefix) + number_text(routing.exponent);
    case RoutingKind::kLoads: {
      std::vector<std::string> parts;
      for (const double load : routing.loads) parts.push_back(number_text(load));
      return std::string(kLoadsPrefix) + join(parts, ",");
    }
  }
  throw InternalError(__FILE__, __LINE__, "routing without a text");
}

double ranks_reached(std::int64_t ranks, std::int64_t top_k) {
  const auto all = static_cast<double>(ranks);
  return all * (1 - std::pow(1 - 1 / all, static_cast<double>(top_k)));
}

std::vector<std::int64_t> rows_per_expert(const ExpertRouting& routing, const RoutedTokens& routed,
                                          const PowerLaw& law) {
  const std::int64_t copies = routed.experts + routed.redundant;
  FORETELL_CHECK(routed.tokens > 0 && routed.held > 0 && routed.held <= copies,
                 "experts with rows");
  FORETELL_CHECK(routed.redundant == 0 || copies % routed.held == 0,
                 "as many experts and copies of some on each rank");
  const std::vector<double> expected = expected_rows(routing, routed, law);
  const std::vector<std::int64_t> sorted =
      whole_rows(expected, std::max(1.0, rows_of_rank(routing, routed, expected)));
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::int64_t taken = sorted[i % 2 == 0 ? i / 2 : sorted.size() - 1 - i / 2];
    if (taken > 0) result.push_back(taken);
  }
  return result;
}

}  // namespace foretell

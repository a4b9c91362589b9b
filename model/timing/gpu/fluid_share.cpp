#include "model/timing/gpu/fluid_share.hpp"

#include <algorithm>

namespace foretell {
namespace {

constexpr double kFull = 1e-12;  // of a resource that is left when it counts as taken up

// How far the speeds of those that still rise may go before a resource is taken up.
double next_limit(const std::vector<GridDemand>& demands, const std::vector<bool>& rising,
                  const GridDemand& taken) {
  double limit = 1;
  for (std::size_t r = 0; r < kGridResources; ++r) {
    double asked = 0;
    for (std::size_t g = 0; g < demands.size(); ++g) asked += rising[g] ? demands[g][r] : 0;
    if (asked > 0) limit = std::min(limit, std::max(0.0, 1 - taken[r]) / asked);
  }
  return limit;
}

}  // namespace

const char* to_string(GridResource resource) {
  static constexpr std::array<const char*, kGridResources> kNames = {
      "sms", "tensor", "vector", "special", "l2", "dram", "threads", "registers", "shared_memory"};
  return kNames.at(static_cast<std::size_t>(resource));
}

std::vector<double> fair_speeds(const std::vector<GridDemand>& demands, GridDemand taken) {
  std::vector<double> speeds(demands.size(), 0);
  std::vector<bool> rising(demands.size(), true);
  std::size_t left = demands.size();
  while (left > 0) {
    const double limit = next_limit(demands, rising, taken);
    GridDemand load = taken;
    for (std::size_t g = 0; g < demands.size(); ++g) {
      if (!rising[g]) continue;
      speeds[g] = limit;
      for (std::size_t r = 0; r < kGridResources; ++r) load[r] += limit * demands[g][r];
    }
    const auto stays = [&](const GridDemand& demand) {
      for (std::size_t r = 0; r < kGridResources; ++r) {
        if (demand[r] > 0 && load[r] >= 1 - kFull) return true;
      }
      return limit >= 1;
    };
    for (std::size_t g = 0; g < demands.size(); ++g) {
      if (!rising[g] || !stays(demands[g])) continue;
      rising[g] = false;
      --left;
      for (std::size_t r = 0; r < kGridResources; ++r) taken[r] += limit * demands[g][r];
    }
  }
  return speeds;
}

}  // namespace foretell

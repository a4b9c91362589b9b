#include <fmt/format.h>

#include <algorithm>

#include "model/app/serving/request/serve_parts.hpp"

namespace foretell {
namespace {

constexpr double kMaxOfIt = 0.5;
constexpr double kOften = 0.25;

struct NamedShare {
  const char* name;
  Spent kind;
};

constexpr NamedShare kShares[] = {{"host", kHost},
                                  {"prompts", kPrompts},
                                  {"decode attention", kDecodeAttention},
                                  {"decode weights", kDecodeRest},
                                  {"exchange", kExchange},
                                  {"copies to and from the host", kCopies}};

}  // namespace

std::map<std::string, double> time_shares_of(const ServiceResult& result, int batches) {
  std::map<std::string, double> shares;
  const Seconds all = result.end * batches;
  if (!(all > Seconds(0))) return shares;
  double busy = 0;
  for (const NamedShare& one : kShares) {
    const double share = std::clamp(result.spent[one.kind] / all, 0.0, 1.0);
    shares[one.name] = share;
    busy += share;
  }
  shares["idle"] = std::clamp(1 - busy, 0.0, 1.0);
  return shares;
}

std::string what_binds(const ServiceResult& result) {
  if (result.answered == 0 || !(result.busy > Seconds(0))) return "nothing";
  if (result.link_busy > kMaxOfIt * result.end) return "link between prefill and decode";
  Seconds busy;  // with the time that steps wait for a host that prepares others
  for (const NamedShare& one : kShares) busy += result.spent[one.kind];
  std::string queue;
  if (result.waited[kForBlocks] > kOften * busy) {
    queue = ", requests wait for KV blocks";
  } else if (result.waited[kForSequences] > kOften * busy) {
    queue = ", requests wait for a place in the batch";
  } else if (result.waited[kForTokens] > kOften * busy) {
    queue = ", requests wait for room in the step";
  }
  const auto named = [&](const char* name, Seconds time) {
    return fmt::format("{} ({:.0f} % of the busy time){}", name, 100 * (time / busy), queue);
  };
  // While the host takes longer than the devices, these are busy, too, and no faster ones help.
  if (result.host_bound > kMaxOfIt * busy) return named("host", result.host_bound);
  const NamedShare* most = &kShares[0];
  for (const NamedShare& one : kShares) {
    if (result.spent[one.kind] > result.spent[most->kind]) most = &one;
  }
  return named(most->name, result.spent[most->kind]);
}

}  // namespace foretell

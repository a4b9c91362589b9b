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
  const double all = result.end_s * batches;
  if (all <= 0) return shares;
  double busy = 0;
  for (const NamedShare& one : kShares) {
    const double share = std::clamp(result.spent_s[one.kind] / all, 0.0, 1.0);
    shares[one.name] = share;
    busy += share;
  }
  shares["idle"] = std::clamp(1 - busy, 0.0, 1.0);
  return shares;
}

std::string what_binds(const ServiceResult& result) {
  if (result.answered == 0 || result.busy_s <= 0) return "nothing";
  if (result.link_busy_s > kMaxOfIt * result.end_s) return "link between prefill and decode";
  const double busy = result.busy_s;
  std::string queue;
  if (result.waited_s[kForBlocks] > kOften * busy) {
    queue = ", requests wait for KV blocks";
  } else if (result.waited_s[kForSequences] > kOften * busy) {
    queue = ", requests wait for a place in the batch";
  } else if (result.waited_s[kForTokens] > kOften * busy) {
    queue = ", requests wait for room in the step";
  }
  const NamedShare* most = &kShares[0];
  for (const NamedShare& one : kShares) {
    if (result.spent_s[one.kind] > result.spent_s[most->kind]) most = &one;
  }
  return fmt::format("{} ({:.0f} % of the busy time){}", most->name,
                     100 * result.spent_s[most->kind] / busy, queue);
}

}  // namespace foretell

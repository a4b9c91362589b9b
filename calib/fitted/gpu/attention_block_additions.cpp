#include "calib/fitted/gpu/attention_block_additions.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

using Additions = ChosenOperatorFactors<AttentionBlockFactors>;

// Of a call whose kernels the host launches one by one.
Seconds host_of(const AttentionBlockFactors& factors, bool always_chooses) {
  return always_chooses && factors.host_chooses > Seconds(0) ? factors.host_chooses : factors.host;
}

}  // namespace

std::optional<Additions> attention_block_additions(const GpuFactors& factors,
                                                   const AttentionBlockFacts& facts,
                                                   const AttentionBlockFacts::Call& call,
                                                   const std::string& served_as) {
  const auto table = [&](const std::string& library, const std::string& kind,
                         const std::string& phase) {
    return factors.attention_block(library + ' ' + kind + ' ' + phase);
  };
  if (auto own = table(call.framework, call.kind, served_as)) return own;
  const AttentionBlockFacts::StandIn other = facts.stand_in(call);
  if (other.library.empty()) return std::nullopt;
  auto lent = table(other.library, call.kind, call.phase);
  if (!lent) return std::nullopt;
  AttentionBlockFactors& values = lent->factors;
  const auto called = table(call.framework, other.host_of, call.phase);
  const bool chooses = other.host_chooses && facts.always_chooses(call);
  values.host = called ? host_of(called->factors, chooses) + other.host_more : Seconds(0);
  if (other.attention > 0) values.attention = other.attention;
  if (other.narrow_cache > 0) values.narrow_cache = other.narrow_cache;
  if (other.indexer > 0) values.indexer = other.indexer;
  if (other.kernels > 0) values.kernels = other.kernels;
  const double wider = factors.common().unmeasured_interval;
  lent->interval80 = {std::min(std::pow(lent->interval80.first, wider), other.low),
                      std::max(std::pow(lent->interval80.second, wider), other.high)};
  return lent;
}

}  // namespace foretell

#include <algorithm>
#include <utility>

#include "model/app/serving/request/serve_parts.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMaxTimeline = 100'000;

void fill_timeline(const ServiceResult& result, int batches, std::vector<ServeSecond>& timeline) {
  const double step = result.timeline_step.value();
  for (std::size_t i = 0; i < std::min(result.timeline.size(), kMaxTimeline); ++i) {
    const TimelineSecond& one = result.timeline[i];
    timeline.push_back({static_cast<double>(i) * step, one.running, one.waiting,
                        one.kv_share / batches, one.tokens / step,
                        one.decodes / std::max(1.0, static_cast<double>(one.decode_steps))});
  }
}

}  // namespace

void fill_series(const ServiceResult& result, int batches, ServeRecord& record) {
  fill_timeline(result, batches, record.timeline);
  const std::vector<double>& shares = serve_shares();
  const std::pair<const char*, ServedTime> kinds[] = {
      {"ttft_s", ServedTime::kTtft}, {"tpot_s", ServedTime::kTpot}, {"e2e_s", ServedTime::kE2e}};
  for (const auto& [name, which] : kinds) {
    for (const Seconds time : times_at(result, which, shares)) {
      record.distributions[name].push_back(time.value());
    }
  }
}

}  // namespace foretell

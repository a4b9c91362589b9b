#include "model/serving/service_result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foretell {
namespace {

// The rank of the smallest value that a share of all does not exceed, from 1 on.
std::size_t rank_of(double share, std::size_t count) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(count))));
}

Statistic statistic_of(std::vector<float> values) {
  Statistic statistic;
  if (values.empty()) return statistic;
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  statistic.mean = Seconds(sum / static_cast<double>(values.size()));
  const auto quantile = [&](double share) {
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(rank_of(share, values.size()) - 1);
    std::nth_element(values.begin(), place, values.end());
    return Seconds(static_cast<double>(*place));
  };
  statistic.p50 = quantile(0.5);
  statistic.p90 = quantile(0.9);
  statistic.p95 = quantile(0.95);
  statistic.p99 = quantile(0.99);
  return statistic;
}

template <class Value>
std::vector<float> of_answered(const ServiceResult& result, const Value& value) {
  std::vector<float> values;
  for (std::size_t i = static_cast<std::size_t>(result.warm_up); i < result.requests.size(); ++i) {
    const ServedRequest& request = result.requests[i];
    if (request.end_s < 0) continue;
    const float one = value(request);
    if (one >= 0) values.push_back(one);
  }
  return values;
}

float first_time(const ServedRequest& request) { return request.first_s; }

float token_time(const ServedRequest& request) {
  if (request.output < 2) return -1.0F;
  return (request.end_s - request.first_s) / static_cast<float>(request.output - 1);
}

float whole_time(const ServedRequest& request) { return request.end_s; }

struct Window {
  Seconds time;
  double requests = 0;
  double tokens = 0;
};

// From the first arrival that counts to the last answer that counts.
Window window_of(const ServiceResult& result) {
  Window window;
  Seconds begin(-1);
  Seconds end;
  for (std::size_t i = static_cast<std::size_t>(result.warm_up); i < result.requests.size(); ++i) {
    const ServedRequest& request = result.requests[i];
    if (begin < Seconds(0)) begin = request.arrival;
    if (request.end_s < 0) continue;
    end = std::max(end, request.arrival + Seconds(static_cast<double>(request.end_s)));
    window.requests += 1;
    window.tokens += request.output;
  }
  window.time = std::max(Seconds(0), end - std::max(Seconds(0), begin));
  return window;
}

}  // namespace

void note_batch(ServiceResult& result, Seconds now, std::int64_t decodes) {
  const auto second = static_cast<std::size_t>(now / result.timeline_step);
  if (decodes == 0 || second >= kMaxSeconds) return;
  if (result.timeline.size() <= second) result.timeline.resize(second + 1);
  result.timeline[second].decodes += static_cast<double>(decodes);
  ++result.timeline[second].decode_steps;
}

Statistic ttft_of(const ServiceResult& result) {
  return statistic_of(of_answered(result, first_time));
}

Statistic tpot_of(const ServiceResult& result) {
  return statistic_of(of_answered(result, token_time));
}

Statistic itl_of(const ServiceResult& result) {
  const LogHistogram& itl = result.itl;
  return {itl.mean(), itl.quantile(0.5), itl.quantile(0.9), itl.quantile(0.95), itl.quantile(0.99)};
}

Statistic e2e_of(const ServiceResult& result) {
  return statistic_of(of_answered(result, whole_time));
}

std::vector<Seconds> times_at(const ServiceResult& result, ServedTime which,
                              const std::vector<double>& shares) {
  std::vector<float> values = of_answered(result, which == ServedTime::kTtft   ? first_time
                                                  : which == ServedTime::kTpot ? token_time
                                                                               : whole_time);
  std::vector<Seconds> times;
  if (values.empty()) return times;
  std::sort(values.begin(), values.end());
  for (const double share : shares)
    times.emplace_back(static_cast<double>(values[rank_of(share, values.size()) - 1]));
  return times;
}

double output_tokens_per_s(const ServiceResult& result) {
  const Window window = window_of(result);
  return window.time > Seconds(0) ? window.tokens / window.time.value() : 0;
}

double arrival_limit(const ServiceResult& result, bool by_chance) {
  const Window window = window_of(result);
  const auto first = static_cast<std::size_t>(result.warm_up);
  if (first >= result.requests.size()) return std::numeric_limits<double>::infinity();
  const Seconds coming = result.last_arrival - result.requests[first].arrival;
  if (coming <= Seconds(0) || window.requests == 0) return std::numeric_limits<double>::infinity();
  const auto came = std::count_if(
      result.requests.begin() + static_cast<std::ptrdiff_t>(first), result.requests.end(),
      [&](const ServedRequest& request) { return request.arrival <= result.last_arrival; });
  const double came_per_answer = static_cast<double>(came) / window.requests;
  constexpr double kUpTo90Percent = 1.2816;  // of a normal distribution, in standard deviations
  const double more = by_chance ? 1 + kUpTo90Percent / std::sqrt(window.requests) : 1;
  return std::max(1.0, window.time / coming * came_per_answer * more);
}

double requests_per_s(const ServiceResult& result) {
  const Window window = window_of(result);
  return window.time > Seconds(0) ? window.requests / window.time.value() : 0;
}

}  // namespace foretell

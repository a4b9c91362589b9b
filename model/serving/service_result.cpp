#include "model/serving/service_result.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

// Exact, by rank: the smallest value that a share of all does not exceed.
Statistic statistic_of(std::vector<float> values) {
  Statistic statistic;
  if (values.empty()) return statistic;
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  statistic.mean = sum / static_cast<double>(values.size());
  const auto quantile = [&](double share) {
    const auto rank = static_cast<std::size_t>(
        std::max(1.0, std::ceil(share * static_cast<double>(values.size()))));
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(values.begin(), place, values.end());
    return static_cast<double>(*place);
  };
  statistic.p50 = quantile(0.5);
  statistic.p90 = quantile(0.9);
  statistic.p99 = quantile(0.99);
  return statistic;
}

template <class Value>
Statistic over_answered(const ServiceResult& result, const Value& value) {
  std::vector<float> values;
  for (std::size_t i = static_cast<std::size_t>(result.warm_up); i < result.requests.size(); ++i) {
    const ServedRequest& request = result.requests[i];
    if (request.end_s < 0) continue;
    const float one = value(request);
    if (one >= 0) values.push_back(one);
  }
  return statistic_of(std::move(values));
}

struct Window {
  double seconds = 0;
  double requests = 0;
  double tokens = 0;
};

// From the first arrival that counts to the last answer that counts.
Window window_of(const ServiceResult& result) {
  Window window;
  double begin = -1;
  double end = 0;
  for (std::size_t i = static_cast<std::size_t>(result.warm_up); i < result.requests.size(); ++i) {
    const ServedRequest& request = result.requests[i];
    if (begin < 0) begin = request.arrival_s;
    if (request.end_s < 0) continue;
    end = std::max(end, request.arrival_s + static_cast<double>(request.end_s));
    window.requests += 1;
    window.tokens += request.output;
  }
  window.seconds = std::max(0.0, end - std::max(0.0, begin));
  return window;
}

}  // namespace

Statistic ttft_of(const ServiceResult& result) {
  return over_answered(result, [](const ServedRequest& request) { return request.first_s; });
}

Statistic tpot_of(const ServiceResult& result) {
  return over_answered(result, [](const ServedRequest& request) {
    if (request.output < 2) return -1.0F;
    return (request.end_s - request.first_s) / static_cast<float>(request.output - 1);
  });
}

Statistic itl_of(const ServiceResult& result) {
  const LogHistogram& itl = result.itl;
  return {itl.mean(), itl.quantile(0.5), itl.quantile(0.9), itl.quantile(0.99)};
}

Statistic e2e_of(const ServiceResult& result) {
  return over_answered(result, [](const ServedRequest& request) { return request.end_s; });
}

double output_tokens_per_s(const ServiceResult& result) {
  const Window window = window_of(result);
  return window.seconds > 0 ? window.tokens / window.seconds : 0;
}

double requests_per_s(const ServiceResult& result) {
  const Window window = window_of(result);
  return window.seconds > 0 ? window.requests / window.seconds : 0;
}

}  // namespace foretell

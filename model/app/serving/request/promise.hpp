// Promises on a service: --slo 'ttft.p99<=1s,tpot.p99<=40ms'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/serving/service_result.hpp"

namespace foretell {

struct Promise {
  std::string metric;     // ttft, tpot, itl, e2e
  std::string statistic;  // mean, p50, p90, p99
  double limit_s = 0;
};

// UserError for another metric (with the nearest), statistic, relation or unit.
std::vector<Promise> parse_promises(std::string_view text);

bool keeps(const ServiceResult& result, const std::vector<Promise>& promises);

// Answers per second of which each keeps the limits by itself.
double goodput_of(const ServiceResult& result, const std::vector<Promise>& promises);

}  // namespace foretell

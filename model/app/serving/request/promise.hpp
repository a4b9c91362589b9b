// Promises on a service: --slo 'ttft.p99<=1s,tpot.p99<=40ms'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/serving/service_result.hpp"
#include "reports/record/serve_record.hpp"

namespace foretell {

struct Promise {
  std::string metric;     // ttft, tpot, itl, e2e
  std::string statistic;  // of kServeStatistics
  Seconds limit;
};

// UserError for another metric (with the nearest), statistic, relation or unit.
std::vector<Promise> parse_promises(std::string_view text);

ServeStatistic serve_statistic(const Statistic& one);

bool keeps(const ServiceResult& result, const std::vector<Promise>& promises);

// Answers per second of which each keeps the limits by itself.
double goodput_of(const ServiceResult& result, const std::vector<Promise>& promises);

}  // namespace foretell

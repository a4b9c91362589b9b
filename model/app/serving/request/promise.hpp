// Promises on a service: --slo 'ttft.p99<=1s,tpot.p99<=40ms'.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/serving/service_result.hpp"
#include "reports/record/serve_record.hpp"
#include "workloads/ir/distribution.hpp"

namespace foretell {

struct Promise {
  std::string metric;     // ttft, tpot, itl, e2e
  std::string statistic;  // of kServeStatistics
  Seconds limit;
};

// UserError for another metric (with the nearest), statistic, relation or unit.
std::vector<Promise> parse_promises(std::string_view text);
// UserError for those on the time between tokens where all answers have one.
void check_promises(const std::vector<Promise>& promises,
                    const std::optional<Distribution>& output_len);

ServeStatistic serve_statistic(const Statistic& one);

bool keeps(const ServiceResult& result, const std::vector<Promise>& promises);

// Times of a service over those that were simulated.
struct TimeRatios {
  double ttft = 1;
  double tpot = 1;  // itl, too
  double e2e = 1;   // of whole answers, and of how long the service takes for all of them
};

// Answers per second of which each keeps the limits by itself, where all times are `ratios` as
// long.
double goodput_of(const ServiceResult& result, const std::vector<Promise>& promises,
                  const TimeRatios& ratios = {});

}  // namespace foretell

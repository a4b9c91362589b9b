#include "model/app/serving/request/promise.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

const std::vector<std::string> kMetrics = {"ttft", "tpot", "itl", "e2e"};

Promise parse_one(const std::string& text) {
  const std::size_t relation = text.find("<=");
  const std::size_t dot = text.find('.');
  if (relation == std::string::npos || dot == std::string::npos || dot > relation) {
    throw UserError(fmt::format(
        "--slo '{}': a promise looks like ttft.p99<=1s: a metric ({}), a statistic ({}), a limit",
        text, fmt::join(kMetrics, ", "), fmt::join(serve_statistic_names(), ", ")));
  }
  Promise promise;
  promise.metric = std::string(trim(text.substr(0, dot)));
  promise.statistic = std::string(trim(text.substr(dot + 1, relation - dot - 1)));
  const auto check = [&text](const char* what, const std::string& name,
                             const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    throw UserError(fmt::format("--slo '{}': {}", text, unknown_name(what, name, known).what()));
  };
  check("metric", promise.metric, kMetrics);
  check("statistic", promise.statistic, serve_statistic_names());
  const std::string limit(trim(text.substr(relation + 2)));
  if (!limit.empty() && limit.find_first_not_of("0123456789.") == std::string::npos) {
    throw UserError(fmt::format("--slo '{}': the limit has no unit; write {}.{}<={}ms or <={}s",
                                text, promise.metric, promise.statistic, limit, limit));
  }
  try {
    promise.limit = parse_quantity<Seconds>(limit);
  } catch (const UserError& error) {
    throw UserError(fmt::format("--slo '{}': {}", text, error.what()));
  }
  if (!(promise.limit > Seconds(0))) {
    throw UserError(fmt::format("--slo '{}': a limit is a time above 0, as in 40ms", text));
  }
  return promise;
}

double of_request(const ServedRequest& request, const std::string& metric,
                  const TimeRatios& ratios) {
  const auto first = static_cast<double>(request.first_s);
  const auto end = static_cast<double>(request.end_s);
  if (metric == "ttft") return first * ratios.ttft;
  if (metric == "e2e") return end * ratios.e2e;
  return request.output > 1 ? (end - first) / (request.output - 1) * ratios.tpot : 0;
}

}  // namespace

std::vector<Promise> parse_promises(std::string_view text) {
  std::vector<Promise> promises;
  for (const std::string& part : split(text, ',')) {
    const Promise one = parse_one(part);
    const bool is_there = std::any_of(promises.begin(), promises.end(), [&](const Promise& other) {
      return other.metric == one.metric && other.statistic == one.statistic;
    });
    if (is_there) {
      throw UserError(
          fmt::format("--slo '{}': {}.{} is promised twice; write its lower limit alone", text,
                      one.metric, one.statistic));
    }
    promises.push_back(one);
  }
  return promises;
}

void check_promises(const std::vector<Promise>& promises,
                    const std::optional<Distribution>& output_len) {
  if (!output_len || output_len->highest() > 1) return;
  for (const Promise& promise : promises) {
    if (promise.metric != "tpot" && promise.metric != "itl") continue;
    throw UserError(fmt::format(
        "--slo '{}.{}': answers of one token have no time between tokens; promise ttft or e2e, or "
        "raise --output-len",
        promise.metric, promise.statistic));
  }
}

ServeStatistic serve_statistic(const Statistic& one) {
  return {one.mean.value(), one.p50.value(), one.p90.value(), one.p95.value(), one.p99.value()};
}

bool keeps(const ServiceResult& result, const std::vector<Promise>& promises) {
  return std::all_of(promises.begin(), promises.end(), [&](const Promise& promise) {
    const Statistic statistic = promise.metric == "ttft"   ? ttft_of(result)
                                : promise.metric == "tpot" ? tpot_of(result)
                                : promise.metric == "itl"  ? itl_of(result)
                                                           : e2e_of(result);
    return value_of(serve_statistic(statistic), promise.statistic) <= promise.limit.value();
  });
}

double goodput_of(const ServiceResult& result, const std::vector<Promise>& promises,
                  const TimeRatios& ratios) {
  double good = 0;
  double all = 0;
  for (std::size_t i = static_cast<std::size_t>(result.warm_up); i < result.requests.size(); ++i) {
    const ServedRequest& request = result.requests[i];
    if (request.end_s < 0) continue;
    all += 1;
    const bool is_good = std::all_of(promises.begin(), promises.end(), [&](const Promise& promise) {
      return of_request(request, promise.metric, ratios) <= promise.limit.value();
    });
    if (is_good) good += 1;
  }
  return all > 0 ? requests_per_s(result) / ratios.e2e * good / all : 0;
}

}  // namespace foretell

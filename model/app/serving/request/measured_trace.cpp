#include "model/app/serving/request/measured_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

struct MeasuredTimes {
  double queued = 0;
  double start = 0;
  double first = 0;
  double last = 0;
};

MeasuredTimes times_of(const std::string& where, const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  const auto value = [&](const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    if (!json.is_object() || found == json.end() || !found->is_number()) {
      throw UserError(fmt::format(
          "{}: --measured compares with times of the trace; a line must be a JSON object with the "
          "numbers queued_ts, scheduled_ts, first_token_ts and last_token_ts",
          where));
    }
    return found->get<double>();
  };
  const MeasuredTimes times{value("queued_ts"), value("scheduled_ts"), value("first_token_ts"),
                            value("last_token_ts")};
  if (times.start < times.queued || times.first < times.start || times.last < times.first) {
    throw UserError(fmt::format(
        "{}: times run backwards: queued {}, scheduled {}, first token {}, last token {}", where,
        times.queued, times.start, times.first, times.last));
  }
  return times;
}

std::vector<MeasuredTimes> read_times(const std::string& trace) {
  InputFile file(trace);
  std::vector<MeasuredTimes> all;
  std::string line;
  for (std::size_t count = 1; file.read_line(line); ++count) {
    if (!trim(line).empty()) all.push_back(times_of(fmt::format("{}:{}", trace, count), line));
  }
  return all;
}

// In whole nanoseconds, as the service counts: those that start together are in the order of the
// trace.
constexpr double kTicks = 1e9;

// Numbers of requests in the order of their times.
template <class Time>
std::vector<std::size_t> in_order(std::size_t size, const Time& time_of) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return time_of(a) < time_of(b); });
  return order;
}

}  // namespace

MeasuredComparison compare_with_trace(const std::string& trace,
                                      const std::vector<ServedRecord>& requests) {
  const std::vector<MeasuredTimes> measured = read_times(trace);
  if (measured.size() != requests.size()) {
    throw UserError(fmt::format(
        "{}: --measured compares all of its {} requests; {} were simulated: leave --requests and "
        "--every out",
        trace, measured.size(), requests.size()));
  }
  MeasuredComparison sums;
  double ttft = 0;
  double tpot = 0;
  double finish = 0;
  std::int64_t longer = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ServedRecord& one = requests[i];
    if (!one.answered) {
      throw UserError(fmt::format(
          "{}: --measured: request {} was not answered; let the simulation end", trace, i + 1));
    }
    const MeasuredTimes& times = measured[i];
    sums.measured_ttft_s += times.first - times.queued;
    ttft += one.ttft_s;
    sums.measured_finish_s = std::max(sums.measured_finish_s, times.last - measured[0].queued);
    finish = std::max(finish, one.arrival_s + one.e2e_s - requests[0].arrival_s);
    if (one.output_len < 2) continue;
    const auto gaps = static_cast<double>(one.output_len - 1);
    sums.measured_tpot_s += (times.last - times.first) / gaps;
    tpot += (one.e2e_s - one.ttft_s) / gaps;
    ++longer;
  }
  sums.requests = static_cast<std::int64_t>(requests.size());
  sums.ttft_ratio = ttft / sums.measured_ttft_s;
  sums.tpot_ratio = longer > 0 ? tpot / sums.measured_tpot_s : 1;
  sums.finish_ratio = finish / sums.measured_finish_s;
  sums.measured_ttft_s /= static_cast<double>(sums.requests);
  sums.measured_tpot_s /= static_cast<double>(std::max<std::int64_t>(1, longer));
  const auto there = in_order(measured.size(), [&](std::size_t i) { return measured[i].start; });
  const auto here = in_order(requests.size(), [&](std::size_t i) {
    return std::llround((requests[i].arrival_s + requests[i].start_s) * kTicks);
  });
  std::int64_t same = 0;
  for (std::size_t i = 0; i < here.size(); ++i) same += there[i] == here[i] ? 1 : 0;
  sums.same_start_share = static_cast<double>(same) / static_cast<double>(sums.requests);
  return sums;
}

std::string to_text(const MeasuredComparison& one) {
  return fmt::format(
      "measured in the trace, {} requests: mean TTFT {:.4g} s, here {:+.1f} %; mean TPOT {:.4g} "
      "ms, "
      "here {:+.1f} %; finish {:.4g} s, here {:+.1f} %; {:.1f} % of the starts in the same order",
      one.requests, one.measured_ttft_s, 100 * (one.ttft_ratio - 1), 1e3 * one.measured_tpot_s,
      100 * (one.tpot_ratio - 1), one.measured_finish_s, 100 * (one.finish_ratio - 1),
      100 * one.same_start_share);
}

}  // namespace foretell

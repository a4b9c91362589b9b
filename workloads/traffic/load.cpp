#include "workloads/traffic/load.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

enum : std::uint64_t { kGapStream, kLengthStream };

std::vector<double> running_shares(const std::optional<Distribution>& lengths) {
  std::vector<double> sums;
  double sum = 0;
  if (lengths) {
    for (const Distribution::Point& point : lengths->points()) {
      sums.push_back(sum += point.probability);
    }
  }
  return sums;
}

std::int32_t draw(const std::optional<Distribution>& lengths, const std::vector<double>& sums,
                  RandomStream& random) {
  const auto& points = lengths->points();
  if (points.size() == 1) return static_cast<std::int32_t>(points.front().value);
  const auto place = std::upper_bound(sums.begin(), sums.end(), random.uniform() * sums.back());
  const auto index =
      std::min<std::size_t>(static_cast<std::size_t>(place - sums.begin()), points.size() - 1);
  return static_cast<std::int32_t>(points[index].value);
}

std::int64_t longest(const Load& load, std::int32_t TrafficRequest::*length,
                     const std::optional<Distribution>& lengths) {
  if (lengths) return static_cast<std::int64_t>(lengths->highest());
  std::int32_t most = 0;
  for (const TrafficRequest& request : load.trace) most = std::max(most, request.*length);
  return most;
}

std::int64_t shortest(const Load& load, std::int32_t TrafficRequest::*length,
                      const std::optional<Distribution>& lengths) {
  if (lengths) return static_cast<std::int64_t>(lengths->lowest());
  std::int32_t least = load.trace.empty() ? 0 : load.trace.front().*length;
  for (const TrafficRequest& request : load.trace) least = std::min(least, request.*length);
  return least;
}

double mean(const Load& load, std::int32_t TrafficRequest::*length,
            const std::optional<Distribution>& lengths) {
  if (lengths) return lengths->mean();
  double sum = 0;
  for (const TrafficRequest& request : load.trace) sum += request.*length;
  return load.trace.empty() ? 0 : sum / static_cast<double>(load.trace.size());
}

}  // namespace

std::int64_t longest_input(const Load& load) {
  return longest(load, &TrafficRequest::input_len, load.input_len);
}
std::int64_t longest_output(const Load& load) {
  return longest(load, &TrafficRequest::output_len, load.output_len);
}
std::int64_t shortest_input(const Load& load) {
  return shortest(load, &TrafficRequest::input_len, load.input_len);
}
double mean_input(const Load& load) {
  return mean(load, &TrafficRequest::input_len, load.input_len);
}
double mean_output(const Load& load) {
  return mean(load, &TrafficRequest::output_len, load.output_len);
}

RequestSource::RequestSource(const Load& load)
    : load_(load),
      gaps_(load.seed, kGapStream),
      lengths_(load.seed, kLengthStream),
      input_shares_(running_shares(load.input_len)),
      output_shares_(running_shares(load.output_len)) {
  FORETELL_CHECK(!load.trace.empty() || (load.input_len && load.output_len),
                 "a load has a trace or lengths");
}

TrafficRequest RequestSource::next() {
  FORETELL_CHECK(!is_done(), "no request is left");
  const std::int64_t index = given_++;
  TrafficRequest request;
  if (!load_.trace.empty()) {
    request = load_.trace[static_cast<std::size_t>(index)];
  } else {
    request.input_len = draw(load_.input_len, input_shares_, lengths_);
    request.output_len = draw(load_.output_len, output_shares_, lengths_);
  }
  if (load_.is_closed() || load_.offline) {
    request.arrival_s = 0;
  } else if (load_.arrivals) {
    now_s_ += next_gap(*load_.arrivals, index, gaps_);
    request.arrival_s = now_s_;
  }
  return request;
}

}  // namespace foretell

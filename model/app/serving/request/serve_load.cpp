#include <fmt/format.h>

#include "model/app/request/resolve/distribution_text.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/base/errors.hpp"
#include "workloads/traffic/trace_reader.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxLength = 10'000'000;
constexpr std::int64_t kDefaultRequests = 1000;
constexpr std::int64_t kRequestsPerClient = 10;

void check_one_load(const ServeRequest& request) {
  const int given = (request.concurrency > 0 ? 1 : 0) + (request.rate > 0 ? 1 : 0) +
                    (request.trace.empty() ? 0 : 1) + (request.offline > 0 ? 1 : 0);
  if (given == 1) return;
  throw UserError(fmt::format(
      "{}: give one of --concurrency N (clients that wait for their answers), --rate R (requests "
      "per second), --trace FILE, --offline N (all at once)",
      given == 0 ? "no load" : "several loads"));
}

std::vector<TrafficRequest> every_nth(std::vector<TrafficRequest> all, std::int64_t n) {
  std::vector<TrafficRequest> some;
  for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(n)) some.push_back(all[i]);
  return some;
}

// What only another kind of load reads.
void check_what_is_read(const ServeRequest& request) {
  const ServeRequest plain;
  if (request.start != plain.start && request.concurrency == 0) {
    throw UserError(fmt::format(
        "--start {}: says how clients of --concurrency begin; leave it out of other loads",
        request.start));
  }
  if (request.arrivals != plain.arrivals && !(request.rate > 0)) {
    throw UserError(
        fmt::format("--arrivals {}: says how requests of --rate come; leave it out of other loads",
                    request.arrivals));
  }
}

}  // namespace

Load load_of(const ServeRequest& request) {
  check_one_load(request);
  check_what_is_read(request);
  Load load;
  load.seed = request.machine.seed;
  load.requests = request.requests;
  if (!request.trace.empty()) {
    if (!request.input_len.empty() || !request.output_len.empty()) {
      throw UserError("--trace: states the lengths; leave --input-len and --output-len out");
    }
    load.trace = every_nth(read_trace(request.trace), request.trace_every);
    const auto rows = static_cast<std::int64_t>(load.trace.size());
    if (load.requests == 0) load.requests = rows;
    if (load.requests > rows) {
      throw UserError(fmt::format("--requests {}: the trace has {}", load.requests, rows));
    }
    load.trace.resize(static_cast<std::size_t>(load.requests));
    return load;
  }
  if (request.input_len.empty() || request.output_len.empty()) {
    throw UserError(
        "say how long requests are: --input-len and --output-len, numbers or "
        "distributions such as uniform:819..1024");
  }
  load.input_len = parse_distribution("--input-len", request.input_len, 1, kMaxLength);
  load.output_len = parse_distribution("--output-len", request.output_len, 1, kMaxLength);
  if (request.concurrency > 0) {
    load.concurrency = request.concurrency;
    if (request.start != "together" && request.start != "staggered")
      throw unknown_name("start", request.start, {"together", "staggered"});
    load.staggered = request.start == "staggered";
    if (load.requests == 0) load.requests = kRequestsPerClient * request.concurrency;
  } else if (request.offline > 0) {
    load.offline = true;
    load.requests = request.offline;
  } else {
    load.arrivals = parse_arrivals(request.arrivals, request.rate);
    if (load.requests == 0) load.requests = kDefaultRequests;
  }
  if (request.warm_up >= load.requests) {
    throw UserError(
        fmt::format("--warm-up {}: leaves none of {} requests; lower it, or raise --requests",
                    request.warm_up, load.requests));
  }
  return load;
}

}  // namespace foretell

#include "model/predict/queueing.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Requests that all copies together can work on.
double most_at_work(const Serving& serving) {
  FORETELL_CHECK(serving.overlap >= 1, "a copy works on one request at least");
  return serving.dp * serving.overlap;
}

}  // namespace

int default_copies(int cores, int cores_per_copy) {
  FORETELL_CHECK(cores_per_copy >= 1 && cores >= cores_per_copy,
                 "a copy must fit the cores of the system");
  return cores / cores_per_copy;
}

double requests_in_flight(const Serving& serving) {
  FORETELL_CHECK(serving.dp >= 1 && serving.batch >= 1,
                 "serving needs at least one copy and one sample");
  FORETELL_CHECK(serving.in_flight >= 0, "requests in flight cannot be negative");
  return serving.in_flight > 0 ? serving.in_flight : static_cast<double>(serving.dp);
}

Seconds client_latency(Seconds call, const Serving& serving) {
  return call * std::max(1.0, requests_in_flight(serving) / most_at_work(serving));
}

double system_throughput(Seconds call, const Serving& serving) {
  FORETELL_CHECK(call > Seconds(0), "a call takes time");
  const double at_work = std::min(most_at_work(serving), requests_in_flight(serving));
  return at_work * static_cast<double>(serving.batch) / call.value();
}

Seconds table_call(Seconds call, const Serving& serving) {
  return call * std::max(1.0 / serving.overlap, serving.dp / requests_in_flight(serving));
}

Usd cost_per_million(UsdPerSecond price, double throughput) {
  FORETELL_CHECK(throughput > 0, "cost needs a throughput above zero");
  constexpr double kMillion = 1e6;
  return price * Seconds(kMillion / throughput);
}

UsdPerSecond hourly_price(double usd_per_hour) {
  constexpr double kSecondsPerHour = 3600;
  return UsdPerSecond(usd_per_hour / kSecondsPerHour);
}

}  // namespace foretell

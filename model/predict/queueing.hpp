// From the time of one call to what a client and an operator of the machine see: closed formulas
// over copies of a model that work side by side and a fixed number of requests in flight.
//
// A copy whose cores are stages of a pipeline works on `overlap` requests at the same time: the
// call over the time of its slowest stage.
//
// The model: `dp` copies serve a queue that always holds `in_flight` batched requests (a client
// sends the next one when an answer comes back). Copies beyond the requests stand idle; requests
// beyond the copies wait. A request is one batch.
#pragma once

#include <cstdint>

#include "model/base/units.hpp"

namespace foretell {

struct Serving {
  std::int64_t batch = 1;  // samples per request, at least 1
  int dp = 1;              // copies, at least 1
  double in_flight = 0;    // requests in flight; 0: one per copy
  double overlap = 1;      // requests that a copy works on at the same time, at least 1
};

// Copies that are left for data parallelism when each takes `cores_per_copy` of the `cores`;
// at least 1 by contract: InternalError when a copy does not fit.
int default_copies(int cores, int cores_per_copy);

// Requests in flight with the default resolved.
double requests_in_flight(const Serving& serving);

// latency = call × max(1, in_flight / (dp × overlap)): by Little's law, in_flight = request rate ×
// latency.
Seconds client_latency(Seconds call, const Serving& serving);

// Samples per second of all copies = min(dp × overlap, in_flight) × batch / call.
double system_throughput(Seconds call, const Serving& serving);

// What published tables call the time of a call: copies × batch / throughput. It is the call
// itself when every copy is busy and call × dp / in_flight when some are idle.
Seconds table_call(Seconds call, const Serving& serving);

// USD per million samples of a machine that costs `price` and delivers `throughput` samples/s.
Usd cost_per_million(UsdPerSecond price, double throughput);
UsdPerSecond hourly_price(double usd_per_hour);

}  // namespace foretell

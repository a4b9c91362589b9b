// A load on a service: requests in the order in which they come, with their lengths.
//
// An open load says when each request arrives, whatever the service does. A closed load keeps so
// many requests in the system: the next one arrives when one is answered.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "workloads/ir/distribution.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/random_stream.hpp"

namespace foretell {

// The beginning of a prompt, or what follows such a part, that other requests have, too.
struct SharedPart {
  std::int32_t chain = 0;  // equal numbers: equal tokens, of which one request may use fewer
  std::int32_t tokens = 0;
};

struct TrafficRequest {
  double arrival_s = 0;  // of an open load
  std::int32_t input_len = 1;
  std::int32_t output_len = 1;
  std::int32_t session = -1;        // turns of one conversation share what came before; -1: none
  std::vector<SharedPart> opening;  // in order
};

struct Load {
  std::int64_t concurrency = 0;  // > 0: closed, with this many clients
  bool staggered = false;        // closed: a client starts at the first token of the one before
  std::optional<ArrivalProcess> arrivals;  // open
  bool offline = false;                    // all at once
  std::vector<TrafficRequest> trace;       // given one by one; sorted by arrival
  std::int64_t requests = 0;               // how many in all; of a trace its own number
  std::optional<Distribution> input_len;   // not of a trace
  std::optional<Distribution> output_len;
  std::uint64_t seed = 0;

  bool is_closed() const { return concurrency > 0; }
};

// The longest prompt and the longest answer that the load can contain.
std::int64_t longest_input(const Load& load);
std::int64_t longest_output(const Load& load);
std::int64_t shortest_input(const Load& load);
double mean_input(const Load& load);
double mean_output(const Load& load);

// Gives the requests of a load one after another. The lengths of request number i depend on the
// seed and on i alone, so that two services under test see the same requests.
class RequestSource {
 public:
  explicit RequestSource(const Load& load);

  bool is_done() const { return given_ == load_.requests; }
  std::int64_t given() const { return given_; }
  // Requires !is_done(). `arrival_s` of a closed load is 0: its client says when.
  TrafficRequest next();

 private:
  const Load& load_;
  RandomStream gaps_;
  RandomStream lengths_;
  std::vector<double> input_shares_;  // running sums of the probabilities
  std::vector<double> output_shares_;
  double now_s_ = 0;
  std::int64_t given_ = 0;
};

}  // namespace foretell

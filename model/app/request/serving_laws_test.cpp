// The closed formulas of serving against a simulated queue: copies that serve requests in the order
// of their arrival, and clients that send the next request when an answer comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <systemc>
#include <tuple>
#include <vector>

#include "model/components/shared/simulation_context.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/predict/queueing.hpp"

namespace foretell {
namespace {

class CallQueue : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(CallQueue);
  CallQueue(const sc_core::sc_module_name& name, Ticks call, int copies, int clients, int requests)
      : sc_module(name), call_(call), idle_(copies), left_(requests), due_("due") {
    for (int client = 0; client < clients; ++client) waiting_.push_back(0);
    SC_METHOD(serve);
    sensitive << due_;
  }

  // For the requests that came after every client had sent one.
  double mean_latency() const {
    Ticks sum = 0;
    for (const Ticks latency : latencies_) sum += latency;
    return to_seconds(sum).value() / static_cast<double>(latencies_.size());
  }
  double answers_per_second() const {
    return static_cast<double>(latencies_.size()) / to_seconds(last_ - first_).value();
  }

 private:
  struct Call {
    Ticks sent;
    Ticks end;
  };

  void serve() {
    const Ticks now = now_ticks();
    while (!running_.empty() && running_.front().end <= now) {
      const Call call = running_.front();
      running_.pop_front();
      ++idle_;
      if (call.sent > 0) latencies_.push_back(now - call.sent);
      if (call.sent > 0 && first_ == 0) first_ = call.sent;
      last_ = now;
      if (--left_ > 0) waiting_.push_back(now);
    }
    while (idle_ > 0 && !waiting_.empty()) {
      running_.push_back({waiting_.front(), now + call_});
      waiting_.pop_front();
      --idle_;
    }
    if (!running_.empty() && left_ > 0) due_.notify(to_sc_time(running_.front().end - now));
  }

  Ticks call_;
  int idle_;
  int left_;
  sc_core::sc_event due_;
  std::deque<Ticks> waiting_;  // when each was sent
  std::deque<Call> running_;   // equal durations: they end in the order in which they began
  std::vector<Ticks> latencies_;
  Ticks first_ = 0;
  Ticks last_ = 0;
};

class ServingTest : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(ServingTest, LatencyAndThroughputAreThoseOfTheQueue) {
  const auto [copies, in_flight] = GetParam();
  const Seconds call(0.004);
  const int requests = 2000 * in_flight;
  const SimulationContext context;
  CallQueue queue("queue", to_ticks(call), copies, in_flight, requests);
  sc_core::sc_start();
  const Serving serving{8, copies, static_cast<double>(in_flight)};
  EXPECT_NEAR(queue.mean_latency() / client_latency(call, serving).value(), 1.0, 2e-3);
  EXPECT_NEAR(queue.answers_per_second() * 8 / system_throughput(call, serving), 1.0, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(CopiesAndRequests, ServingTest,
                         testing::Combine(testing::Values(1, 2, 3, 24),
                                          testing::Values(1, 2, 4, 7)));

}  // namespace
}  // namespace foretell

// A stand-in for the simulator in tests of the commands: a closed formula that is easy to check.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>

#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"
#include "model/predict/queueing.hpp"
#include "reports/record/testing/example_record.hpp"

namespace foretell {

inline constexpr double kFakeSecondsPerSample = 1e-3;

// A call takes 1 ms per sample; dp is 1 unless stated. Three releases of the SDK are special:
// "fail" is a user's mistake, "bug" a mistake of ours, "crash" ends the process. Nothing holds
// kTooLargeBatch.
inline constexpr std::int64_t kTooLargeBatch = 1313;
inline RunRecord fake_predict(const Request& request) {
  if (request.sdk == "fail") throw UserError("sdk: 'fail' is not allowed");
  if (request.sdk == "bug") throw std::logic_error("a table has no end");
  if (request.sdk == "crash") std::raise(SIGKILL);
  if (request.batch == kTooLargeBatch) throw UserError("needs 40.0 GiB");
  RunRecord record = example_record();
  const int dp = request.dp > 0 ? request.dp : 1;
  const Serving serving{request.batch, dp, request.in_flight};
  const Seconds call(kFakeSecondsPerSample * static_cast<double>(request.batch));
  record.context.system = request.system;
  record.context.workload = request.workload;
  record.context.dtype = request.dtype.empty() ? "bf16" : request.dtype;
  record.context.set = request.set;
  record.context.scenario = {};
  record.context.scenario.batch = request.batch;
  record.context.scenario.seq_len = request.seq_len;
  record.context.scenario.dp = dp;
  record.context.scenario.in_flight = request.in_flight;
  record.summary.call_s = call.value();
  record.summary.latency_s = client_latency(call, serving).value();
  record.summary.throughput = system_throughput(call, serving);
  record.summary.costs_usd_per_million = {{kOnDemand, 0.23}, {"reserved_1y", 0.14}};
  record.summary.interval80 = {
      {"call_s", {0.875 * call.value(), 1.1875 * call.value()}},
      {"throughput", {record.summary.throughput / 1.1875, record.summary.throughput / 0.875}}};
  return record;
}

}  // namespace foretell

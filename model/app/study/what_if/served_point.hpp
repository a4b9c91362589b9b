// Points of a study that are services: a load on a system, as `foretell serve` predicts it.
#pragma once

#include "model/app/request/prediction.hpp"
#include "model/app/serving/request/serve.hpp"

namespace foretell {

// Whether a request of a study states a load or anything else of a service.
inline bool is_served(const Request& request) { return !request.service.empty(); }

// The service that a request of a study asks for. UserError for what a service has no meaning for,
// as a batch, and for a load that is missing or stated twice; the files of traces are not read.
ServeRequest served_request(const Request& request);

// What a service comes to as a record: latency is that of a whole answer, throughput counts output
// tokens, both of the times are means. `request` is as the study states it.
RunRecord served_record(const Request& request, const ServeRecord& served);

// The same of a service that is read back: its scenario says what was asked.
RunRecord record_of_service(const ServeRecord& served);

// Times and throughput of a service, simulated or planned, without the time of a call.
template <class Service>
RunSummary times_of_service(const Service& service) {
  RunSummary summary;
  summary.latency_s = service.e2e_s.mean;
  summary.throughput = service.output_tokens_per_s;
  summary.throughput_unit = "tokens/s";
  summary.ttft_s = service.ttft_s.mean;
  summary.tpot_s = service.tpot_s.mean;
  summary.ttft_p99_s = service.ttft_s.p99;
  summary.tpot_p99_s = service.tpot_s.p99;
  summary.e2e_p99_s = service.e2e_s.p99;
  summary.requests_per_s = service.requests_per_s;
  return summary;
}

// Predicts requests for services and plans itself and gives the others to `predict`. Machines are
// kept from one request to the next, so that a changed load costs no new one; at most kKeptMachines
// of them.
inline constexpr std::size_t kKeptMachines = 16;
Predictor with_services(Predictor predict);

}  // namespace foretell

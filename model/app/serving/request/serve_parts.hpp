// Pieces of serve() that stand in files of their own.
#pragma once

#include <string>

#include "model/serving/service_result.hpp"
#include "reports/record/serve_record.hpp"

namespace foretell {

// What the service waits for most, in words: a queue that grows, seats, KV blocks, prompts, decode
// bandwidth, exchange, host, link, or nothing.
std::string what_binds(const ServiceResult& result);
std::map<std::string, double> time_shares_of(const ServiceResult& result, int workers);

// Steps as slices per worker, requests as slices on tracks of their own.
std::string serve_trace_json(const ServiceResult& result);

}  // namespace foretell

// Traces of requests: what arrived when, with how many tokens in and out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/traffic/load.hpp"

namespace foretell {

inline constexpr std::int64_t kMaxTraceTokens = 10'000'000;  // of one request

// CSV with the columns arrival_s (or offset_s), input_len (or prompt_tokens) and output_len (or
// output_tokens); or JSON lines with arrival_time, input_toks and output_toks. Where they are
// there: session, whose turns begin with the prompts and answers that came before; prefix and
// prefix_len (JSON: prefix_toks), a name that requests have in common and how many of their first
// tokens are equal. Times are shifted so that the first request arrives at 0. A gzip file is read
// as it is. UserError with file:line for a missing column, a time that is negative or before the
// one above, and a length that is not a whole number from 1 to kMaxTraceTokens; for a file without
// requests.
std::vector<TrafficRequest> read_trace(const std::string& path);

}  // namespace foretell

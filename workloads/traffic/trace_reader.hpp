// Traces of requests: what arrived when, with how many tokens in and out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/traffic/load.hpp"

namespace foretell {

inline constexpr std::int64_t kMaxTraceTokens = 10'000'000;  // of one request

// CSV with the columns arrival_s (or offset_s), input_len (or prompt_tokens) and output_len (or
// output_tokens), or those of published traces: Timestamp, Request tokens, Response tokens
// (BurstGPT); TIMESTAMP (a date and a time), ContextTokens, GeneratedTokens (Azure). Or JSON lines
// with arrival_time, input_toks and output_toks, or timestamp (milliseconds; seconds in lines with
// a chat_id), input_length and output_length (Mooncake, Bailian). Where they are there: session
// (JSON: session_id, too), whose turns begin with the prompts and answers that came before; prefix
// and prefix_len (JSON: prefix_toks), a name that requests have in common and how many of their
// first tokens are equal; or hash_ids (JSON), a number for each block of the prompt, from which
// follows what requests share. Times are shifted so that the first request arrives at 0. A gzip
// file is read as it is. UserError with file:line for a missing column, a time that is negative or
// before the one above, a length that is not a whole number from 1 to kMaxTraceTokens, and blocks
// that do not agree with the lengths; for a file without requests.
std::vector<TrafficRequest> read_trace(const std::string& path);

}  // namespace foretell

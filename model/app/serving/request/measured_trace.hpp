// A service against the times that its trace holds, request by request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/record/serve_record.hpp"

namespace foretell {

// Means over the requests, measured and simulated. First tokens count from when a request was
// queued; the time per token of a request is (last - first token) / (tokens - 1); the finish is
// the last token of all, after the first request.
struct MeasuredComparison {
  std::int64_t requests = 0;
  double measured_ttft_s = 0;
  double measured_tpot_s = 0;
  double measured_finish_s = 0;
  double ttft_ratio = 0;  // simulated over measured
  double tpot_ratio = 0;
  double finish_ratio = 0;
  double same_start_share = 0;  // places in the order of starts that the same request has
};

// For JSON lines that state queued_ts, scheduled_ts, first_token_ts and last_token_ts (seconds of
// one clock). `requests`: all of the trace, in its order. UserError with file:line for a line
// without these, for times that run backwards, and where a request was not answered.
MeasuredComparison compare_with_trace(const std::string& trace,
                                      const std::vector<ServedRecord>& requests);

// "measured in the trace: …".
std::string to_text(const MeasuredComparison& one);

}  // namespace foretell

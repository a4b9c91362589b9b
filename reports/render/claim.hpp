// A claim, held against predictions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// Which records: those whose system, workload, dtype, batch, seq_len, input_len, output_len and set
// (all overrides, with ", " between) have these values. All records when empty.
using RecordQuery = std::map<std::string, std::string>;

struct Claim {
  std::string says;
  std::string source;
  std::string note;  // what a reader should know beside the verdict
  std::string open;  // why predictions cannot judge it; a ratio to what is not modelled may follow
  std::string metric;  // see claim_metrics(); may be empty of an open one
  RecordQuery of;
  std::optional<RecordQuery> against;  // the claim is about the ratio to these
  std::optional<double> at_least;      // of the metric, in SI units, or of the ratio
  std::optional<double> at_most;
};

inline constexpr const char* kSupported = "supported";
inline constexpr const char* kNotSupported = "not supported";
inline constexpr const char* kCannotBeJudged = "cannot be judged";

struct Judgement {
  std::string verdict;     // one of these
  std::string predicted;   // "2.20 PFLOP/s", "1.31 times"
  std::string why;         // the records compared, or what is missing
  bool close = false;      // the limit lies inside the 80 % interval of the prediction
  std::string needs = {};  // "at least 2.25 PFLOP/s"
};

// throughput, latency_s, ttft_s, tpot_s, cost_usd_per_million; peak_flops and memory_bytes of the
// whole system; reached_flops.
const std::vector<std::string>& claim_metrics();
const std::vector<std::string>& query_fields();

// Of several records that match, the best one counts.
Judgement judge(const Claim& claim, const std::vector<RunRecord>& records);

}  // namespace foretell

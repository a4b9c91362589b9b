// Records of calls that differ, as one: expected values, percentiles, and what is the most.
#pragma once

#include <vector>

#include "model/app/request/call_figures.hpp"
#include "reports/record/run_record.hpp"
#include "workloads/ir/distribution.hpp"

namespace foretell {

struct WeightedRecord {
  double probability = 0;
  const RunRecord* record = nullptr;
};

// Sets the summary of `mixed` to that of calls of which each is like one of the records with its
// probability: times become expected values, with their percentiles; throughput is the expected
// work over the expected time; memory is that of the record with most. A client waits for the calls
// in front of its own, which take the expected time.
void mix_summaries(const std::vector<WeightedRecord>& records, RunRecord& mixed);

// The same for a record that has its own times for another distribution of the call: everything
// that grows with the call is scaled with its mean. Its energy is that of `runs`, what such a call
// is made of.
void set_calls(const Distribution& calls, const std::vector<CountedCall>& runs, RunRecord& record);

}  // namespace foretell

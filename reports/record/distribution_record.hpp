// What a record says when calls differ from each other: lengths or branches with probabilities.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace foretell {

struct Percentiles {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};

struct OutcomeRecord {
  double call_s = 0;
  double probability = 0;
};

// The same calls with every length padded to a bucket, and with each length as it is.
struct PaddingRecord {
  std::map<std::string, std::vector<std::int64_t>> buckets;  // by the length that is padded: "seq"
  double dynamic_call_s = 0;                                 // expected
  double buckets_call_s = 0;                                 // expected
  double overhead = 1;                                       // the second over the first
  double padding_share = 0;  // of the padded length that is padding, on average
};

// A part of a network with control flow, compiled by itself.
struct PartRecord {
  std::string name;  // "main", "exit.3/then"
  double call_s = 0;
  double runs = 0;  // expected per call of the network
};

struct DistributionRecord {
  Percentiles latency_s;
  Percentiles call_s;
  std::map<std::string, Percentiles> others;  // "ttft_s"
  std::vector<PaddingRecord> padding;         // one, or none where nothing is padded
  std::vector<PartRecord> parts;              // of control flow
  std::vector<OutcomeRecord> outcomes;        // of the call, ascending
};

}  // namespace foretell

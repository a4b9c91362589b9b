// Requests whose lengths vary from call to call: the calls that there are, with their
// probabilities, and which of them are padded to what.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"

namespace foretell {

// One kind of call: lengths by option ("seq", "dim tokens").
struct LengthCase {
  std::map<std::string, std::int64_t> lengths;
  double probability = 0;
};

struct LengthCases {
  bool pads = false;                                         // the mode of the request is buckets
  std::map<std::string, std::vector<std::int64_t>> buckets;  // ascending; output lengths have none
  std::vector<LengthCase> dynamic;                           // each length as it is
  std::vector<LengthCase> padded;                            // each padded to its bucket
  double padding_share = 0;  // of the padded lengths that is padding, on average

  const std::vector<LengthCase>& of_mode() const { return pads ? padded : dynamic; }
};

// What happens to lengths where the request does not say.
struct BucketRule {
  bool pads_by_default = false;
  std::int64_t smallest = 1;  // bucket; the others are twice, four times … as long
};

// Whether lengths vary, or a mode of running them is stated.
bool has_length_cases(const Request& request);

// Lengths of several options are independent of each other. UserError for a mode that is not
// understood, for buckets that are too short, for --shapes without a length, and for more than
// kMaxLengths combinations.
LengthCases length_cases(const Request& request, const BucketRule& rule);

// The request with these lengths alone.
Request with_lengths(const Request& request, const LengthCase& lengths);

// "seq 128, dim tokens 16"
std::string to_text(const LengthCase& lengths);

}  // namespace foretell

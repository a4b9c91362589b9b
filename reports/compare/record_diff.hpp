// Did any number move? Two sets of records, matched by what was run, compared field by field.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// Largest relative difference that counts as equal, by field of the summary ("latency_s").
struct Tolerances {
  double otherwise = 0;  // for fields that are not named; 0: every bit
  std::map<std::string, double> fields;

  double of(const std::string& field) const;
};

// "latency_s=0.1%" or "0.1%", which is for all other fields, added to `tolerances`. UserError for
// a field that no summary has and for another form.
void add_tolerance(std::string_view text, Tolerances& tolerances);

struct RecordDifference {
  std::string record;    // "bert-large-uncased on inf2.xlarge, bf16, batch 8, sequence 128"
  std::string field;     // "latency_s"; "record" when it is on one side only
  std::string expected;  // "" when it is not there
  std::string actual;
  double relative = 0;  // actual / expected - 1; 0 for texts and missing values
};

// Records are the same run when system, workload, data type, scenario, overrides and seed agree;
// of several on one side, the last counts. What is on one side only is held against that which
// differs from it by its overrides, by its system, or is all that is left; fields "system", "set" …
// say so. Factors and commit are said where something moved, and notes are not compared. Empty: no
// number moved by more than its tolerance.
std::vector<RecordDifference> diff_records(const std::vector<RunRecord>& expected,
                                           const std::vector<RunRecord>& actual,
                                           const Tolerances& tolerances);

}  // namespace foretell

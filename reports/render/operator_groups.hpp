// Operators of a record for people and programs: the same operator of every layer is one.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

struct OperatorGroup {
  std::string name;  // "encoder.*.attention.query"
  std::string op;
  int count = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;
  double waves = 0;  // sums over the operators of the group
  double occupancy = 0;
  std::map<std::string, double> kernel_seconds;
  std::map<std::string, double> engine_seconds;
  std::map<std::string, double> critical_seconds;
};

// Longest first.
std::vector<OperatorGroup> group_operators(const RunRecord& record);

// Operators overlap, so this is more than the call; shares are of it.
double total_seconds(const std::vector<OperatorGroup>& groups);

// The key with the most time; the alphabetically first of equals.
std::string longest(const std::map<std::string, double>& seconds);

// What bounds the operators, each with its share of their time; the largest first.
std::vector<std::pair<std::string, double>> bound_shares(const std::vector<OperatorGroup>& groups);

}  // namespace foretell

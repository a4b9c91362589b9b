// How long the requests of a service took, in brief, and what was promised: for records that stand
// beside thousands of others, as those of studies.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace foretell {

// A statistic of a time that is not to exceed a limit.
struct ServePromise {
  std::string metric;     // "ttft", "tpot", "itl", "e2e"
  std::string statistic;  // "mean", "p50", "p90", "p95", "p99"
  double limit_s = 0;
};

struct ServedTimes {
  std::vector<ServePromise> promises;
  std::vector<double> shares;  // of the requests: 0 … 1, ascending
  // Times that as large a share of the requests does not exceed, one for each of `shares`, by name:
  // "ttft_s", "tpot_s", "e2e_s".
  std::map<std::string, std::vector<double>> times_s;
};

// Shares of the requests at which the record of a service says how long they took: 0, 0.01, … 0.99,
// 0.995, 0.999 and 1.
const std::vector<double>& serve_shares();
// Those of them that are kept in brief: 0, 0.05, … 0.9, 0.91, … 0.99, 0.999 and 1.
std::vector<double> brief_shares();

}  // namespace foretell

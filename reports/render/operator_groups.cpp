#include "reports/render/operator_groups.hpp"

#include <algorithm>

namespace foretell {
namespace {

// "encoder.17.attention.query" -> "encoder.*.attention.query": the same operator of every layer.
std::string layer_family(const std::string& name) {
  std::string family;
  std::size_t start = 0;
  while (start <= name.size()) {
    const std::size_t end = std::min(name.find('.', start), name.size());
    const std::string part = name.substr(start, end - start);
    const bool is_number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    family += (start > 0 ? "." : "") + (is_number ? std::string("*") : part);
    start = end + 1;
  }
  return family;
}

}  // namespace

std::string longest(const std::map<std::string, double>& seconds) {
  return std::max_element(seconds.begin(), seconds.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::vector<OperatorGroup> group_operators(const RunRecord& record) {
  std::map<std::string, OperatorGroup> groups;
  for (const OperatorRecord& op : record.operators) {
    OperatorGroup& group = groups[layer_family(op.name)];
    group.name = layer_family(op.name);
    group.op = op.op;
    ++group.count;
    group.seconds += op.duration_s;
    group.flops += op.flops;
    group.bytes += op.bytes;
    group.waves += op.waves;
    group.occupancy += op.occupancy;
    group.kernel_seconds[op.kernel] += op.duration_s;
    group.engine_seconds[op.engine] += op.duration_s;
    group.critical_seconds[op.critical] += op.duration_s;
  }
  std::vector<OperatorGroup> sorted;
  for (auto& [name, group] : groups) sorted.push_back(std::move(group));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return sorted;
}

double total_seconds(const std::vector<OperatorGroup>& groups) {
  double total = 0;
  for (const OperatorGroup& group : groups) total += group.seconds;
  return total;
}

std::vector<std::pair<std::string, double>> bound_shares(const std::vector<OperatorGroup>& groups) {
  std::map<std::string, double> seconds;
  for (const OperatorGroup& group : groups) {
    for (const auto& [critical, time] : group.critical_seconds) seconds[critical] += time;
  }
  const double total = total_seconds(groups);
  std::vector<std::pair<std::string, double>> shares;
  for (const auto& [critical, time] : seconds) {
    if (total > 0) shares.emplace_back(critical, time / total);
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return shares;
}

}  // namespace foretell

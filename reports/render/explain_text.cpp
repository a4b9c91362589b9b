// Where the time goes, from one record.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/render/record_text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

// "encoder.17.attention.query" -> "encoder.*.attention.query": the same operator of every layer.
std::string family_of(const std::string& name) {
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

struct OperatorGroup {
  std::string name;
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

// The key with the most time; the alphabetically first of equals.
std::string longest(const std::map<std::string, double>& seconds) {
  return std::max_element(seconds.begin(), seconds.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::vector<OperatorGroup> group_operators(const RunRecord& record) {
  std::map<std::string, OperatorGroup> groups;
  for (const OperatorRecord& op : record.operators) {
    OperatorGroup& group = groups[family_of(op.name)];
    group.name = family_of(op.name);
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

std::string rate_text(double amount, double seconds, const char* unit) {
  return seconds > 0 && amount > 0 ? si_format(amount / seconds, unit) : "-";
}

// Of machines that run thread blocks.
void add_kernel_columns(const std::vector<OperatorGroup>& groups, Table& table) {
  const bool any = std::any_of(groups.begin(), groups.end(),
                               [](const OperatorGroup& group) { return group.waves > 0; });
  if (!any) return;
  table.columns.push_back({"kernel"});
  table.columns.push_back({"waves", Align::kRight});
  table.columns.push_back({"occupied", Align::kRight});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const OperatorGroup& group = groups[i];
    const bool blocks = group.waves > 0;
    table.rows[i].push_back(blocks ? longest(group.kernel_seconds) : "-");
    table.rows[i].push_back(blocks ? plain_format(group.waves / group.count) : "-");
    table.rows[i].push_back(blocks ? percent_format(group.occupancy / group.count) : "-");
  }
}

// Operators overlap, so the sum of their durations is more than the call; shares are of that sum.
Table operator_table(const std::vector<OperatorGroup>& groups, int top) {
  Table table;
  table.columns = {{"operator"},
                   {"kind"},
                   {"times", Align::kRight},
                   {"time", Align::kRight},
                   {"share", Align::kRight},
                   {"achieved", Align::kRight},
                   {"memory", Align::kRight},
                   {"engine"},
                   {"bound by"}};
  double total = 0;
  for (const OperatorGroup& group : groups) total += group.seconds;
  for (const OperatorGroup& group : groups) {
    if (static_cast<int>(table.rows.size()) == top) break;
    table.rows.push_back({group.name, group.op, std::to_string(group.count),
                          si_format(group.seconds, "s"),
                          total > 0 ? percent_format(group.seconds / total) : "-",
                          rate_text(group.flops, group.seconds, "FLOP/s"),
                          rate_text(group.bytes, group.seconds, "B/s"),
                          longest(group.engine_seconds), longest(group.critical_seconds)});
  }
  add_kernel_columns(groups, table);
  return table;
}

Table resource_table(const RunRecord& record) {
  Table table;
  table.columns = {{"resource"},
                   {"busy", Align::kRight},
                   {"stalled", Align::kRight},
                   {"idle", Align::kRight},
                   {"moved", Align::kRight}};
  for (const ResourceRecord& resource : record.resources) {
    const double idle = std::max(0.0, 1 - resource.busy - resource.stalled);
    table.rows.push_back({resource.path, percent_format(resource.busy),
                          percent_format(resource.stalled), percent_format(idle),
                          resource.bytes > 0 ? si_format(resource.bytes, "B") : "-"});
  }
  return table;
}

std::string bound_text(const std::vector<OperatorGroup>& groups) {
  std::map<std::string, double> seconds;
  double total = 0;
  for (const OperatorGroup& group : groups) {
    for (const auto& [critical, time] : group.critical_seconds) {
      seconds[critical] += time;
      total += time;
    }
  }
  if (!(total > 0)) return "";
  std::vector<std::pair<std::string, double>> sorted(seconds.begin(), seconds.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = "Time of the operators by what bounds them:";
  for (const auto& [critical, time] : sorted) {
    text += fmt::format(" {} {},", critical, percent_format(time / total));
  }
  text.back() = '.';
  return text + "\n";
}

}  // namespace

std::string explain_text(const RunRecord& record, int top, int max_width) {
  std::string text = run_text(record);
  if (!record.resources.empty()) {
    text += "\nShare of the call that each resource works, and waits with work at hand\n\n";
    text += render_text(resource_table(record), max_width);
  }
  if (!record.operators.empty()) {
    const std::vector<OperatorGroup> groups = group_operators(record);
    text += fmt::format("\nLongest operators (layers{} together, {} of {})\n\n",
                        record.generation.empty() ? "" : " and steps",
                        std::min(static_cast<std::size_t>(top), groups.size()), groups.size());
    text += render_text(operator_table(groups, top), max_width);
    text += "\n" + bound_text(groups);
  }
  text += "What bounds the whole: " + record.summary.bottleneck + ".\n";
  return text;
}

}  // namespace foretell

// Where the time goes, from one record.
#include <fmt/format.h>

#include <algorithm>

#include "model/base/text.hpp"
#include "reports/render/operator_groups.hpp"
#include "reports/render/record_text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

std::string rate_text(double amount, double seconds, const char* unit) {
  return seconds > 0 && amount > 0 ? si_format(amount / seconds, unit) : "-";
}

// For machines that run thread blocks.
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

constexpr std::size_t kMinName = 20;  // characters of an operator's name

Table operator_table(const std::vector<OperatorGroup>& groups, int top) {
  Table table;
  table.columns = {{"operator", Align::kLeft, false, kMinName},
                   {"kind"},
                   {"times", Align::kRight},
                   {"time", Align::kRight},
                   {"share", Align::kRight},
                   {"achieved", Align::kRight},
                   {"memory", Align::kRight},
                   {"engine"},
                   {"bound by"}};
  const double total = total_seconds(groups);
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
  const auto shares = bound_shares(groups);
  if (shares.empty()) return "";
  std::string text = "Time of the operators by what bounds them:";
  for (const auto& [critical, share] : shares) {
    text += fmt::format(" {} {},", critical, percent_format(share));
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
    std::vector<std::string> spared;
    text += render_text(
        spared_until_fits(operator_table(groups, top),
                          {"kind", "memory", "occupied", "waves", "kernel", "achieved", "engine"},
                          max_width, spared),
        max_width);
    if (!spared.empty()) text += "\nnote: too narrow for: " + join(spared, ", ") + "\n";
    text += "\n" + bound_text(groups);
  }
  text += "What bounds the whole: " + record.summary.bottleneck + ".\n";
  return text;
}

}  // namespace foretell

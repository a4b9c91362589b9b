#include "model/app/command/explain_output.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/record/csv.hpp"
#include "reports/record/json_reader.hpp"
#include "reports/render/operator_groups.hpp"

namespace foretell {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson json_of(const Sensitivity& row) {
  return {{"path", row.path},
          {"value", row.value},
          {"latency",
           {{"less", row.latency_less}, {"more", row.latency_more}, {"twice", row.latency_twice}}},
          {"throughput",
           {{"less", row.throughput_less},
            {"more", row.throughput_more},
            {"twice", row.throughput_twice}}}};
}

OrderedJson json_of(const ReachedTarget& reached) {
  OrderedJson changes = OrderedJson::array();
  for (const TargetChange& change : reached.changes) {
    changes.push_back({{"path", change.path},
                       {"from", change.from},
                       {"to", change.to},
                       {"factor", change.factor},
                       {"reached", change.reached.number},
                       {"reaches", change.reaches}});
  }
  return {{"metric", reached.target.metric},
          {"value", reached.target.value.number},
          {"changes", changes}};
}

OrderedJson json_of(const OperatorGroup& group, double total_s) {
  OrderedJson json = {{"name", group.name},
                      {"op", group.op},
                      {"times", group.count},
                      {"time_s", group.seconds},
                      {"share", total_s > 0 ? group.seconds / total_s : 0},
                      {"flops", record_number(group.flops)},
                      {"bytes", record_number(group.bytes)},
                      {"engine", longest(group.engine_seconds)},
                      {"bound_by", longest(group.critical_seconds)}};
  if (group.waves > 0) {
    json["kernel"] = longest(group.kernel_seconds);
    json["waves"] = group.waves / group.count;
    json["occupancy"] = group.occupancy / group.count;
  }
  return json;
}

OrderedJson json_of(const ImprovedCall& call) {
  return {{"change", call.what.change},
          {"set", call.what.override},
          {"call_s", call.call_s},
          {"gain", call.gain},
          {"then_bound_by", call.bottleneck}};
}

OrderedJson json_of(const RunRecord& record, const Explanation& explanation) {
  OrderedJson json = {{"operators", OrderedJson::array()},
                      {"bound_by", OrderedJson::array()},
                      {"what_would_help", OrderedJson::array()},
                      {"sensitivity", nullptr},
                      {"target", nullptr}};
  const std::vector<OperatorGroup> groups = group_operators(record);
  const double total_s = total_seconds(groups);
  for (const OperatorGroup& group : groups) json["operators"].push_back(json_of(group, total_s));
  for (const auto& [name, share] : bound_shares(groups)) {
    json["bound_by"].push_back({{"name", name}, {"share", share}});
  }
  for (const ImprovedCall& call : explanation.improved) {
    json["what_would_help"].push_back(json_of(call));
  }
  if (explanation.sensitivity) {
    json["sensitivity"] = OrderedJson::array();
    for (const Sensitivity& row : *explanation.sensitivity) {
      json["sensitivity"].push_back(json_of(row));
    }
  }
  if (explanation.reached) json["target"] = json_of(*explanation.reached);
  return json;
}

// Rows of the one table, by the names of its columns.
class LongTable {
 public:
  explicit LongTable(CsvRow columns) : columns_(std::move(columns)), rows_({columns_}) {}

  void add(const std::map<std::string, std::string>& cells) {
    CsvRow row;
    for (const std::string& column : columns_) {
      const auto found = cells.find(column);
      row.push_back(found == cells.end() ? "" : found->second);
    }
    rows_.push_back(std::move(row));
  }
  const std::vector<CsvRow>& rows() const { return rows_; }

 private:
  CsvRow columns_;
  std::vector<CsvRow> rows_;
};

}  // namespace

std::string explain_json(const RunRecord& record, const Explanation& explanation) {
  OrderedJson json = OrderedJson::parse(to_json(record));
  json["explanation"] = json_of(record, explanation);
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::vector<CsvRow> explain_rows(const RunRecord& record, const Explanation& explanation) {
  LongTable table({"row", "name", "op", "times", "time_s", "share", "flops", "bytes", "engine",
                   "bound_by", "busy", "stalled", "set", "call_s", "gain"});
  for (const ResourceRecord& resource : record.resources) {
    table.add({{"row", "resource"},
               {"name", resource.path},
               {"bytes", to_text(resource.bytes)},
               {"busy", to_text(resource.busy)},
               {"stalled", to_text(resource.stalled)}});
  }
  const std::vector<OperatorGroup> groups = group_operators(record);
  const double total_s = total_seconds(groups);
  for (const OperatorGroup& group : groups) {
    table.add({{"row", "operator"},
               {"name", group.name},
               {"op", group.op},
               {"times", std::to_string(group.count)},
               {"time_s", to_text(group.seconds)},
               {"share", to_text(total_s > 0 ? group.seconds / total_s : 0)},
               {"flops", to_text(group.flops)},
               {"bytes", to_text(group.bytes)},
               {"engine", longest(group.engine_seconds)},
               {"bound_by", longest(group.critical_seconds)}});
  }
  for (const auto& [name, share] : bound_shares(groups)) {
    table.add({{"row", "bound"}, {"name", name}, {"share", to_text(share)}});
  }
  for (const ImprovedCall& call : explanation.improved) {
    table.add({{"row", "change"},
               {"name", call.what.change},
               {"bound_by", call.bottleneck},
               {"set", call.what.override},
               {"call_s", to_text(call.call_s)},
               {"gain", to_text(call.gain)}});
  }
  return table.rows();
}

std::vector<CsvRow> sensitivity_rows(const std::vector<Sensitivity>& rows) {
  std::vector<CsvRow> table = {{"path", "value", "latency_less", "latency_more", "latency_twice",
                                "throughput_less", "throughput_more", "throughput_twice"}};
  for (const Sensitivity& row : rows) {
    table.push_back({row.path, row.value, to_text(row.latency_less), to_text(row.latency_more),
                     to_text(row.latency_twice), to_text(row.throughput_less),
                     to_text(row.throughput_more), to_text(row.throughput_twice)});
  }
  return table;
}

std::vector<CsvRow> target_rows(const ReachedTarget& reached) {
  std::vector<CsvRow> table = {{"path", "from", "to", "factor", reached.target.metric}};
  for (const TargetChange& change : reached.changes) {
    if (!change.reaches) continue;
    table.push_back({change.path, change.from, change.to, to_text(change.factor),
                     to_text(change.reached.number)});
  }
  return table;
}

}  // namespace foretell

#include "model/cli/explain_output.hpp"

#include <nlohmann/json.hpp>

#include "reports/record/csv.hpp"

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
                       {"reached", change.reached},
                       {"reaches", change.reaches}});
  }
  return {{"metric", reached.target.metric},
          {"value", reached.target.value.number},
          {"changes", changes}};
}

}  // namespace

std::string explain_json(const RunRecord& record,
                         const std::optional<std::vector<Sensitivity>>& sensitivity,
                         const std::optional<ReachedTarget>& reached) {
  OrderedJson json = {{"schema", "foretell.explain/1"},
                      {"record", OrderedJson::parse(to_json(record))},
                      {"sensitivity", nullptr},
                      {"target", nullptr}};
  if (sensitivity) {
    json["sensitivity"] = OrderedJson::array();
    for (const Sensitivity& row : *sensitivity) json["sensitivity"].push_back(json_of(row));
  }
  if (reached) json["target"] = json_of(*reached);
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string sensitivity_csv(const std::vector<Sensitivity>& rows) {
  std::string text = to_csv({"path", "value", "latency_less", "latency_more", "latency_twice",
                             "throughput_less", "throughput_more", "throughput_twice"});
  for (const Sensitivity& row : rows) {
    text += to_csv({row.path, row.value, to_text(row.latency_less), to_text(row.latency_more),
                    to_text(row.latency_twice), to_text(row.throughput_less),
                    to_text(row.throughput_more), to_text(row.throughput_twice)});
  }
  return text;
}

std::string target_csv(const ReachedTarget& reached) {
  std::string text = to_csv({"path", "from", "to", "factor", reached.target.metric});
  for (const TargetChange& change : reached.changes) {
    if (!change.reaches) continue;
    text += to_csv(
        {change.path, change.from, change.to, to_text(change.factor), to_text(change.reached)});
  }
  return text;
}

}  // namespace foretell

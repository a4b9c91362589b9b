#include "reports/render/page_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "reports/render/answer.hpp"
#include "reports/render/service_text.hpp"

namespace foretell {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDigits = 7;

// More digits than anybody reads would double the size of a page.
void round_numbers(Json& json) {
  if (json.is_number_float()) {
    const double value = json.get<double>();
    if (value == 0) return;
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
    const double scale = std::pow(10.0, kDigits - 1 - exponent);
    if (std::isfinite(scale)) json = std::round(value * scale) / scale;
    return;
  }
  if (json.is_structured()) {
    for (Json& member : json) round_numbers(member);
  }
}

// Equal texts get equal numbers.
class SharedList {
 public:
  // Replaces `json` by its place in the list; null and empty lists stay.
  void share(Json& json) {
    if (json.is_null() || json.empty()) return;
    const auto [place, added] = places_.try_emplace(json.dump(), places_.size());
    if (added) list_.push_back(json);
    json = place->second;
  }

  const Json& list() const { return list_; }

 private:
  std::map<std::string, std::size_t> places_;
  Json list_ = Json::array();
};

// Which records to show in detail when not all can be: the fastest of every system and data type,
// then the others in their order.
std::vector<std::size_t> by_interest(const std::vector<RunRecord>& records) {
  std::vector<std::size_t> order(records.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> fastest = order;
  std::stable_sort(fastest.begin(), fastest.end(), [&records](std::size_t a, std::size_t b) {
    return records[a].summary.throughput > records[b].summary.throughput;
  });
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<bool> first(records.size(), false);
  for (const std::size_t index : fastest) {
    const RunContext& context = records[index].context;
    first[index] = seen.emplace(context.system, context.dtype).second;
  }
  std::stable_partition(order.begin(), order.end(),
                        [&first](std::size_t index) { return first[index]; });
  return order;
}

std::size_t detail_size(const RunRecord& record) {
  constexpr std::size_t kOperatorBytes = 190;  // about, in the page
  constexpr std::size_t kResourceBytes = 80;
  return record.operators.size() * kOperatorBytes + record.resources.size() * kResourceBytes;
}

// What turns `base` into `json` as a merge patch (RFC 7396); null takes a member away.
Json patch_of(const Json& base, const Json& json) {
  if (!base.is_object() || !json.is_object()) return json;
  Json patch = Json::object();
  for (const auto& [name, value] : json.items()) {
    const auto found = base.find(name);
    if (found == base.end()) {
      if (!value.is_null()) patch[name] = value;
    } else if (*found != value) {
      patch[name] = patch_of(*found, value);
    }
  }
  for (const auto& [name, value] : base.items()) {
    if (!json.contains(name)) patch[name] = nullptr;
  }
  return patch;
}

void append_escaped(std::string& out, const std::string& json) {
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

Json json_of(const JudgedClaim& judged) {
  return {{"says", judged.claim.says},           {"source", judged.claim.source},
          {"verdict", judged.judgement.verdict}, {"predicted", judged.judgement.predicted},
          {"needs", judged.judgement.needs},     {"why", judged.judgement.why},
          {"note", judged.claim.note},           {"close", judged.judgement.close}};
}

Json json_of(const ChangedNumber& change) {
  return {{"record", change.record},
          {"field", change.field},
          {"before", change.before},
          {"after", change.after},
          {"relative", change.relative}};
}

Json json_of(const IndexEntry& entry) {
  return {{"title", entry.title},
          {"file", entry.file},
          {"records", entry.records},
          {"claims", entry.claims},
          {"problem", entry.problem}};
}

Json json_of(const ObjectiveValues& objective) {
  return {{"name", objective.name}, {"maximise", objective.maximise}, {"values", objective.values}};
}

Json json_of(const CitedSource& source) { return {{"id", source.id}, {"text", source.text}}; }

Json json_of(const PredictedQuantity& quantity) {
  return {{"name", quantity.name},
          {"predicted", quantity.predicted},
          {"low", quantity.low},
          {"high", quantity.high},
          {"measured", quantity.measured}};
}

template <class T>
Json json_list(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

// Everything beside the records.
Json frame_of(const ReportContent& content) {
  return {
      {"title", content.title},
      {"about", content.about},
      {"answer", content.services.empty() ? answer_of(content) : services_answer(content.services)},
      {"problems", content.problems},
      {"claims", json_list(content.claims)},
      {"changes", json_list(content.changes)},
      {"compared_with", content.compared_with},
      {"index", json_list(content.index)},
      {"definition", content.definition},
      {"keys", content.keys},
      {"objectives", json_list(content.objectives)},
      {"sources", json_list(content.sources)},
      {"names", content.names}};
}

Json json_of(const PredictedRows& table) {
  return {{"header", table.header},
          {"rows", table.rows},
          {"total", table.total},
          {"failed", table.failed},
          {"quantities", json_list(table.quantities)},
          {"notes", table.notes}};
}

Json services_json(const std::vector<ServeRecord>& services) {
  Json list = Json::array();
  for (const ServeRecord& service : services) {
    ServeRecord shown = service;
    shown.timeline = thinned(service.timeline, kPageTimeline);
    Json json = Json::parse(to_json(shown));
    json["load"] = load_words(service.context);
    round_numbers(json);
    list.push_back(std::move(json));
  }
  return list;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string page_data(const ReportContent& content, std::size_t detail_bytes) {
  const std::vector<RunRecord>& records = content.records;
  std::vector<bool> detailed(records.size(), false);
  std::size_t left = detail_bytes;
  for (const std::size_t index : by_interest(records)) {
    const std::size_t size = detail_size(records[index]);
    if (size > left) continue;
    detailed[index] = true;
    left -= size;
  }
  SharedList shared;
  Json base = Json::object();
  std::string out = R"({"schema":"foretell.report/1","frame":)";
  Json frame = frame_of(content);
  round_numbers(frame["objectives"]);
  append_escaped(out, dump(frame));
  out += R"(,"left_out":)" + std::to_string(std::count(detailed.begin(), detailed.end(), false));
  std::string list;
  for (std::size_t i = 0; i < records.size(); ++i) {
    RunRecord record = records[i];
    if (!detailed[i]) {
      record.operators.clear();
      record.resources.clear();
    }
    Json json = Json::parse(to_json(record));
    shared.share(json["machine"]);
    shared.share(json["values"]);
    shared.share(json["context"]["notes"]);
    round_numbers(json);
    if (i == 0) {
      base = json;
      for (const char* member : {"generation", "operators", "resources"}) base.erase(member);
    } else {
      list += ",\n";
    }
    for (const char* member : {"generation", "operators", "resources"}) {
      if (json[member].empty()) json.erase(member);
    }
    append_escaped(list, dump(patch_of(base, json)));
  }
  out += ",\"base\":";
  append_escaped(out, dump(base));
  out += ",\"records\":[" + list + "],\"shared\":";
  append_escaped(out, dump(shared.list()));
  if (content.predicted) {
    out += ",\"predicted\":";
    append_escaped(out, dump(json_of(*content.predicted)));
  }
  if (!content.accuracy.empty()) {
    out += ",\"accuracy\":";
    append_escaped(out, content.accuracy);
  }
  if (!content.services.empty()) {
    out += ",\"services\":";
    append_escaped(out, dump(services_json(content.services)));
  }
  if (!content.sensitivity.empty()) {
    out += ",\"sensitivity\":";
    append_escaped(out, content.sensitivity);
  }
  out += '}';
  return out;
}

}  // namespace foretell

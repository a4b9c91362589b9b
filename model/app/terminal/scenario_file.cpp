#include "model/app/terminal/scenario_file.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "model/app/request/family/device_family.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/resolve/field_names.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

[[noreturn]] void fail(const Node& node, const std::string& what) {
  throw UserError(node.where() + ": " + what);
}

// A value or a list of values as one word of the command line.
std::string option_word(const Node& node, const std::string& key) {
  if (node.is_scalar()) return node.text;
  if (!node.is_list()) fail(node, key + ": expected a value or a list of values");
  return join(item_texts(node, key), ",");
}

// Keys are options without their dashes.
FieldNames names_in_scenarios() {
  FieldNames names = key_names_of_fields();
  for (auto& [option, name] : names) name = option;
  return names;
}

bool is_flag(const std::string& option) {
  const auto& fields = request_fields();
  return std::any_of(fields.begin(), fields.end(), [&option](const RequestField& field) {
    return option == field.option && field.kind() == FieldKind::kFlag;
  });
}

// Keys are the options of `compare`, so that the command line parser checks them.
std::vector<Request> run_requests(const Node& run) {
  if (!run.is_map()) fail(run, "runs: expected options of `foretell compare`, as in {on: …}");
  RequestOptions options;
  CLI::App app;
  add_request_options(app, options, true);
  std::vector<std::string> words;
  for (const MapEntry& entry : run.entries) {
    if (entry.key == "set" && entry.value.is_list()) {
      for (const Node& item : entry.value.items) {
        words.insert(words.end(), {"--set", item.as_text("set")});
      }
    } else if (entry.key == "name") {
      continue;  // of the overrides
    } else if (is_flag(entry.key)) {
      const std::string value = to_lower(option_word(entry.value, entry.key));
      if (value != "no" && value != "false") words.push_back("--" + entry.key);
    } else {
      words.insert(words.end(), {"--" + entry.key, option_word(entry.value, entry.key)});
    }
  }
  std::reverse(words.begin(), words.end());  // as the library wants them
  std::vector<Request> found;
  try {
    app.parse(words);
    found = requests(options);
    for (const Request& request : found) check_names(request);
  } catch (const CLI::ParseError& error) {
    fail(run, std::string("runs: ") + error.what());
  } catch (const UserError& error) {
    fail(run, std::string("runs: ") + error.what());
  }
  return found;
}

RecordQuery read_query(const Node& node, const std::string& key) {
  node.only_keys(query_fields(), key);
  RecordQuery query;
  for (const MapEntry& entry : node.entries)
    query[entry.key] = join(texts_at(entry.value, key), ", ");
  return query;
}

std::optional<double> read_limit(const Node& claim, const char* key) {
  const Node* node = claim.find(key);
  if (node == nullptr) return std::nullopt;
  return number_at(*node, key);
}

Claim read_claim(const Node& node) {
  node.only_keys(
      {"says", "source", "note", "open", "metric", "of", "against", "at_least", "at_most"},
      "claims");
  Claim claim;
  claim.says = node.required("says", "claims").as_text("says");
  claim.source = text_or_none(node, "source");
  claim.note = text_or_none(node, "note");
  claim.open = text_or_none(node, "open");
  if (!claim.open.empty() && node.find("metric") == nullptr) return claim;
  const Node& metric = node.required("metric", "claims");
  claim.metric = metric.as_text("metric");
  const auto& known = claim_metrics();
  if (std::find(known.begin(), known.end(), claim.metric) == known.end()) {
    fail(metric, "metric: '" + claim.metric + "' is none of " + join(known, ", "));
  }
  if (const Node* of = node.find("of")) claim.of = read_query(*of, "of");
  if (const Node* against = node.find("against")) claim.against = read_query(*against, "against");
  claim.at_least = read_limit(node, "at_least");
  claim.at_most = read_limit(node, "at_most");
  if (!claim.at_least && !claim.at_most) fail(node, "claims: at_least or at_most is missing");
  return claim;
}

std::vector<std::string> names_in_runs(const std::vector<Request>& requests,
                                       std::string Request::*member) {
  std::vector<std::string> names;
  for (const Request& request : requests) {
    const std::string& name = request.*member;
    if (name.find_first_of("/\\") != std::string::npos || ends_with(name, ".yaml")) return {};
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// A claim about what no run predicts could never be judged: its name is a mistake. Files have names
// of their own in records; runs of those are not checked.
void check_claimed_names(const RecordQuery& query, const std::vector<Request>& requests,
                         const Node& claim) {
  const std::pair<const char*, std::string Request::*> members[] = {
      {"system", &Request::system}, {"workload", &Request::workload}};
  for (const auto& [kind, member] : members) {
    const auto given = query.find(kind);
    if (given == query.end()) continue;
    const std::vector<std::string> names = names_in_runs(requests, member);
    const bool is_known = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return to_lower(name) == to_lower(given->second);
    });
    if (names.empty() || is_known) continue;
    fail(claim, std::string("claims: no run predicts ") + kind + " '" + given->second +
                    "'; the runs have: " + join(names, ", "));
  }
}

}  // namespace

ScenarioFile load_scenario(const std::string& path) {
  const Node root = load_document(path);
  root.only_keys({"title", "about", "runs", "claims"}, "");
  ScenarioFile scenario;
  scenario.title = text_or_none(root, "title");
  scenario.about = text_or_none(root, "about");
  const Node& runs = root.required("runs", "");
  if (!runs.is_list() || runs.items.empty()) fail(runs, "runs: expected a list of what to predict");
  for (const Node& run : runs.items) {
    const std::string name = text_or_none(run, "name");
    for (Request& request : run_requests(run)) {
      if (!name.empty() && !request.set.empty()) scenario.names[join(request.set, ", ")] = name;
      scenario.requests.push_back(std::move(request));
    }
  }
  if (const Node* claims = root.find("claims")) {
    if (!claims->is_list()) fail(*claims, "claims: expected a list");
    for (const Node& claim : claims->items) {
      scenario.claims.push_back(read_claim(claim));
      check_claimed_names(scenario.claims.back().of, scenario.requests, claim);
      if (const auto& against = scenario.claims.back().against)
        check_claimed_names(*against, scenario.requests, claim);
    }
  }
  return scenario;
}

ReportContent predict_scenario(const ScenarioFile& scenario, int jobs, const Session& session) {
  Progress progress(session, "predicting");
  const std::vector<PredictionOutcome> outcomes =
      predict_all(session.predict, scenario.requests, jobs, Detail::kEverything,
                  [&progress](double share) { progress.update(share); });
  ReportContent content;
  content.title = scenario.title;
  content.about = scenario.about;
  content.names = scenario.names;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const PredictionOutcome& outcome = outcomes[i];
    if (outcome.record) {
      content.records.push_back(*outcome.record);
      continue;
    }
    FORETELL_CHECK(!outcome.is_ours, outcome.error);
    const Request& request = scenario.requests[i];
    content.problems.push_back(request.workload + " on " + request.system + ", " + request.dtype +
                               ": " + with_names(outcome.error, names_in_scenarios()));
  }
  if (content.records.empty()) {
    throw UserError("nothing could be predicted:\n  " + join(content.problems, "\n  "));
  }
  for (const Claim& claim : scenario.claims) {
    content.claims.push_back({claim, judge(claim, content.records)});
  }
  return content;
}

}  // namespace foretell

#include "model/app/serving/request/served_runs.hpp"

#include <cmath>
#include <utility>

#include "hw/engines/engine_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMostOfARow = 10'000'000;
constexpr double kMsOfRuns = 1e3;
constexpr double kFastestRun = 1e9;  // requests per second

// Whole numbers are written as 2 or 2.0.
std::int64_t whole_cell(const ServedCells& cells, const char* column) {
  std::string text = served_cell(cells, column);
  if (text.empty()) throw UserError(std::string(column) + ": is empty; this row needs it");
  const std::size_t point = text.find('.');
  if (point != std::string::npos && text.find_first_not_of('0', point + 1) == std::string::npos)
    text.resize(point);
  return parse_count(column, text, 1, kMostOfARow);
}

std::int64_t whole_cell_or(const ServedCells& cells, const char* column, std::int64_t otherwise) {
  return served_cell(cells, column).empty() ? otherwise : whole_cell(cells, column);
}

// Tokens of an answer; a mean where answers differ by little.
std::int64_t answer_length(const ServedCells& cells) {
  const std::string text = served_cell(cells, "osl");
  const double mean = parse_positive("osl", text, kMostOfARow);
  if (mean < 1) throw UserError("osl: '" + text + "' is less than one token");
  return std::llround(mean);
}

// The file's name for a framework, or one of the engines, with the release that follows it ("vLLM
// 0.10.0") or that the row states.
std::string engine_of(const ServedNames& frameworks, const ServedCells& cells) {
  const std::string framework = served_cell(cells, "framework");
  std::string release = served_cell(cells, "framework_version");
  const auto known = frameworks.find(framework);
  std::string engine = known == frameworks.end() ? to_lower(framework) : known->second;
  if (known == frameworks.end()) {
    const std::size_t space = engine.rfind(' ');
    if (space != std::string::npos && engine.find_first_of("0123456789", space) == space + 1) {
      release = engine.substr(space + 1);
      engine.resize(space);
    }
    const std::vector<std::string> engines = EngineCatalog().engines();
    if (!is_one_of(engines, engine)) {
      std::vector<std::string> names = engines;
      for (const auto& entry : frameworks) names.push_back(entry.first);
      throw unknown_name("framework", framework, names);
    }
  }
  const bool has_release = engine.find('@') != std::string::npos;
  return has_release || release.empty() ? engine : engine + '@' + release;
}

// The file's name for it, or the row's own.
std::string named_or_own(const ServedNames& names, const std::string& name) {
  const auto known = names.find(name);
  return known == names.end() ? name : known->second;
}

}  // namespace

ServedRuns ServedRuns::load() {
  const Node root = load_document(hw_folder() / kRunsFile, std::string("hw/") + kRunsFile);
  root.only_keys({"source", "networks", "systems", "precisions", "frameworks", "settings",
                  "refused", "limits", "attention_of_ranks", "loads", "deployments"},
                 "");
  ServedRuns runs;
  runs.deployments_ = RunDeployments::read(root);
  for (const Node& node : root.required("settings", "").items) {
    node.only_keys({"column", "holds", "set", "source"}, "settings");
    runs.settings_.push_back({node.required("column", "settings").as_text("column"),
                              node.required("holds", "settings").as_text("holds"),
                              texts_in(node, "set")});
  }
  for (const Node& node : root.required("refused", "").items) {
    node.only_keys({"column", "holds", "why"}, "refused");
    runs.refused_.push_back({node.required("column", "refused").as_text("column"),
                             node.required("holds", "refused").as_text("holds"),
                             node.required("why", "refused").as_text("why")});
  }
  const Node& limits = root.required("limits", "");
  limits.only_keys({"source", "rows"}, "limits");
  for (const Node& node : limits.required("rows", "limits").items) {
    node.only_keys({"releases", "models", "gpus", "length", "max_sequences", "max_tokens"},
                   "limits");
    const auto whole = [&](const char* key) {
      return std::int64_t{node.required(key, "limits").as_integer(key, 1, kMostOfARow)};
    };
    const Node* length = node.find("length");
    runs.limits_.push_back({texts_in(node, "releases"), texts_in(node, "models"), whole("gpus"),
                            length == nullptr ? 0 : whole("length"), whole("max_sequences"),
                            whole("max_tokens")});
  }
  const Node& ranks = root.required("attention_of_ranks", "");
  ranks.only_keys({"notes", "kind", "why"}, "attention_of_ranks");
  runs.attention_of_ranks_ = ranks.required("notes", "attention_of_ranks").as_text("notes");
  for (const char* section : {"networks", "systems", "precisions", "frameworks"}) {
    runs.names_[section] = served_names(root, section);
  }
  return runs;
}

ServeRequest ServedRuns::request_of(const ServedCells& cells) const {
  for (const RefusedRun& one : refused_) {
    if (served_cell(cells, one.column.c_str()).find(one.holds) != std::string::npos)
      throw UserError(one.column + " '" + one.holds + "': " + one.why);
  }
  ServeRequest request;
  request.engine = engine_of(names_.at("frameworks"), cells);
  const ServedNames& networks = names_.at("networks");
  const std::string network = served_cell(cells, "model");
  const std::string key = network_key(networks, network, served_cell(cells, "dtype_weights"));
  request.machine.workload = workload_named(network, named_or_own(networks, key));
  const ServedNames& systems = names_.at("systems");
  request.machine.system =
      served_system(systems, "gpu",
                    network_key(systems, served_cell(cells, "gpu"), served_cell(cells, "n_gpus")));
  const bool is_deployed = deployments_.knows(cells);
  if (!is_deployed) {
    request.machine.dtype =
        named_or_own(names_.at("precisions"), served_cell(cells, "dtype_weights"));
  }
  const std::string kv = served_cell(cells, "dtype_kv");
  if (kv == "fp8") request.machine.kv_dtype = kv;
  request.machine.tp = static_cast<int>(whole_cell_or(cells, "tp", 1));
  request.machine.pp = static_cast<int>(whole_cell_or(cells, "pp", 1));
  const auto experts = static_cast<int>(whole_cell_or(cells, "ep", 1));
  if (experts > 1) request.machine.ep = experts;
  if (request.machine.tp > 1 &&
      served_cell(cells, "notes").find(attention_of_ranks_) != std::string::npos) {
    request.attention_dp = request.machine.ep = request.machine.tp;
    request.machine.tp = 1;
  }
  request.dp = static_cast<int>(whole_cell_or(cells, "dp", 1));
  for (const RunSetting& one : settings_) {
    if (served_cell(cells, one.column.c_str()).find(one.holds) == std::string::npos) continue;
    request.machine.set.insert(request.machine.set.end(), one.set.begin(), one.set.end());
  }
  request.max_batch = whole_cell_or(cells, "max_batch", 0);
  request.max_tokens = whole_cell_or(cells, "max_num_tokens", 0);
  limit(cells, request);
  if (!served_cell(cells, "kv_fraction").empty())
    request.kv_fraction = parse_positive("kv_fraction", served_cell(cells, "kv_fraction"), 1);
  for (const char* column : {"isl_std", "osl_std"}) {
    const std::string spread = served_cell(cells, column);
    if (!spread.empty() && spread.find_first_not_of("0.") != std::string::npos) {
      throw UserError(std::string(column) + " " + spread +
                      ": lengths are drawn from a data set that the row does not hold");
    }
  }
  if (is_deployed) {
    deployments_.deploy(cells, request);
  } else {
    request.input_len = std::to_string(whole_cell(cells, "isl"));
    request.output_len = std::to_string(answer_length(cells));
  }
  load(cells, request);
  figure_of(cells, {});  // a figure that cannot be compared is refused before it is simulated
  return request;
}

void ServedRuns::load(const ServedCells& cells, ServeRequest& request) {
  const std::string kind = served_cell(cells, "load_kind");
  const std::int64_t of_data_set = std::exchange(request.requests, 0);
  if (kind == "offline") {
    request.offline = of_data_set > 0 ? of_data_set : whole_cell(cells, "num_requests");
  } else if (kind == "rate") {
    request.rate = parse_positive("request_rate", served_cell(cells, "request_rate"), kFastestRun);
    request.requests = whole_cell_or(cells, "num_requests", of_data_set);
  } else if (kind == "concurrency") {
    request.concurrency = whole_cell(cells, "concurrency");
    request.requests = whole_cell_or(cells, "num_requests", of_data_set);
  } else {
    throw unknown_name("load_kind", kind, {"offline", "rate", "concurrency"});
  }
}

void ServedRuns::limit(const ServedCells& cells, ServeRequest& request) const {
  if (request.max_batch > 0 || request.max_tokens > 0) return;
  for (const RunLimits& one : limits_) {
    if (!is_one_of(one.releases, served_cell(cells, "framework_version")) ||
        !is_one_of(one.models, served_cell(cells, "model")) ||
        one.gpus != std::int64_t{request.machine.tp} * request.machine.pp ||
        (one.length > 0 && one.length != whole_cell(cells, "isl") + answer_length(cells)))
      continue;
    request.max_batch = one.max_sequences;
    request.max_tokens = one.max_tokens;
    return;
  }
}

RunFigure ServedRuns::figure_of(const ServedCells& cells, const ServeSummary& summary) {
  const std::string kind = served_cell(cells, "measured_kind");
  const std::string scope = served_cell(cells, "scope");
  if (!scope.empty() && scope != "total" && scope != "per request")
    throw unknown_name("scope", scope, {"total", "per request"});
  const auto at = [&](const std::string& name, double value, double scale) {
    const auto found = summary.interval80.find(name);
    const Interval band =
        found == summary.interval80.end() ? Interval{value, value} : found->second;
    return RunFigure{value * scale, {band.low * scale, band.high * scale}};
  };
  const double rate = summary.output_tokens_per_s;
  if (kind == "output_tokens_per_s") return at("output_tokens_per_s", rate, 1);
  if (kind == "requests_per_s") return at("requests_per_s", summary.requests_per_s, 1);
  if (kind == "total_tokens_per_s") {
    const auto input = static_cast<double>(whole_cell(cells, "isl"));
    const auto output = static_cast<double>(answer_length(cells));
    return at("output_tokens_per_s", rate, (input + output) / output);
  }
  const std::map<std::string, const ServeStatistic*> times = {{"ttft", &summary.ttft_s},
                                                              {"tpot", &summary.tpot_s},
                                                              {"itl", &summary.itl_s},
                                                              {"e2e", &summary.e2e_s}};
  const std::size_t unit = kind.rfind("_ms");
  const auto time = times.find(kind.substr(0, unit));
  if (unit == std::string::npos || time == times.end()) {
    throw unknown_name("measured_kind", kind,
                       {"output_tokens_per_s", "total_tokens_per_s", "requests_per_s", "ttft_ms",
                        "tpot_ms", "itl_ms", "e2e_ms"});
  }
  const std::string percentile = served_cell(cells, "percentile");
  const ServeStatistic& all = *time->second;
  const std::string statistic = percentile.empty() ? "mean" : percentile;
  return at(time->first + "_s." + statistic, value_of(all, statistic), kMsOfRuns);
}

}  // namespace foretell

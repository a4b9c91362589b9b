#include "model/app/study/what_if/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hw/engines/engine_catalog.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/serving/request/serve_parts.hpp"
#include "model/app/study/what_if/served_point.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr double kNoticeable = 0.01;  // a smaller gain is none

// The number that the text begins with, and what follows it.
std::pair<double, std::string> split_value(const std::string& value) {
  const LeadingNumber number = leading_number(value);
  if (!number.is_number || !number.fits)
    throw UserError("'" + value + "' does not begin with a number");
  return {number.value, std::string(number.rest)};
}

// For a service, the time of an answer.
double time_of(const Request& request, const RunSummary& summary) {
  return request.service.empty() ? summary.call_s : summary.latency_s;
}

// "decode weights (36 % of the busy time)", as services say it, without the share.
std::string resource_of(const std::string& bottleneck) {
  return bottleneck.substr(0, bottleneck.find(" ("));
}

// The host of the engine is a part of a service, too.
std::vector<WhatIf> faster_host(const Request& request) {
  ServeRequest service = served_request(request);
  const std::vector<std::string> set = take_engine_set(service.machine);
  const std::string_view family = family_of(request.system).name();
  return what_ifs(EngineCatalog().load(service.engine, set, family).parameters,
                  {{"engine.host.per_step", "host time of a step", 0.5}});
}

}  // namespace

std::string scaled_value(const std::string& value, double factor) {
  const auto [number, unit] = split_value(value);
  return to_text(number * factor) + unit;
}

std::vector<WhatIf> what_ifs(const std::vector<Parameter>& parameters,
                             const std::vector<ImprovedPart>& parts) {
  std::vector<WhatIf> changes;
  for (const ImprovedPart& part : parts) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(),
                     [&part](const Parameter& parameter) { return parameter.path == part.path; });
    if (found == parameters.end() || !(split_value(found->value).first > 0)) continue;
    changes.push_back({std::string(part.name) + " x " + plain_format(part.factor, 1),
                       std::string(part.path) + "=" + scaled_value(found->value, part.factor)});
  }
  return changes;
}

std::vector<ImprovedCall> improved_calls(const Predictor& predict, const Request& request,
                                         const RunSummary& unchanged, int jobs) {
  const DeviceFamily& family = family_of(request.system);
  std::vector<WhatIf> changes =
      what_ifs(family.parameters(request), family.improved_parts(request));
  if (is_served(request)) {
    for (WhatIf& change : faster_host(request)) changes.push_back(std::move(change));
  }
  std::vector<Request> requests;
  for (const WhatIf& change : changes) {
    Request changed = request;
    changed.trace_file.clear();
    changed.set.push_back(change.override);
    requests.push_back(std::move(changed));
  }
  const auto outcomes = predict_all(predict, requests, jobs, Detail::kSummary, {});

  std::vector<ImprovedCall> calls;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].record) continue;
    const RunSummary& improved = outcomes[i].record->summary;
    const double time_s = time_of(request, improved);
    calls.push_back({changes[i], time_s, 1 - time_s / time_of(request, unchanged),
                     resource_of(improved.bottleneck)});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.gain > b.gain; });
  return calls;
}

Table what_if_table(const std::vector<ImprovedCall>& calls, const char* time) {
  Table table;
  table.columns = {
      {"change"}, {time, Align::kRight}, {"gain", Align::kRight}, {"then bound by"}, {"--set"}};
  for (const ImprovedCall& call : calls) {
    table.rows.push_back({call.what.change, si_format(call.call_s, "s"), percent_format(call.gain),
                          call.bottleneck, "'" + call.what.override + "'"});
  }
  return table;
}

std::string hidden_text(const std::vector<ImprovedCall>& calls, const char* time) {
  std::map<std::string, std::vector<std::string>> hidden;  // by what bounds the call
  for (const ImprovedCall& call : calls) {
    if (call.gain < kNoticeable) hidden[call.bottleneck].push_back(call.what.change);
  }
  std::string text;
  for (const auto& [by, changes] : hidden) {
    text += fmt::format("Hidden, as the {} is bound by {}: {}.\n", time, by, join(changes, ", "));
  }
  return text;
}

}  // namespace foretell

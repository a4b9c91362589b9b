#include "model/app/command/calibrate/fit_forecast.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/app/request/record/outcome_tag.hpp"
#include "model/app/tables/table_request.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr std::string_view kSdkTable = "sdk_engine_time.";

constexpr const char* kAnyRelease = "9999.0";  // a key and a release that it covers

// Everything that the time of a call depends on.
std::string key_of(const std::string& network, const FitRow& row, const Request& request) {
  return network + row.setting + '\n' + to_text(request.in_flight) + '\n' + request.sdk + '\n' +
         join(request.set, "\n");
}

// First character of a line that a worker sends.

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string time_as_text(const Predictor& predict, const Request& request,
                         const std::string& measured) {
  try {
    return kGoodTag + to_text(predicted_values(predict(request)).at("pred_" + measured));
  } catch (const UserError& error) {
    return kUserFaultTag + one_line(error.what());
  } catch (const std::exception& error) {
    return kOurFaultTag + one_line(error.what());
  }
}

double time_from_text(const std::string& line, const Request& request) {
  if (line.front() == kGoodTag) return written_number(std::string_view(line).substr(1));
  const std::string message = request.workload + " on " + request.system + ": " + line.substr(1);
  if (line.front() == kUserFaultTag) throw UserError(message);
  throw InternalError(__FILE__, __LINE__, message);
}

}  // namespace

FitForecast::FitForecast(const FitPlan& plan, const std::vector<FitRow>& rows, Predictor predict,
                         int jobs, Detail detail)
    : plan_(plan), rows_(rows), predict_(std::move(predict)), jobs_(jobs), detail_(detail) {}

std::vector<double> FitForecast::operator()(const std::vector<double>& values) {
  FORETELL_CHECK(values.size() == plan_.factors.size(), "values of another plan");
  NeuronFactors releases;
  std::map<std::string, std::vector<std::string>> set_by_device;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const FreeFactor& factor = plan_.factors[i];
    if (!plan_.on_top && starts_with(factor.name, kSdkTable)) {
      releases.sdk_engine_time[factor.name.substr(kSdkTable.size())] = values[i];
      continue;
    }
    const std::string assignment =
        "factors." + factor.name + "=" + format_quantity(values[i], factor.dimension);
    for (const std::string& device : factor.devices) set_by_device[device].push_back(assignment);
  }
  return forecast([&](const FitRow& row, Request& request) {
    request.set = set_by_device[row.device];
    if (plan_.on_top) return;  // overlays of releases are those of the factors so far
    // One entry that covers the row's release: whatever other releases cost, this row is the same.
    const double engine_time = sdk_engine_time(releases, request.sdk);
    request.sdk = kAnyRelease;
    request.set.push_back("factors." + std::string(kSdkTable) + kAnyRelease + "=" +
                          to_text(engine_time));
  });
}

std::vector<double> FitForecast::without_factors() {
  return forecast([](const FitRow&, Request& request) { request.sdk = ""; });
}

std::vector<double> FitForecast::forecast(const Setter& set) {
  std::vector<std::string> keys;
  std::vector<std::string> new_keys;
  std::vector<Request> requests;
  for (const FitRow& row : rows_) {
    Request request = row.request;
    request.factors = plan_.on_top ? "" : "none";
    set(row, request);
    const bool by_network = detail_ == Detail::kEveryNetwork;
    keys.push_back(key_of(by_network ? row.network : row.side.architecture, row, request));
    if (calls_.emplace(keys.back(), 0).second) {
      new_keys.push_back(keys.back());
      requests.push_back(std::move(request));
    }
  }
  const std::vector<double> calls = predict_calls(requests);
  for (std::size_t i = 0; i < calls.size(); ++i) calls_[new_keys[i]] = calls[i];
  std::vector<double> predicted;
  for (const std::string& key : keys) predicted.push_back(calls_.at(key));
  return predicted;
}

std::vector<double> FitForecast::predict_calls(const std::vector<Request>& requests) const {
  // Every worker takes each n-th request: neighbours in a table are of similar size.
  const auto workers = std::min(requests.size(), static_cast<std::size_t>(jobs_));
  const auto outcomes = run_forked(workers, jobs_, [&](std::size_t worker) {
    std::string text;
    for (std::size_t i = worker; i < requests.size(); i += workers) {
      const std::string call = time_as_text(predict_, requests[i], plan_.measured);
      text += call + '\n';
    }
    return text;
  });
  std::vector<double> calls(requests.size());
  for (std::size_t worker = 0; worker < workers; ++worker) {
    if (!outcomes[worker].finished) throw InternalError(__FILE__, __LINE__, outcomes[worker].text);
    const std::vector<std::string> lines = split(outcomes[worker].text, '\n');
    for (std::size_t i = worker, line = 0; i < requests.size(); i += workers, ++line) {
      calls[i] = time_from_text(lines.at(line), requests[i]);
    }
  }
  return calls;
}

}  // namespace foretell

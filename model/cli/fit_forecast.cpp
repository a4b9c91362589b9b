#include "model/cli/fit_forecast.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "hw/spec/sdk_version.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/cli/parallel_predict.hpp"
#include "model/cli/table_request.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr std::string_view kSdkTable = "sdk_engine_time.";

// What the rows of one configuration have in common, but for the release.
std::string base_key(const FitRow& row) {
  return row.configuration + '\n' + to_text(row.request.in_flight);
}

}  // namespace

FitForecast::FitForecast(const FitPlan& plan, const std::vector<FitRow>& rows, Predictor predict,
                         int jobs)
    : plan_(plan), rows_(rows), predict_(std::move(predict)), jobs_(jobs) {}

std::vector<double> FitForecast::operator()(const std::vector<double>& values) const {
  FORETELL_CHECK(values.size() == plan_.factors.size(), "values of another plan");
  NeuronFactors releases;
  std::map<std::string, std::vector<std::string>> set_by_device;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const FreeFactor& factor = plan_.factors[i];
    if (starts_with(factor.name, kSdkTable)) {
      releases.sdk_engine_time[factor.name.substr(kSdkTable.size())] = values[i];
    }
    const std::string assignment =
        "factors." + factor.name + "=" + format_quantity(values[i], factor.dimension);
    for (const std::string& device : factor.devices) set_by_device[device].push_back(assignment);
  }
  return forecast([&](const FitRow& row, Request& request, std::string& key) {
    request.set = set_by_device[row.device];
    key += '\n' + to_text(sdk_engine_time(releases, request.sdk));
  });
}

std::vector<double> FitForecast::without_factors() const {
  return forecast([](const FitRow&, Request&, std::string&) {});
}

std::vector<double> FitForecast::forecast(const Setter& set) const {
  std::map<std::string, std::size_t> known;
  std::vector<Request> requests;
  std::vector<std::size_t> of_row;
  std::vector<const FitRow*> first_row;
  for (const FitRow& row : rows_) {
    Request request = row.request;
    request.factors = "none";
    std::string key = base_key(row);
    set(row, request, key);
    const auto [found, is_new] = known.emplace(key, requests.size());
    if (is_new) {
      requests.push_back(std::move(request));
      first_row.push_back(&row);
    }
    of_row.push_back(found->second);
  }
  const auto outcomes = predict_all(predict_, requests, jobs_, Detail::kSummary, {});
  std::vector<double> calls;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].record) {
      throw UserError(first_row[i]->configuration + ": " + outcomes[i].error);
    }
    calls.push_back(predicted_values(*outcomes[i].record).at("pred_call_ms"));
  }
  std::vector<double> predicted;
  for (const std::size_t index : of_row) predicted.push_back(calls[index]);
  return predicted;
}

}  // namespace foretell

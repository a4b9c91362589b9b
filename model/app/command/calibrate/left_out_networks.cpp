#include "model/app/command/calibrate/left_out_networks.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "calib/fit/left_out.hpp"
#include "calib/fit/plan.hpp"
#include "calib/fit/split.hpp"
#include "calib/fitted/neuron/neuron_factors_file.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/validate/far_folds.hpp"
#include "model/app/command/calibrate/fit_forecast.hpp"
#include "model/app/command/calibrate/fit_rows.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/base/data_root.hpp"

namespace foretell {
namespace {

// The free factors and the networks of each fit. Plans of the same rows are one problem: what one
// of them leaves, the next one takes up.
struct FitFiles {
  std::vector<std::string_view> plans;
  std::string_view split;
};
const std::array<FitFiles, 4> kFits = {
    {{{"neuron_plan.yaml", "neuron_release_plan.yaml"}, "neuron_split.yaml"},
     {{"neuron_convolution_plan.yaml"}, "neuron_convolution_split.yaml"},
     {{"neuron_decode_plan.yaml"}, "neuron_decode_split.yaml"},
     {{"neuron_prefill_plan.yaml"}, "neuron_decode_split.yaml"}}};

std::string fit_file(std::string_view name) {
  return (data_root() / "calib" / "fit" / name).string();
}

// Where the factors in force lie, in widths of the priors.
Point fitted_point(const FitPlan& plan) {
  std::map<std::string, NeuronFactors> by_device;
  for (const std::string& device : plan.devices) {
    by_device[device] = load_factors(factors_folder() / (device + ".yaml")).factors;
  }
  Point point;
  for (const FreeFactor& factor : plan.factors) {
    NeuronFactors& factors = by_device.at(factor.devices.front());
    FieldList list;
    fields(list, factors);
    point.push_back((list.at(factor.name).number() - factor.prior) / factor.width);
  }
  return point;
}

FitPlan joined_plan(const std::vector<std::string_view>& files) {
  NeuronFactors factors;
  FieldList list;
  fields(list, factors);
  FitPlan joined;
  for (const std::string_view file : files) {
    const FitPlan plan = load_fit_plan(fit_file(file), {}, list);
    if (joined.factors.empty()) {
      joined = plan;
      continue;
    }
    joined.on_top = true;  // all of them are in force
    for (const FreeFactor& factor : plan.factors) {
      const auto has_name = [&](const FreeFactor& one) { return one.name == factor.name; };
      if (std::any_of(joined.factors.begin(), joined.factors.end(), has_name)) continue;
      joined.factors.push_back(factor);
    }
  }
  return joined;
}

IntervalQuantity quantity_of(const std::string& measured) {
  for (const IntervalQuantity quantity : {IntervalQuantity::kTtft, IntervalQuantity::kTpot}) {
    if (measured == std::string(interval_quantity_name(quantity)) + "_ms") return quantity;
  }
  return IntervalQuantity::kCall;
}

Place place_of(const FitRow& row, IntervalQuantity quantity) {
  ResolvedWorkload resolved;
  resolve_workload(row.request, "bf16", resolved);
  return interval_place(resolved.request, resolved.model, quantity);
}

}  // namespace

LeftOutRowPredictions predict_left_out(const std::string& table, const Predictor& predict,
                                       int jobs) {
  LeftOutRowPredictions predictions;
  for (const auto& [plan_files, split_file] : kFits) {
    const FitPlan plan = joined_plan(plan_files);
    const Split split = Split::load(fit_file(split_file));
    std::vector<FitRow> rows;
    std::vector<std::string> groups;
    std::vector<Place> places;
    FitProblem problem;
    for (FitRow& row : read_fit_rows(table, plan, split).rows) {
      if (row.side.side != Side::kFit) continue;
      groups.push_back(row.side.architecture);
      places.push_back(place_of(row, quantity_of(plan.measured)));
      problem.observations.push_back({row.network, row.network + row.setting, row.measured_ms});
      rows.push_back(std::move(row));
    }
    problem.factors = plan.factors;
    problem.noise = plan.noise;
    FitForecast forecast(plan, rows, predict, jobs, FitForecast::Detail::kOneNetwork);
    problem.forecast = [&forecast](const std::vector<double>& values) { return forecast(values); };
    const Point at = fitted_point(plan);
    std::map<std::size_t, LeftOutPredictions>& of_rows = predictions[plan.measured];
    const std::vector<double> by = moved_without_group(problem, at, groups);
    for (std::size_t i = 0; i < rows.size(); ++i) of_rows[rows[i].line].without_network = by[i];
    const std::vector<FarFold> folds = far_folds(places);
    std::vector<std::vector<bool>> left_out;
    for (const FarFold& fold : folds) left_out.push_back(fold.left_out);
    const std::vector<std::vector<double>> moved = moved_without(problem, at, left_out);
    for (std::size_t fold = 0; fold < folds.size(); ++fold) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!left_out[fold][i]) continue;
        of_rows[rows[i].line].far.push_back({folds[fold].octaves[i], moved[fold][i]});
      }
    }
  }
  return predictions;
}

}  // namespace foretell

#include "model/app/command/calibrate/left_out_networks.hpp"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "calib/fit/left_out.hpp"
#include "calib/fit/plan.hpp"
#include "calib/fit/split.hpp"
#include "calib/fitted/neuron/neuron_factors_file.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "model/app/command/calibrate/fit_forecast.hpp"
#include "model/app/command/calibrate/fit_rows.hpp"
#include "model/base/data_root.hpp"

namespace foretell {
namespace {

// The free factors and the networks of each fit.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFits = {
    {{"neuron_plan.yaml", "neuron_split.yaml"},
     {"neuron_release_plan.yaml", "neuron_split.yaml"},
     {"neuron_convolution_plan.yaml", "neuron_convolution_split.yaml"},
     {"neuron_decode_plan.yaml", "neuron_decode_split.yaml"},
     {"neuron_prefill_plan.yaml", "neuron_decode_split.yaml"}}};

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

}  // namespace

MovedRows moved_without_own_network(const std::string& table, const Predictor& predict, int jobs) {
  MovedRows moved;
  for (const auto& [plan_file, split_file] : kFits) {
    NeuronFactors factors;
    FieldList list;
    fields(list, factors);
    const FitPlan plan = load_fit_plan(fit_file(plan_file), {}, list);
    const Split split = Split::load(fit_file(split_file));
    std::vector<FitRow> rows;
    std::vector<std::string> groups;
    FitProblem problem;
    for (FitRow& row : read_fit_rows(table, plan, split).rows) {
      if (row.side.side != Side::kFit) continue;
      groups.push_back(row.side.architecture);
      problem.observations.push_back({row.network, row.network + row.setting, row.measured_ms});
      rows.push_back(std::move(row));
    }
    problem.factors = plan.factors;
    problem.noise = plan.noise;
    FitForecast forecast(plan, rows, predict, jobs, FitForecast::Detail::kOneNetwork);
    problem.forecast = [&forecast](const std::vector<double>& values) { return forecast(values); };
    const std::vector<double> by = moved_without_group(problem, fitted_point(plan), groups);
    for (std::size_t i = 0; i < rows.size(); ++i) moved[plan.measured][rows[i].line] = by[i];
  }
  return moved;
}

}  // namespace foretell

#include "model/app/command/calibrate/fit_report.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "calib/validate/statistics.hpp"
#include "model/app/command/calibrate/fit_forecast.hpp"
#include "model/base/text.hpp"
#include "reports/render/si_format.hpp"
#include "reports/render/table.hpp"

namespace foretell {
namespace {

struct Group {
  std::vector<Comparison> fitted;
  std::vector<Comparison> unfitted;
};

void add(Group& group, const JudgedRow& row) {
  group.fitted.push_back({row.row.measured_ms, row.predicted_ms, {}});
  group.unfitted.push_back({row.row.measured_ms, row.unfitted_ms, {}});
}

std::string summary(const Accuracy& accuracy) {
  return fmt::format("MAPE {}, median {}, p90 {}, bias {}", percent_format(accuracy.mape),
                     percent_format(accuracy.median), percent_format(accuracy.p90),
                     percent_format(accuracy.bias, true));
}

std::map<Side, Group> groups_by_side(const std::vector<JudgedRow>& rows) {
  std::map<Side, Group> groups;
  for (const JudgedRow& row : rows) add(groups[row.row.side.side], row);
  return groups;
}

Table factor_table(const FitResult& result) {
  Table table;
  table.columns = {{"factor"},
                   {"value", Align::kRight},
                   {"80 % interval", Align::kRight},
                   {"prior", Align::kRight},
                   {"left of the prior's width", Align::kRight},
                   {"from the rows"}};
  for (const FactorEstimate& estimate : result.factors) {
    const FreeFactor& factor = estimate.factor;
    table.rows.push_back(
        {factor.name, factor.text(estimate.value),
         fmt::format("{} .. {}", factor.text(estimate.low80), factor.text(estimate.high80)),
         factor.text(factor.prior), percent_format(estimate.narrowed),
         estimate.identified ? "yes" : "no: prior kept"});
  }
  return table;
}

Table accuracy_table(const std::vector<JudgedRow>& rows) {
  std::map<std::pair<Side, std::string>, Group> groups;
  for (const JudgedRow& row : rows) {
    add(groups[{row.row.side.side, row.row.side.architecture}], row);
    add(groups[{row.row.side.side, "all"}], row);
  }
  Table table;
  table.columns = {{"side"},
                   {"architecture"},
                   {"n", Align::kRight},
                   {"MAPE", Align::kRight},
                   {"median", Align::kRight},
                   {"p90", Align::kRight},
                   {"bias", Align::kRight},
                   {"MAPE without factors", Align::kRight}};
  for (const auto& [key, group] : groups) {
    const Accuracy accuracy = accuracy_of(group.fitted);
    table.rows.push_back({std::string(to_string(key.first)), key.second, std::to_string(accuracy.n),
                          percent_format(accuracy.mape), percent_format(accuracy.median),
                          percent_format(accuracy.p90), percent_format(accuracy.bias, true),
                          percent_format(accuracy_of(group.unfitted).mape)});
  }
  return table;
}

}  // namespace

std::vector<JudgedRow> judge_rows(const FitPlan& plan, const FitResult& result,
                                  const std::vector<FitRow>& rows, const Predictor& predict,
                                  int jobs) {
  FitForecast forecast(plan, rows, predict, jobs, FitForecast::Detail::kEveryNetwork);
  std::vector<double> values;
  for (const FactorEstimate& estimate : result.factors) values.push_back(estimate.value);
  const std::vector<double> fitted = forecast(values);
  const std::vector<double> unfitted = forecast.without_factors();
  std::vector<JudgedRow> judged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    judged.push_back({rows[i], fitted[i], unfitted[i]});
  }
  return judged;
}

std::string describe_fit_rows(const FitPlan& plan, const std::vector<FitRow>& rows) {
  std::set<std::string> networks;
  std::set<std::string> configurations;
  for (const FitRow& row : rows) {
    networks.insert(row.network);
    configurations.insert(row.network + row.setting);
  }
  return fmt::format("{} rows ({} configurations) of {} on {}", rows.size(), configurations.size(),
                     join({networks.begin(), networks.end()}, ", "), join(plan.devices, ", "));
}

std::vector<std::string> residual_lines(const std::vector<JudgedRow>& rows) {
  std::vector<std::string> lines;
  for (const auto& [side, group] : groups_by_side(rows)) {
    lines.push_back(fmt::format("Rows {}: {}, {}.", to_string(side), group.fitted.size(),
                                summary(accuracy_of(group.fitted))));
  }
  return lines;
}

void tell_fit(const std::string& device, const FitResult& result,
              const std::vector<JudgedRow>& rows, FitOutput& output) {
  for (const FactorEstimate& estimate : result.factors) {
    const FreeFactor& factor = estimate.factor;
    FitLine line{device,
                 "",
                 "factor",
                 factor.name,
                 factor.text(estimate.value),
                 factor.text(estimate.low80),
                 factor.text(estimate.high80)};
    line.identified = estimate.identified ? "yes" : "no";
    output.add(line);
  }
  for (const Correlation& pair : result.correlations) {
    output.add({device, "", "trade_off", pair.first + ", " + pair.second,
                fmt::format("{:.4f}", pair.value), "", ""});
  }
  for (const auto& [side, group] : groups_by_side(rows)) {
    const std::string name(to_string(side));
    output.add_accuracy(device, name, accuracy_of(group.fitted));
    output.add_accuracy(device, name + ", without factors", accuracy_of(group.unfitted));
  }
}

std::string fit_report(const FitResult& result, const std::vector<JudgedRow>& rows, int max_width) {
  std::string text = render_text(factor_table(result), max_width);
  for (const Correlation& pair : result.correlations) {
    text += fmt::format("{} and {} trade off against each other: correlation {:+.2f}\n", pair.first,
                        pair.second, pair.value);
  }
  std::vector<std::string> losses;
  for (const double loss : result.losses) losses.push_back(fmt::format("{:.2f}", loss));
  text += fmt::format("\nloss {:.2f}; reached from each start: {}\n\n", result.loss,
                      join(losses, ", "));
  return text + render_text(accuracy_table(rows), max_width);
}

}  // namespace foretell

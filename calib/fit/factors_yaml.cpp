#include "calib/fit/factors_yaml.hpp"

#include <map>
#include <tuple>

#include "calib/fit/evidence.hpp"
#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/neuron_fields.hpp"

namespace foretell {
namespace {

// The ends of "0.9 .. 1".
std::pair<std::string, std::string> ends_of(const std::string& interval80) {
  const std::size_t dots = interval80.find(" .. ");
  if (dots == std::string::npos) return {};
  return {interval80.substr(0, dots), interval80.substr(dots + 4)};
}

}  // namespace

std::vector<CarriedFactor> carried_factors(const FitPlan& plan, const std::string& device,
                                           const FactorsFile* so_far) {
  std::map<std::string, bool> in_plan;  // and whether it applies to the device
  for (const FreeFactor& factor : plan.factors) {
    in_plan[factor.name] = in_plan[factor.name] || factor.applies_to(device);
  }
  NeuronFactors values = so_far == nullptr ? NeuronFactors{} : so_far->factors;
  NeuronFactors facts_alone;
  FieldList list;
  fields(list, values);
  FieldList neutral;
  fields(neutral, facts_alone);
  std::vector<CarriedFactor> carried;
  for (const Field& field : list.all()) {
    const auto planned = in_plan.find(field.path);
    if (planned != in_plan.end() && planned->second) continue;
    CarriedFactor factor{{field.path, "", ""}, field.text(), "nothing"};
    if (planned != in_plan.end()) {
      factor.value = neutral.at(field.path).text();
      factor.interval80.low = factor.interval80.high = factor.value;
      factor.fitted_on = "nothing: not free on this device";
    } else if (so_far != nullptr) {
      const FittedValue& provenance = so_far->provenance.at(field.path);
      std::tie(factor.interval80.low, factor.interval80.high) = ends_of(provenance.interval80);
      factor.interval80.is_identified = provenance.is_identified;
      factor.fitted_on = provenance.fitted_on;
    }
    carried.push_back(std::move(factor));
  }
  return carried;
}

std::string factors_yaml(const FitResult& result, const FactorsText& text) {
  FactorTable table;
  table.table = "networks";
  table.fitted_on = text.fitted_on;
  for (const FactorEstimate& estimate : result.factors) {
    const FreeFactor& factor = estimate.factor;
    if (!factor.applies_to(text.device)) continue;
    const std::string why =
        estimate.identified ? "" : "nothing: the rows do not determine it; " + factor.why;
    add_factor(table, factor.text(estimate.value),
               {factor.name, factor.text(estimate.low80), factor.text(estimate.high80),
                estimate.identified},
               {why, ""});
  }
  for (const CarriedFactor& factor : text.carried) {
    add_factor(table, factor.value, factor.interval80, {factor.fitted_on, ""});
  }
  table.evidence.trade_offs = trade_offs_of(result);
  table.evidence.residuals = text.residuals;
  return factor_file_text({text.device, text.split, {}, {table}});
}

}  // namespace foretell

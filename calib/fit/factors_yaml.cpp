#include "calib/fit/factors_yaml.hpp"

#include <fmt/format.h>

#include <map>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "calib/fitted/shared/fit_evidence.hpp"
#include "hw/spec/neuron/neuron_fields.hpp"

namespace foretell {
namespace {

std::string comment(const std::string& text) { return "# " + text + "\n"; }

std::string leaf(const FactorEstimate& estimate) {
  const FreeFactor& factor = estimate.factor;
  std::string text = fmt::format("value: {}, interval80: [{}, {}]", factor.text(estimate.value),
                                 factor.text(estimate.low80), factor.text(estimate.high80));
  if (!estimate.identified) {
    text += ", fitted_on: " + quoted_yaml("nothing: the rows do not determine it; " + factor.why);
  }
  return "{" + text + "}";
}

std::string leaf(const CarriedFactor& factor) {
  std::string text = "value: " + factor.value;
  if (factor.interval80.empty()) {
    text += ", status: provisional";
  } else {
    text += ", interval80: " + factor.interval80;
  }
  return "{" + text + ", fitted_on: " + quoted_yaml(factor.fitted_on) + "}";
}

// Factors in the order they come, those of one table ("sdk_engine_time.2.9") together.
class Body {
 public:
  void add(const std::string& name, const std::string& meaning, const std::string& leaf) {
    const std::size_t dot = name.find('.');
    const std::string top = name.substr(0, dot);
    if (texts_.count(top) == 0) {
      order_.push_back(top);
      texts_[top] = "  " + comment(meaning) + "  " + top + ":";
      if (dot != std::string::npos) texts_[top] += "\n";
    }
    if (dot == std::string::npos) {
      texts_[top] += " " + leaf + "\n";
    } else {
      texts_[top] += "    " + quoted_yaml(name.substr(dot + 1)) + ": " + leaf + "\n";
    }
  }

  std::string text() const {
    std::string text;
    for (const std::string& top : order_) text += texts_.at(top);
    return text;
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::string> texts_;
};

// "0.9 .. 1" as a YAML list.
std::string as_list(const std::string& interval80) {
  const std::size_t dots = interval80.find(" .. ");
  if (dots == std::string::npos) return "";
  return "[" + interval80.substr(0, dots) + ", " + interval80.substr(dots + 4) + "]";
}

std::string head(const FitResult& result, const FactorsText& text) {
  std::string head = comment("Written by `foretell calibrate fit`; do not edit.");
  for (const std::string& line : text.residuals) head += comment(line);
  for (const Correlation& pair : result.correlations) {
    head += comment(fmt::format("{} and {} trade off against each other: correlation {:+.2f}.",
                                pair.first, pair.second, pair.value));
  }
  head += "device: " + text.device + "\nstatus: fitted\nfitted_on: " + quoted_yaml(text.fitted_on) +
          "\nsplit: " + quoted_yaml(text.split) + "\nfactors:\n";
  return head;
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
    CarriedFactor factor{field.path, field.text(), "", "nothing", field.meaning};
    if (planned != in_plan.end()) {
      factor.value = neutral.at(field.path).text();
      factor.interval80 = "[" + factor.value + ", " + factor.value + "]";
      factor.fitted_on = "nothing: not free on this device";
    } else if (so_far != nullptr) {
      const FittedValue& provenance = so_far->provenance.at(field.path);
      factor.interval80 = as_list(provenance.interval80);
      factor.fitted_on = provenance.fitted_on;
    }
    carried.push_back(std::move(factor));
  }
  return carried;
}

std::string factors_yaml(const FitResult& result, const FactorsText& text) {
  Body body;
  for (const FactorEstimate& estimate : result.factors) {
    if (!estimate.factor.applies_to(text.device)) continue;
    body.add(estimate.factor.name, estimate.factor.meaning, leaf(estimate));
  }
  for (const CarriedFactor& factor : text.carried) {
    body.add(factor.name, factor.meaning, leaf(factor));
  }
  return head(result, text) + body.text();
}

}  // namespace foretell

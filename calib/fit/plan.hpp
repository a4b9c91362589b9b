// What a fit may move: the free factors of a device family and what is believed about each before
// a measurement is seen (calib/fit/*_factors.yaml, which documents the keys).
#pragma once

#include <string>
#include <vector>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {

// Values are in base units (seconds, or plain numbers).
struct FreeFactor {
  std::string name;  // path inside NeuronFactors: "call_overhead", "sdk_engine_time.2.9"
  double prior = 0;
  double width = 1;  // one standard deviation of the belief, above zero
  double low = 0;
  double high = 0;
  Dimension dimension;
  std::string meaning;               // from the declaration of the parameter
  std::string why;                   // where the prior comes from
  std::vector<std::string> devices;  // those it applies to

  bool applies_to(const std::string& device) const;
  // With four significant digits and its unit: "231.4 us".
  std::string text(double value) const;
};

struct FitPlan {
  std::vector<std::string> devices;
  double noise = 0;  // relative error of a configuration that is no news, above zero
  // Column of the table that is compared: "call_ms" of forward passes, "tpot_ms" or "ttft_ms" of
  // token generation.
  std::string measured = "call_ms";
  // The factors of the devices so far stay in force below the free ones; otherwise published facts.
  bool on_top = false;
  std::vector<FreeFactor> factors;
};

// UserError, all problems in one: unknown factors (with the nearest), values outside the range of
// the parameter, a prior outside [low, high], devices that are not in the list of the plan.
FitPlan load_fit_plan(const std::string& path);
FitPlan parse_fit_plan(const std::string& text, const std::string& shown_as);

}  // namespace foretell

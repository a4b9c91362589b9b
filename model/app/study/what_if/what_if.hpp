// What a faster part would gain: the same prediction with one part of the hardware improved.
#pragma once

#include <string>
#include <vector>

#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/prediction.hpp"
#include "reports/render/table.hpp"

namespace foretell {

struct WhatIf {
  std::string change;    // "tensor engine clock x 2"
  std::string override;  // "core.tensor.clock=5.6 GHz"
};

// One per part that the system has and that is not zero. `parameters` are the effective ones,
// overrides of the user included.
std::vector<WhatIf> what_ifs(const std::vector<Parameter>& parameters,
                             const std::vector<ImprovedPart>& parts);

// The value with its number multiplied: scaled_value("820 GB/s", 2) is "1640 GB/s". UserError when
// it does not begin with a number.
std::string scaled_value(const std::string& value, double factor);

struct ImprovedCall {
  WhatIf what;
  double call_s = 0;       // of a service: the mean time of an answer
  double gain = 0;         // share of that time as it is
  std::string bottleneck;  // what bounds the call then: it hides what else the change sped up
};

// Predicts every change of `request`, which takes what `unchanged` says, in workers; largest gain
// first. Changes that cannot be predicted are left out.
std::vector<ImprovedCall> improved_calls(const Predictor& predict, const Request& request,
                                         const RunSummary& unchanged, int jobs);

// `time` is what the times are of: a call, an answer.
Table what_if_table(const std::vector<ImprovedCall>& calls, const char* time = "call");

// Which changes gain less than 1 % and what hides them, a sentence for each of these; "" when every
// change gains more.
std::string hidden_text(const std::vector<ImprovedCall>& calls, const char* time = "call");

}  // namespace foretell

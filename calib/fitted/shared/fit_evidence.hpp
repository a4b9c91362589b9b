// How sure a fit of the factors of GPU kernels is, as it stands in the factor file under
// `evidence`:
//
//   evidence:
//     provenance: NVIDIA H200, driver 580.65, measured by …, 2026-01-31
//     prior: factors of trtllm bf16 on h200-sxm
//     interval80: {mma_efficiency: [0.81, 0.85], step: [150 cycles, 171 cycles]}
//     not_identified: [l2_share]      # the rows do not determine these; the prior stands
//     trade_offs: ["step and prologue: -0.91"]
//     interval_from: 87 rows of families held out   # the interval of predictions
//     residuals: ["up to 16 rows, fitted on: n 120, MAPE 4.1 % …"]
#pragma once

#include <string>
#include <vector>

#include "model/config/document.hpp"

namespace foretell {

struct FactorInterval {
  std::string factor;
  std::string low;  // with unit
  std::string high;
};

struct FitEvidence {
  std::string provenance;
  std::string prior;
  std::vector<FactorInterval> interval80;
  std::vector<std::string> not_identified;
  std::vector<std::string> trade_offs;
  std::string interval_from;  // what the 80 % interval of predictions was made from
  std::vector<std::string> residuals;

  bool empty() const { return interval80.empty(); }
};

// In double quotes, what would end them escaped.
std::string quoted_yaml(const std::string& text);

// UserError with file:line.
FitEvidence read_fit_evidence(const Node& node);

// YAML that is indented by `indent`; "" when there is no evidence.
std::string fit_evidence_text(const FitEvidence& evidence, const std::string& indent);

}  // namespace foretell

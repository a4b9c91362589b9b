// A scenario: a question, the predictions that answer it, and claims that they are held against.
//
//   title: Inf2 claims
//   about: What the vendor says, and what the predictions say.
//   runs:                              # each like one `foretell compare`, keys are its options
//     - {on: [inf2.xlarge, inf2.48xlarge], workload: bert-large-uncased, dtype: [bf16], seq: 128}
//     - {on: inf2.xlarge, workload: gpt2, set: device.cores=4, name: twice the cores}
//   claims:
//     - says: 40 % better price-performance
//       source: INF2
//       metric: cost_usd_per_million   # see claim.hpp
//       of: {system: inf2.xlarge}
//       against: {system: h100-sxm}
//       at_most: 0.6
//     - {says: up to 4 times the throughput of Inf1, source: INF2, open: Inf1 is not modelled}
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/terminal/session.hpp"
#include "reports/render/claim.hpp"
#include "reports/render/page_data.hpp"

namespace foretell {

struct ScenarioFile {
  std::string title;
  std::string about;
  std::vector<Request> requests;
  std::map<std::string, std::string> names;  // of overrides, with ", " between
  std::vector<Claim> claims;
};

// UserError with file and line for keys and values that mean nothing.
ScenarioFile load_scenario(const std::string& path);

// Predicts all requests in `jobs` processes. What cannot be predicted is listed with its reason;
// UserError when nothing can.
ReportContent predict_scenario(const ScenarioFile& scenario, int jobs, const Session& session);

}  // namespace foretell

// Points of a study that are plans: the cheapest deployment on a system that keeps the promises
// under a load, as `foretell plan` finds it.
#pragma once

#include "model/app/plan/plan.hpp"
#include "model/app/request/prediction.hpp"

namespace foretell {

// The key of a study, whose value is that of `--workers`: together, separate or both.
inline constexpr const char* kPlanKey = "plan";

inline bool is_planned(const Request& request) { return request.service.count(kPlanKey) > 0; }

// The plan that a request of a study asks for. UserError for what a plan chooses itself or does not
// take, and for what `foretell plan` refuses whatever the system.
PlanRequest planned_request(const Request& request);

// The cheapest deployment as a record: throughput, requests/s and USD are those of all its
// instances, latency is that of a whole answer, times are means. Its label, where the request has
// none, and its notes say how it is set up. UserError with the nearest promises where nothing keeps
// them.
RunRecord planned_record(const Predictor& predict, const Request& request);

}  // namespace foretell

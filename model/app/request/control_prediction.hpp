// The prediction of a network with branches and loops from predictions of its parts.
#pragma once

#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/base/units.hpp"
#include "workloads/import/control_flow.hpp"

namespace foretell {

// The control flow of the network that the request names; empty where there is none.
std::vector<ControlStep> control_flow_of(const Request& request);

// Predicts every different part by itself and joins them: the call has the distribution that the
// probabilities of the branches and the trips of the loops give it, each independent of the others;
// `branch` is the time of a decision that is not known beforehand, and of every trip of a loop.
// Weights of all parts stay in memory. UserError where a probability or a number of trips is
// missing (with the option that states it), for one that nothing is called after, and where the
// parts together do not fit the memory.
RunRecord predict_control_flow(const Request& request, const std::vector<ControlStep>& steps,
                               Seconds branch, const Predictor& predict_part);

}  // namespace foretell

// The cheapest deployment that keeps promises: searches systems, data types, splits and numbers of
// instances. Cheap bounds prune, simulations decide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/app/serving/request/serve.hpp"
#include "reports/record/plan_record.hpp"

namespace foretell {

inline constexpr const char* kAllEngines = "all";

// What to plan. The service states network, load, lengths, promises and everything that is the
// same for all candidates; its system, data type, split and copies are searched.
struct PlanRequest {
  ServeRequest service;
  std::vector<std::string> systems;       // none: all that have a price
  std::vector<std::string> dtypes;        // none: fp8, bf16, fp16
  std::vector<std::string> engines;       // none, {"all"}: the newest of each that a system runs
  std::vector<std::string> libraries;     // of kernels; none: the default alone
  std::vector<std::int64_t> max_batches;  // none: the engine's, and what promises allow
  std::string workers = "both";           // together, separate (prefill and decode), both
  double probability = 0.8;               // with which all promises are to be kept
};

// Systems to search: those that are named, or all with a price on demand. UserError for unknown
// names and for named systems without a price.
std::vector<std::string> candidate_systems(const PlanRequest& request);

// Everything that is wrong with a request whatever the system: load, lengths, promises, network,
// engine.
void check_plan(const PlanRequest& request);

// UserError for overrides and options that none of the systems takes, with what the first one says:
// a mistake, and no reason to fall out.
void check_settings(const PlanRequest& request, const std::vector<std::string>& systems);

// The deployments of one system that keep the promises, and why others do not.
SystemPlan plan_system(const Predictor& predict, const PlanRequest& request,
                       const std::string& system);

// Where nothing that was searched holds the network: the cheapest instance of GPUs that does, with
// its type and split, as in "p5.48xlarge with fp8 and tp 8"; "" when there is none.
std::string cheapest_that_holds(const Predictor& predict, const PlanRequest& request);

// Whether a request states how workers share the devices, or how many there are.
bool states_workers(const ServeRequest& service);

// Over all systems: marks the deployments that no other is better than in cost, TTFT, TPOT
// and joules; one whose energy is not known is the worst in joules.
void mark_front(PlanRecord& plan);

// The load and what else every candidate shares, as options: "--rate 4 --input-len 1024 …".
std::string load_options(const ServeRequest& service);

}  // namespace foretell

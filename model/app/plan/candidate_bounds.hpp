// What memory and single steps leave of every way to set up a system: the bounds that prune.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/app/plan/candidate.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/base/errors.hpp"
#include "workloads/traffic/load.hpp"

namespace foretell {

// A candidate and the least that single steps leave of it.
struct Bounded {
  Candidate candidate;
  double rate = 0;         // requests/s of an instance at most
  double alone_s = 0;      // of a request at least
  std::int64_t least = 1;  // instances
};

// Every type, library, split, engine and limit of the batch that the request allows on a system;
// what it states of them is not searched. `refuse` gets what does not run, and why.
std::vector<Bounded> bounded_candidates(
    MachinePool& pool, const PlanRequest& request, const std::string& system, const Load& load,
    const std::function<void(const Candidate&, const UserError&)>& refuse);

// Requests per second that come, whatever is answered; 0 of clients that wait.
double request_rate_of(const ServeRequest& service, const Load& load);

}  // namespace foretell

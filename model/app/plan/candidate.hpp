// The ways to set up an instance that a plan chooses between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/app/plan/plan.hpp"

namespace foretell {

// Of these, systems refuse what they do not multiply in.
inline const std::vector<std::string> kPlannedTypes = {"fp8", "bf16", "fp16"};

// For the memory of a worker's activations.
inline constexpr std::int64_t kTokensOfAStep = 8192;

struct Candidate {
  std::string dtype;
  std::string engine;  // as it is typed; "": the default of the system
  int tp = 1;
  int attention_dp = 1;  // ranks of a worker, of `tp` devices each, with sequences of their own
  int ep = 1;            // groups of devices of a worker that each hold some of the experts
  int workers = 1;       // of an instance
  int prefill = 0;       // of these, where prompts and answers are apart
  std::int64_t max_batch = 0;  // sequences; 0: the engine's

  int devices() const { return tp * attention_dp; }  // of a worker
};

// The network alone on a worker of the candidate, without its engine.
Request worker_request(const PlanRequest& plan, const std::string& system,
                       const Candidate& candidate);

// One of `instances` under its share of the load. Numbers are those that options() prints.
ServeRequest share_of(const PlanRequest& plan, const std::string& system,
                      const Candidate& candidate, std::int64_t instances);

// "foretell serve …" of exactly this service.
std::string serve_command(const ServeRequest& service);

// How the devices of a worker can share the network: tensor parallelism alone, and for networks of
// experts on GPUs also experts that lie on one device each, with attention shared or by ranks.
std::vector<Candidate> splits_of(const Candidate& of_type, const std::vector<int>& degrees,
                                 bool has_experts);

// Workers for prompts that are tried beside together (0), as `--workers` says.
std::vector<int> prefill_choices(const std::string& how, int workers);

// Engines to try on a system: those that are stated, else the newest of each that runs there.
std::vector<std::string> engines_for(const PlanRequest& plan, const std::string& system);

}  // namespace foretell

// The ways to set up an instance that a plan chooses between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/app/plan/plan.hpp"
#include "workloads/import/hf/config/model_config.hpp"

namespace foretell {

// Of these, systems refuse what they do not multiply in.
inline const std::vector<std::string> kPlannedTypes = {"fp8", "bf16", "fp16"};

using Candidate = DeploymentSetting;

// The network alone on a worker of the candidate, without its engine.
Request worker_request(const PlanRequest& plan, const std::string& system,
                       const Candidate& candidate);

// One of `instances` under its share of the load. Numbers are those that options() prints.
ServeRequest share_of(const PlanRequest& plan, const std::string& system,
                      const Candidate& candidate, std::int64_t instances);

// The name that an engine fetches a network by: the one that was asked for, where it is such a
// name.
std::string published_name(const ModelConfig& model, const std::string& asked);

// "foretell serve …" of exactly this service.
std::string serve_command(const ServeRequest& service);

// What a system allows.
struct SplitChoices {
  std::vector<int> degrees;  // of tensor parallelism, ascending
  int devices = 1;           // of the system
  bool has_experts = false;  // that can lie apart, attention by ranks of its own beside them
  bool has_stages = false;   // the network can be cut into stages
  Candidate stated = none_stated();  // what is not searched; 0: not stated

  static Candidate none_stated();
};

// The parts of a split that a request states.
Candidate stated_split(const ServeRequest& service);

// How the devices of a worker can share the network: tensor parallelism; stages of it; for networks
// of experts also every number of groups of devices with experts of their own, and attention on
// ranks of every size beside experts that all lie apart. Of these those that have what is stated;
// where none has, what is stated alone.
std::vector<Candidate> splits_of(const Candidate& of_type, const SplitChoices& choices);

// Workers for prompts that are tried beside together (0), as `--workers` says.
std::vector<int> prefill_choices(const std::string& how, int workers);

// Engines to try on a system: those that are stated, else the newest of each that runs there.
std::vector<std::string> engines_for(const PlanRequest& plan, const std::string& system);

}  // namespace foretell

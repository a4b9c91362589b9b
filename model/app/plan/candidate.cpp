#include "model/app/plan/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "hw/engines/engine_catalog.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/resolve/step_tokens.hpp"
#include "model/app/serving/request/serve_parts.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

Request machine_request(const PlanRequest& plan, const std::string& system,
                        const Candidate& candidate) {
  Request machine = plan.service.machine;
  machine.system = system;
  machine.dtype = candidate.dtype;
  machine.tp = static_cast<int>(candidate.tp);
  machine.pp = candidate.pp > 1 ? static_cast<int>(candidate.pp) : 0;
  machine.ep = candidate.ep > 1 ? static_cast<int>(candidate.ep) : 0;
  if (!candidate.library.empty()) machine.library = candidate.library;
  return machine;
}

std::string split_text(const Candidate& candidate, std::int64_t workers) {
  std::string text = fmt::format("tp={},workers={}", candidate.tp, workers);
  if (candidate.pp > 1) text += fmt::format(",pp={}", candidate.pp);
  if (candidate.attention_dp > 1) text += fmt::format(",attention-dp={}", candidate.attention_dp);
  if (candidate.ep > 1) text += fmt::format(",ep={}", candidate.ep);
  return text;
}

// As it is printed, so that what is typed from there is the same number.
double as_printed(double rate) { return rounded_to(rate, 6); }

// Families whose default is an engine of their own run no other, and that one runs nowhere else.
std::vector<std::string> engines_of(std::string_view family) {
  const EngineCatalog catalog;
  const std::string common = catalog.default_engine();
  if (family != gpu_family().name()) return {catalog.default_engine(family)};
  std::vector<std::string> engines = catalog.engines();
  for (const DeviceFamily* other : device_families()) {
    const std::string theirs = catalog.default_engine(other->name());
    if (theirs == common || other->name() == family) continue;
    engines.erase(std::remove(engines.begin(), engines.end(), theirs), engines.end());
  }
  return engines;
}

}  // namespace

Request worker_request(const PlanRequest& plan, const std::string& system,
                       const Candidate& candidate) {
  Request machine = machine_request(plan, system, candidate);
  take_engine_set(machine);
  machine.attention_dp = candidate.attention_dp > 1 ? static_cast<int>(candidate.attention_dp) : 0;
  return machine;
}

ServeRequest share_of(const PlanRequest& plan, const std::string& system,
                      const Candidate& candidate, std::int64_t instances) {
  ServeRequest one = plan.service;
  one.machine = machine_request(plan, system, candidate);
  if (!candidate.engine.empty()) one.engine = candidate.engine;
  if (candidate.max_batch > 0) one.max_batch = candidate.max_batch;
  const auto shares = static_cast<double>(instances);
  if (one.concurrency > 0) {
    one.concurrency =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(one.concurrency) / shares));
  }
  if (one.rate > 0) one.rate = as_printed(one.rate / shares);
  if (!one.trace.empty()) one.trace_every *= instances;
  if (!candidate.prefill.empty() || candidate.prefill_workers > 0) {
    one.machine.tp = one.machine.ep = one.machine.pp = 0;  // stated in the splits
    one.dp = one.attention_dp = 0;
  }
  if (!candidate.prefill.empty()) {
    one.prefill = candidate.prefill;
    one.decode = candidate.decode;
  } else if (candidate.prefill_workers > 0) {
    one.prefill = split_text(candidate, candidate.prefill_workers);
    one.decode = split_text(candidate, candidate.workers - candidate.prefill_workers);
  } else {
    one.dp = static_cast<int>(candidate.workers);
    one.attention_dp = static_cast<int>(candidate.attention_dp);
  }
  return one;
}

std::string serve_command(const ServeRequest& service) {
  const Request& machine = service.machine;
  ServeRequest rest = service;  // what is not said yet
  std::string text = fmt::format("foretell serve --on {} --workload {} --dtype {}", machine.system,
                                 machine.workload, machine.dtype);
  if (service.prefill.empty()) {
    text += fmt::format(" --tp {} --dp {}", machine.tp, service.dp);
    if (machine.pp > 1) text += fmt::format(" --pp {}", machine.pp);
    if (service.attention_dp > 1) text += fmt::format(" --attention-dp {}", service.attention_dp);
    if (machine.ep > 1) text += fmt::format(" --ep {}", machine.ep);
    rest.machine.tp = rest.machine.pp = rest.machine.ep = rest.dp = rest.attention_dp = 0;
  } else {
    text += fmt::format(" --prefill {} --decode {}", service.prefill, service.decode);
    rest.prefill.clear();
    rest.decode.clear();
  }
  if (!machine.library.empty()) text += " --library " + machine.library;
  rest.machine.library.clear();
  text += " " + load_options(rest);
  if (service.requests > 0) text += fmt::format(" --requests {}", service.requests);
  if (service.warm_up > 0) text += fmt::format(" --warm-up {}", service.warm_up);
  return fmt::format("{} --slo '{}'", text, service.slo);
}

Candidate SplitChoices::none_stated() {
  Candidate none;
  none.tp = none.pp = none.attention_dp = none.ep = 0;
  return none;
}

Candidate stated_split(const ServeRequest& service) {
  Candidate stated = SplitChoices::none_stated();
  stated.tp = service.machine.tp;
  stated.pp = service.machine.pp;
  stated.attention_dp = service.attention_dp;
  stated.ep = service.machine.ep;
  return stated;
}

std::vector<Candidate> splits_of(const Candidate& of_type, const SplitChoices& choices) {
  const Candidate& stated = choices.stated;
  std::set<std::int64_t> degrees(choices.degrees.begin(), choices.degrees.end());
  if (stated.tp > 0) degrees.insert(stated.tp * std::max<std::int64_t>(1, stated.attention_dp));
  const auto doubling = [](std::int64_t only, std::int64_t most) {
    std::vector<std::int64_t> values;
    if (only > 1) return std::vector<std::int64_t>{only};
    for (std::int64_t value = 2; value <= most; value *= 2) values.push_back(value);
    return values;
  };
  std::vector<Candidate> splits;
  for (const std::int64_t degree : degrees) {
    Candidate split = of_type;
    split.tp = degree;
    splits.push_back(split);
    if (choices.has_stages) {
      for (const std::int64_t stages : doubling(stated.pp, choices.devices / degree)) {
        split.pp = stages;
        splits.push_back(split);
      }
    }
    split.pp = 1;
    if (!choices.has_experts) continue;
    for (const std::int64_t groups : doubling(stated.ep, degree)) {
      if (degree % groups != 0) continue;
      split.ep = groups;
      splits.push_back(split);
    }
    split.ep = stated.ep > 0 ? stated.ep : degree;
    for (const std::int64_t ranks : doubling(stated.attention_dp, degree)) {
      if (degree % ranks != 0) continue;
      split.tp = degree / ranks;
      split.attention_dp = ranks;
      splits.push_back(split);
    }
  }
  static constexpr std::int64_t DeploymentSetting::*kParts[] = {
      &DeploymentSetting::tp, &DeploymentSetting::pp, &DeploymentSetting::attention_dp,
      &DeploymentSetting::ep};
  const auto differs = [&stated](const Candidate& split) {
    return std::any_of(std::begin(kParts), std::end(kParts), [&](const auto part) {
      return stated.*part > 0 && split.*part != stated.*part;
    });
  };
  splits.erase(std::remove_if(splits.begin(), splits.end(), differs), splits.end());
  if (!splits.empty()) return splits;
  Candidate exact = of_type;
  for (const auto part : kParts) exact.*part = std::max<std::int64_t>(1, stated.*part);
  return {exact};
}

std::vector<int> prefill_choices(const std::string& how, int workers) {
  std::set<int> choices;
  if (how != "separate") choices.insert(0);
  if (how != "together") {
    for (const int one : {1, workers / 4, workers / 2}) {
      if (one >= 1 && one < workers) choices.insert(one);
    }
  }
  return {choices.begin(), choices.end()};
}

std::string cheapest_that_holds(const Predictor& predict, const PlanRequest& request) {
  PlanRequest any = request;
  any.systems.clear();
  std::string found;
  double least = std::numeric_limits<double>::infinity();
  const std::int64_t step_tokens = tokens_of_step(gpu_family().name());
  for (const std::string& system : candidate_systems(any)) {
    Request bare;
    bare.system = system;
    bare.set = request.service.machine.set;
    if (!gpu_family().has_system(system)) continue;
    const double price = gpu_family().prices(bare).at(kOnDemand);
    for (const std::string& dtype : request.dtypes.empty() ? kPlannedTypes : request.dtypes) {
      if (price >= least) break;
      Candidate candidate;
      candidate.dtype = dtype;
      try {
        MachinePool pool(predict);
        candidate.tp = family_of(system)
                           .resolve(worker_request(request, system, candidate))
                           ->place()
                           .degrees.back();
        const WorkerMachine& machine =
            pool.machine(worker_request(request, system, candidate), step_tokens);
        if (!(machine.weights + machine.workspace < machine.capacity)) continue;
      } catch (const UserError&) {
        continue;  // another reason than memory
      }
      least = price;
      found = fmt::format("{} with {} and tp {}", system, dtype, candidate.tp);
    }
  }
  return found;
}

std::string published_name(const ModelConfig& model, const std::string& asked) {
  for (const std::string& name : model.also_called) {
    if (to_lower(name) == to_lower(asked)) return name;
  }
  return model.published_as.empty() ? asked : model.published_as;
}

std::vector<std::string> engines_for(const PlanRequest& plan, const std::string& system) {
  if (!plan.service.engine.empty()) return {plan.service.engine};
  const std::vector<std::string> all = {kAllEngines};
  if (!plan.engines.empty() && plan.engines != all) return plan.engines;
  return engines_of(family_of(system).name());
}

}  // namespace foretell

#include "model/app/plan/candidate_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hw/engines/launch_commands.hpp"
#include "model/app/plan/static_bound.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/resolve/step_tokens.hpp"
#include "model/app/serving/request/split_text.hpp"
#include "model/base/errors.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

constexpr double kSlack = 1.25;  // of the bound that prunes

Candidate with_split(const Candidate& of_library, const WorkerSplit& split) {
  Candidate candidate = of_library;
  candidate.tp = split.tp;
  candidate.pp = split.pp;
  candidate.attention_dp = split.attention_dp;
  candidate.ep = split.ep;
  return candidate;
}

// A step with guesses makes the first token, and each further one whose guesses were right so far.
double tokens_per_step(const std::string& speculate) {
  if (speculate.empty()) return 1;
  const Speculation guesses = parse_speculation(speculate);
  double tokens = 0;
  for (std::int64_t i = 0; i <= guesses.drafts; ++i)
    tokens += std::pow(guesses.acceptance, static_cast<double>(i));
  return tokens;
}

// Of a rank of a worker, and how many of them it has.
struct RankBound : StaticBound {
  int ranks = 1;
};

class CandidateBounds {
 public:
  CandidateBounds(MachinePool& pool, const PlanRequest& request, const std::string& system,
                  const Load& load,
                  const std::function<void(const Candidate&, const UserError&)>& refuse)
      : pool_(pool),
        request_(request),
        system_(system),
        load_(load),
        refuse_(refuse),
        promises_(parse_promises(request.service.slo)),
        mean_{mean_input(load), mean_output(load), request.service.prefix_share,
              tokens_per_step(request.service.speculate)},
        commands_(LaunchCommands::load()) {
    const bool on_gpus = gpu_family().has_system(system_);
    choices_.has_experts = WorkloadLibrary().load(request.service.machine.workload).experts > 0 &&
                           (on_gpus || neuron_family().has_system(system_));
    choices_.has_stages = on_gpus;
    choices_.stated = stated_split(request.service);
  }

  std::vector<Bounded> find() {
    const std::vector<std::string> engines = engines_for(request_, system_);
    const std::vector<std::string> default_library = {""};
    for (const std::string& dtype : request_.dtypes.empty() ? kPlannedTypes : request_.dtypes) {
      for (const std::string& library :
           request_.libraries.empty() ? default_library : request_.libraries) {
        Candidate of_library;
        of_library.dtype = dtype;
        of_library.library = library;
        if (!request_.service.prefill.empty()) {
          bound_stated_workers(of_library, engines);
        } else if (find_degrees(of_library)) {
          for (const Candidate& split : splits_of(of_library, choices_))
            bound_split(split, engines);
        }
      }
    }
    return std::move(bounded_);
  }

 private:
  // The degrees of tensor parallelism here. False: the type or the library is refused.
  bool find_degrees(const Candidate& candidate) {
    try {
      Request request = worker_request(request_, system_, candidate);
      request.images = request.image_size = request.image_width = 0;  // of prompts, see the load
      request.moe_tp = request.cp = 0;                                // of splits, as they come
      request.redundant_experts = 0;
      const MemoryPlace place = family_of(system_).resolve(request)->place();
      choices_.degrees = place.degrees;
      choices_.devices = place.devices;
      return true;
    } catch (const UserError& error) {
      Candidate refused = candidate;
      refused.tp = 0;
      refuse_(refused, error);
      return false;
    }
  }

  const WorkerMachine& machine_of(const Candidate& split) {
    return pool_.machine(worker_request(request_, system_, split), step_tokens_);
  }

  // Memory and single steps, of every way to set up workers that are split so.
  void bound_split(const Candidate& split, const std::vector<std::string>& engines) {
    try {
      const WorkerMachine& machine = machine_of(split);
      Candidate candidate = split;
      const std::int64_t fit =
          machine.devices / std::max<std::int64_t>(split.devices(), machine.devices_per_worker);
      candidate.workers = request_.service.dp > 0 ? request_.service.dp : fit;
      if (candidate.workers > fit || fit == 0) {
        if (states_workers(request_.service)) {
          refuse_(candidate, UserError(fmt::format(
                                 "{} workers of {} devices do not fit the {} of {}",
                                 candidate.workers, split.devices(), machine.devices, system_)));
        }
        return;
      }
      for (const std::int64_t batch : batches_of(machine)) {
        candidate.max_batch = batch;
        const RankBound step = bound_of(machine, batch);
        for (const int prefill :
             prefill_choices(request_.workers, static_cast<int>(candidate.workers))) {
          candidate.prefill_workers = prefill;
          add(candidate, engines, rate_of(candidate, step, step), step.alone_s / kSlack);
        }
      }
    } catch (const UserError& error) {
      refuse_(split, error);
    }
  }

  // Separate workers as --prefill and --decode state them.
  void bound_stated_workers(const Candidate& of_library, const std::vector<std::string>& engines) {
    const ServeRequest& service = request_.service;
    const WorkerSplit first = parse_split("--prefill", service.prefill);
    const WorkerSplit second = parse_split("--decode", service.decode);
    const Candidate prompts = with_split(of_library, first);
    Candidate candidate = with_split(of_library, second);
    candidate.workers = first.workers + second.workers;
    candidate.prefill_workers = first.workers;
    candidate.prefill = service.prefill;
    candidate.decode = service.decode;
    try {
      const WorkerMachine& prompting = machine_of(prompts);
      const WorkerMachine& machine = machine_of(candidate);
      const std::int64_t needed =
          prompts.devices() * first.workers + candidate.devices() * second.workers;
      if (needed > machine.devices) {
        throw UserError(fmt::format("--prefill and --decode need {} devices, {} has {}", needed,
                                    system_, machine.devices));
      }
      for (const std::int64_t batch : batches_of(machine)) {
        candidate.max_batch = batch;
        const RankBound prompt = bound_of(prompting, batch);
        const RankBound step = bound_of(machine, batch);
        add(candidate, engines, rate_of(candidate, prompt, step),
            std::min(prompt.alone_s, step.alone_s) / kSlack);
      }
    } catch (const UserError& error) {
      refuse_(candidate, error);
    }
  }

  RankBound bound_of(const WorkerMachine& machine, std::int64_t batch) const {
    return {static_bound(machine, mean_, promises_, batch, kSlack), machine.ranks};
  }

  // Requests/s of an instance at most, from a step of a prompt and one of tokens.
  double rate_of(const Candidate& candidate, const RankBound& prompt, const RankBound& step) const {
    const double tokens_s = (mean_.output - 1) * step.token_s;
    const double tokens_each = kSlack * step.ranks;
    if (candidate.prefill_workers == 0) {
      return static_cast<double>(candidate.workers) * tokens_each / (prompt.prompt_s + tokens_s);
    }
    const std::int64_t decode = candidate.workers - candidate.prefill_workers;
    const double rate =
        static_cast<double>(candidate.prefill_workers) * kSlack * prompt.ranks / prompt.prompt_s;
    if (!(tokens_s > 0)) return rate;
    return std::min(rate, static_cast<double>(decode) * tokens_each / tokens_s);
  }

  void add(const Candidate& candidate, const std::vector<std::string>& engines, double rate,
           double alone_s) {
    Bounded one{candidate, rate, alone_s, 1};
    // Clients that wait for their answers send as few requests as there are answers: any number
    // of instances may do.
    if (!load_.is_closed() && rate > 0) {
      one.least = std::max<std::int64_t>(
          1, std::llround(std::floor(request_rate_of(request_.service, load_) / rate)));
    }
    for (const std::string& engine : engines) {
      if (!can_start(candidate, engine)) continue;
      one.candidate.engine = engine;
      bounded_.push_back(one);
    }
  }

  // Engines without an option for the number of groups of experts make each device one. What is
  // stated is predicted as it is.
  bool can_start(const Candidate& split, const std::string& engine) const {
    const bool mixed = split.ep > 1 && split.ep < split.devices();
    return !mixed || states_workers(request_.service) || commands_.states_groups(engine);
  }

  // Limits of the sequences of a worker: the engine's own, and the most that keep a promise.
  std::vector<std::int64_t> batches_of(const WorkerMachine& machine) const {
    if (!request_.max_batches.empty()) return request_.max_batches;
    if (request_.service.max_batch > 0) return {0};
    const StaticBound step = bound_of(machine, 0);
    if (!step.batch_is_promised || step.batch == 0) return {0};
    return {0, step.batch};
  }

  MachinePool& pool_;
  const PlanRequest& request_;
  const std::string& system_;
  const Load& load_;
  const std::function<void(const Candidate&, const UserError&)>& refuse_;
  std::vector<Promise> promises_;
  MeanRequest mean_;
  LaunchCommands commands_;
  SplitChoices choices_;
  std::int64_t step_tokens_ = tokens_of_step(gpu_family().name());
  std::vector<Bounded> bounded_;
};

}  // namespace

std::vector<Bounded> bounded_candidates(
    MachinePool& pool, const PlanRequest& request, const std::string& system, const Load& load,
    const std::function<void(const Candidate&, const UserError&)>& refuse) {
  return CandidateBounds(pool, request, system, load, refuse).find();
}

double request_rate_of(const ServeRequest& service, const Load& load) {
  if (service.rate > 0) return service.rate;
  if (load.trace.size() > 1) {
    const double span = load.trace.back().arrival_s - load.trace.front().arrival_s;
    if (span > 0) return static_cast<double>(load.trace.size() - 1) / span;
  }
  return 0;
}

}  // namespace foretell

// The search on one system: every data type and split, then the fewest instances of each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include "hw/engines/launch_commands.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/plan/certainty.hpp"
#include "model/app/plan/plan.hpp"
#include "model/app/plan/static_bound.hpp"
#include "model/app/request/device_family.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/render/si_format.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kStepTokens = 8192;    // for the memory of a worker's activations
constexpr std::int64_t kLoneRequests = 40;    // to see a service without any queue
constexpr double kLoneRate = 0.005;           // per second: nobody meets anybody
constexpr std::int64_t kLeastRequests = 600;  // of a simulation that decides
constexpr std::int64_t kMostRequests = 4000;
constexpr std::int64_t kTurnovers = 8;  // of the requests in flight that are simulated
constexpr double kSlack = 1.25;         // of the bound that prunes
constexpr double kGrowth = 1.35;        // of the number of instances, until it suffices
constexpr double kSeveralTimes = 4;     // instances per request in flight: no queue left
constexpr double kGrowing = 1.5;        // TTFT late in the load over that in its middle

// Of these, systems refuse what they do not multiply in.
const std::vector<std::string> kTypes = {"fp8", "bf16", "fp16"};

struct Candidate {
  std::string dtype;
  int tp = 1;
  int workers = 1;  // of an instance
  int prefill = 0;  // of these
};

struct Trial {
  ServeRecord record;
  double probability = 0;
  bool stable = true;
};

// Do requests that come late wait much longer than those in the middle? Then the queue grows.
bool grows(const ServeRecord& record) {
  const std::vector<ServedRecord>& all = record.requests;
  const auto mean = [&all](double from, double to) {
    const auto size = static_cast<double>(all.size());
    double sum = 0;
    double count = 0;
    for (auto i = static_cast<std::size_t>(from * size); i < static_cast<std::size_t>(to * size);
         ++i) {
      sum += all[i].ttft_s;
      count += 1;
    }
    return count > 0 ? sum / count : 0;
  };
  return mean(0.8, 1) > kGrowing * mean(0.4, 0.6) && mean(0.6, 0.8) > mean(0.4, 0.6);
}

std::int64_t scenario_count(const ServeRecord& record, const char* name) {
  for (const auto& [key, value] : record.context.scenario) {
    if (key == name) return std::stoll(value);
  }
  return 0;
}

class SystemSearch {
 public:
  SystemSearch(const Predictor& predict, const PlanRequest& request, std::string system)
      : pool_(predict),
        request_(request),
        system_(std::move(system)),
        promises_(parse_promises(request.service.slo)),
        load_(load_of(request.service)),
        commands_(LaunchCommands::load()) {
    Request priced;
    priced.system = system_;
    price_ = family_of(system_).prices(priced).at(kOnDemand);
    network_ = WorkloadLibrary().load(request.service.machine.workload).published_as;
    if (network_.empty()) network_ = request.service.machine.workload;
  }

  SystemPlan run() {
    plan_.system = system_;
    const std::vector<std::string> dtypes = request_.dtypes.empty() ? kTypes : request_.dtypes;
    for (const std::string& dtype : dtypes) {
      for (const int tp : splits_of(dtype)) try_split(dtype, tp);
    }
    if (request_.workers == "both") try_separate_like_best();
    std::sort(plan_.deployments.begin(), plan_.deployments.end(),
              [](const PlannedDeployment& a, const PlannedDeployment& b) {
                return std::tie(a.usd_per_million, a.ttft_s.mean, a.dtype, a.tp) <
                       std::tie(b.usd_per_million, b.ttft_s.mean, b.dtype, b.tp);
              });
    return std::move(plan_);
  }

 private:
  // Degrees of tensor parallelism of the network on this system; none when the type is refused.
  std::vector<int> splits_of(const std::string& dtype) {
    try {
      const Request request = machine_request({dtype, 1, 1, 0});
      return family_of(system_).resolve(request)->place().degrees;
    } catch (const UserError& error) {
      reject({dtype, 0, 0, 0}, error.what());
      return {};
    }
  }

  void try_split(const std::string& dtype, int tp) {
    Candidate candidate{dtype, tp, 1, 0};
    try {
      const WorkerMachine& machine = pool_.machine(machine_request(candidate), kStepTokens);
      if (machine.devices < tp) return;
      candidate.workers = machine.devices / tp;
      if (request_.workers == "separate") {
        for (const int prefill : prefill_choices(candidate.workers)) {
          candidate.prefill = prefill;
          search(candidate);
        }
      } else {
        search(candidate);
      }
    } catch (const UserError& error) {
      reject(candidate, error.what());
    }
  }

  static std::set<int> prefill_choices(int workers) {
    std::set<int> choices;
    for (const int one : {1, workers / 4, workers / 2}) {
      if (one >= 1 && one < workers) choices.insert(one);
    }
    return choices;
  }

  // Separate workers are tried for the type and split that are cheapest together.
  void try_separate_like_best() {
    const PlannedDeployment* best = nullptr;
    for (const PlannedDeployment& one : plan_.deployments) {
      if (best == nullptr || one.usd_per_million < best->usd_per_million) best = &one;
    }
    if (best == nullptr) return;
    const Candidate like{best->dtype, static_cast<int>(best->tp), static_cast<int>(best->workers),
                         0};
    for (const int prefill : prefill_choices(like.workers)) {
      Candidate candidate = like;
      candidate.prefill = prefill;
      try {
        search(candidate);
      } catch (const UserError& error) {
        reject(candidate, error.what());
      }
    }
  }

  Request machine_request(const Candidate& candidate) const {
    Request machine = request_.service.machine;
    machine.system = system_;
    machine.dtype = candidate.dtype;
    machine.tp = candidate.tp;
    return machine;
  }

  // One instance under its share of the load.
  ServeRequest share_of(const Candidate& candidate, std::int64_t instances) const {
    ServeRequest one = request_.service;
    one.machine = machine_request(candidate);
    const auto shares = static_cast<double>(instances);
    if (one.concurrency > 0) {
      one.concurrency =
          static_cast<std::int64_t>(std::ceil(static_cast<double>(one.concurrency) / shares));
    }
    one.rate /= shares;
    if (!one.trace.empty()) one.trace_every = instances;
    if (candidate.prefill > 0) {
      one.prefill = fmt::format("tp={},workers={}", candidate.tp, candidate.prefill);
      one.decode =
          fmt::format("tp={},workers={}", candidate.tp, candidate.workers - candidate.prefill);
    } else {
      one.dp = candidate.workers;
    }
    return one;
  }

  // A service that nobody waits in: what no number of instances can better.
  ServeRequest alone(const Candidate& candidate) const {
    ServeRequest one = share_of(candidate, 1);
    if (one.concurrency > 0) one.concurrency = 1;
    if (one.rate > 0) {
      one.rate = kLoneRate;
      one.arrivals = "uniform";
    }
    if (!one.trace.empty()) {
      one.trace_every = std::max<std::int64_t>(1, load_.requests / kLoneRequests);
    } else {
      one.requests = kLoneRequests;
    }
    return one;
  }

  Trial simulate(ServeRequest one) {
    ++plan_.simulations;
    Trial trial;
    trial.record = serve(pool_, one).record;
    trial.probability = probability_of(trial.record, promises_);
    trial.stable = one.concurrency > 0 || !grows(trial.record);
    return trial;
  }

  Trial simulate(const Candidate& candidate, std::int64_t instances, double lone_s) {
    ServeRequest one = share_of(candidate, instances);
    if (one.trace.empty() && request_.service.requests == 0) {
      const double flying =
          one.concurrency > 0 ? static_cast<double>(one.concurrency) : one.rate * lone_s;
      const auto turnovers = static_cast<std::int64_t>(kTurnovers * flying);
      one.requests =
          std::clamp(turnovers, kLeastRequests, std::max(kMostRequests, one.concurrency * 2));
      one.warm_up = std::min(one.requests / 4, static_cast<std::int64_t>(flying));
    }
    return simulate(one);
  }

  bool keeps(const Trial& trial) const {
    return trial.stable && trial.probability >= request_.probability;
  }

  void search(const Candidate& candidate) {
    const Trial lone = simulate(alone(candidate));
    if (!keeps(lone)) return reject_promise(candidate, lone);
    const WorkerMachine& machine = pool_.machine(machine_request(candidate), kStepTokens);
    const double lone_s = lone.record.summary.e2e_s.mean;
    const double least = least_instances(candidate, machine);
    if (!std::isfinite(least)) return reject_promise(candidate, lone);
    const double most = std::ceil(requests_in_flight(lone_s) * kSeveralTimes) + least;
    auto low = static_cast<std::int64_t>(least) - 1;  // too few
    auto high = low + 1;
    std::optional<Trial> kept;
    while (!kept) {
      if (is_dearer(high)) {
        return reject(candidate, fmt::format("takes {} instances or more, {:.2f} USD per hour: "
                                             "dearer than another setting of this system",
                                             high, price_ * static_cast<double>(high)));
      }
      const Trial trial = simulate(candidate, high, lone_s);
      if (keeps(trial)) {
        kept = trial;
      } else if (static_cast<double>(high) > most) {
        return reject_promise(candidate, trial);
      } else {
        low = high;
        high = std::max(high + 1, static_cast<std::int64_t>(static_cast<double>(high) * kGrowth));
      }
    }
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      const Trial trial = simulate(candidate, middle, lone_s);
      (keeps(trial) ? high : low) = middle;
      if (keeps(trial)) kept = trial;
    }
    plan_.deployments.push_back(as_planned(candidate, high, *kept));
  }

  double requests_in_flight(double lone_s) const {
    if (load_.is_closed()) return static_cast<double>(load_.concurrency);
    return request_rate() * lone_s;
  }

  double request_rate() const {
    if (request_.service.rate > 0) return request_.service.rate;
    if (load_.trace.size() > 1) {
      const double span = load_.trace.back().arrival_s - load_.trace.front().arrival_s;
      if (span > 0) return static_cast<double>(load_.trace.size() - 1) / span;
    }
    return 0;
  }

  // From single steps; infinite when one sequence alone is too slow. Clients that wait for their
  // answers send as few requests as there are answers: any number of instances may do.
  double least_instances(const Candidate& candidate, const WorkerMachine& machine) const {
    const double per_worker =
        most_requests_per_s(machine, mean_input(load_), mean_output(load_), promises_, kSlack);
    if (!(per_worker > 0)) return std::numeric_limits<double>::infinity();
    if (load_.is_closed()) return 1;
    return std::max(1.0, std::floor(request_rate() / (per_worker * candidate.workers)));
  }

  bool is_dearer(std::int64_t instances) const {
    double best = std::numeric_limits<double>::infinity();
    for (const PlannedDeployment& one : plan_.deployments) best = std::min(best, one.usd_per_hour);
    return price_ * static_cast<double>(instances) > best;
  }

  PlannedDeployment as_planned(const Candidate& candidate, std::int64_t instances,
                               const Trial& trial) const {
    const ServeSummary& summary = trial.record.summary;
    const auto count = static_cast<double>(instances);
    PlannedDeployment one;
    one.system = system_;
    one.dtype = trial.record.context.dtype;
    one.engine = trial.record.context.engine;
    one.instances = instances;
    one.tp = candidate.tp;
    one.workers = candidate.workers;
    one.prefill_workers = candidate.prefill;
    one.usd_per_hour = price_ * count;
    // An open load brings its requests whatever the service does.
    one.requests_per_s = load_.is_closed() ? summary.requests_per_s * count : request_rate();
    one.output_tokens_per_s = one.requests_per_s * mean_output(load_);
    one.usd_per_million = one.usd_per_hour / 3600 / one.output_tokens_per_s * 1e6;
    one.ttft_s = summary.ttft_s;
    one.tpot_s = summary.tpot_s;
    one.e2e_s = summary.e2e_s;
    one.kv_used_share = summary.kv_used_share;
    one.probability = trial.probability;
    one.binds = summary.binds;
    one.simulate = simulate_command(candidate, instances);
    LaunchedWorker worker;
    worker.engine = one.engine.substr(0, one.engine.find('@'));
    worker.network = network_;
    worker.dtype = one.dtype;
    worker.kv_dtype = trial.record.context.kv_dtype;
    worker.tp = candidate.tp;
    worker.max_batch = scenario_count(trial.record, "max_batch");
    worker.max_tokens = scenario_count(trial.record, "max_tokens");
    one.start = commands_.command_of(worker);
    return one;
  }

  std::string simulate_command(const Candidate& candidate, std::int64_t instances) const {
    const ServeRequest one = share_of(candidate, instances);
    std::string text = fmt::format("foretell serve --on {} --workload {} --dtype {}", system_,
                                   one.machine.workload, candidate.dtype);
    text += candidate.prefill > 0
                ? fmt::format(" --prefill {} --decode {}", one.prefill, one.decode)
                : fmt::format(" --tp {} --dp {}", candidate.tp, candidate.workers);
    return fmt::format("{} {} --slo '{}'", text, load_options(one), one.slo);
  }

  void reject(const Candidate& candidate, const std::string& reason) {
    plan_.rejected.push_back({candidate.dtype, candidate.tp, candidate.prefill, reason, "", 0});
  }

  // The promise that is furthest from being kept decides how near a candidate comes.
  void reject_promise(const Candidate& candidate, const Trial& trial) {
    if (!trial.stable) {
      return reject(candidate,
                    "the queue grows as long as requests come, on any number of instances");
    }
    const double each = std::pow(request_.probability, 1 / static_cast<double>(promises_.size()));
    RejectedDeployment one{candidate.dtype, candidate.tp, candidate.prefill, "", "", 0};
    for (const Promise& promise : promises_) {
      const double limit = limit_kept_with(trial.record, promise, each);
      const double excess = limit / promise.limit_s;
      if (excess <= one.excess) continue;
      one.excess = excess;
      one.nearest = fmt::format("{}.{}<={:.4g}s", promise.metric, promise.statistic, limit);
      one.reason = fmt::format("{}.{} is {} {}, promised are {}", promise.metric, promise.statistic,
                               si_format(promised_value(trial.record, promise), "s"),
                               trial.record.summary.requests == kLoneRequests
                                   ? "even without other requests"
                                   : "whatever the number of instances",
                               si_format(promise.limit_s, "s"));
    }
    plan_.rejected.push_back(std::move(one));
  }

  MachinePool pool_;
  const PlanRequest& request_;
  std::string system_;
  std::vector<Promise> promises_;
  Load load_;
  LaunchCommands commands_;
  double price_ = 0;
  std::string network_;
  SystemPlan plan_;
};

}  // namespace

SystemPlan plan_system(const Predictor& predict, const PlanRequest& request,
                       const std::string& system) {
  return SystemSearch(predict, request, system).run();
}

}  // namespace foretell

// The search on one system: every data type and split, then the fewest instances of each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "hw/engines/launch_commands.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/plan/candidate.hpp"
#include "model/app/plan/candidate_bounds.hpp"
#include "model/app/plan/certainty.hpp"
#include "model/app/plan/plan.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/base/memory_error.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "reports/render/si_format.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kLoneRequests = 40;  // to see a service without any queue
constexpr double kLoneRate = 0.005;         // per second: no two requests meet
constexpr std::int64_t kMinRequests = 600;  // of a simulation that decides
constexpr std::int64_t kMostRequests = 4000;
constexpr std::int64_t kTurnovers = 8;      // of the requests in flight that are simulated
constexpr double kWaits = 3;                // times the TTFT of a request alone: there is a queue
constexpr std::int64_t kMinWaiting = 6000;  // of a simulation then
constexpr std::int64_t kMaxWaiting = 16'000;
constexpr double kGrowth = 1.35;     // of the number of instances, until it suffices
constexpr double kSeveralTimes = 4;  // instances per request in flight: no queue left
constexpr double kGrowing = 1.5;     // TTFT late in the load over that in its middle
constexpr std::size_t kShown = 2;    // settings of a system that are worth finding
constexpr std::size_t kEqual = 8;    // … of which none can be cheaper than the others

struct Trial {
  ServeRequest service;
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
    if (key == name) return to_count(value).value_or(0);
  }
  return 0;
}

// With four digits, no less than it is.
std::string rounded_up(double limit_s) {
  const double unit = std::pow(10.0, std::floor(std::log10(limit_s)) - 3);
  return fmt::format("{:.4g}", std::ceil(limit_s / unit - 1e-6) * unit);
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
    Request priced = request.service.machine;
    priced.system = system_;
    price_ = family_of(system_).prices(priced).at(kOnDemand);
    network_ = published_name(WorkloadLibrary().load(request.service.machine.workload),
                              request.service.machine.workload);
  }

  SystemPlan run() {
    plan_.system = system_;
    bounded_ = bounded_candidates(
        pool_, request_, system_, load_,
        [this](const Candidate& candidate, const UserError& error) { refuse(candidate, error); });
    // The cheapest by its bound first: what it costs rules others out without a simulation. Of
    // equal ones the fastest first.
    const auto order = [this](const Bounded& one) {
      return std::pair(least_usd(one, one.least), one.alone_s);
    };
    std::stable_sort(bounded_.begin(), bounded_.end(),
                     [&order](const Bounded& a, const Bounded& b) { return order(a) < order(b); });
    for (const Bounded& one : bounded_) {
      try {
        search(one);
      } catch (const UserError& error) {
        refuse(one.candidate, error);
      }
    }
    std::sort(plan_.deployments.begin(), plan_.deployments.end(),
              [](const PlannedDeployment& a, const PlannedDeployment& b) {
                return std::tie(a.usd_per_million, a.ttft_s.mean, a.dtype, a.tp) <
                       std::tie(b.usd_per_million, b.ttft_s.mean, b.dtype, b.tp);
              });
    return std::move(plan_);
  }

 private:
  // Per million output tokens, no less than this.
  double least_usd(const Bounded& one, std::int64_t instances) const {
    double rate = request_rate();
    if (load_.is_closed()) {
      rate = std::min(one.rate * static_cast<double>(instances),
                      static_cast<double>(load_.concurrency) / one.alone_s);
    }
    return usd_per_million(instances, rate);
  }

  double usd_per_million(std::int64_t instances, double requests_per_s) const {
    return price_ * static_cast<double>(instances) / 3600 / (requests_per_s * mean_output(load_)) *
           1e6;
  }

  // The price of each setting found; settings differ in more than the limit of their batch.
  std::vector<double> usd_of_settings() const {
    std::map<std::string, double> least;
    for (const PlannedDeployment& one : plan_.deployments) {
      const auto found = least.emplace(setting_of(one), one.usd_per_million).first;
      found->second = std::min(found->second, one.usd_per_million);
    }
    std::vector<double> usd;
    for (const auto& [setting, each] : least) usd.push_back(each);
    std::sort(usd.begin(), usd.end());
    return usd;
  }

  // A service without waiting: what no number of instances can better.
  ServeRequest alone(const Candidate& candidate) const {
    ServeRequest one = share_of(request_, system_, candidate, 1);
    if (one.concurrency > 0) one.concurrency = 1;
    if (one.rate > 0) {
      one.rate = kLoneRate;
      one.arrivals = "uniform";
    }
    if (!one.trace.empty()) {
      one.trace_every *= std::max<std::int64_t>(1, load_.requests / kLoneRequests);
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
    trial.service = std::move(one);
    return trial;
  }

  // As many requests as turn over several times what is in flight. Where they wait, what keeps the
  // promises is simulated again with more of them, so that a queue that grows slowly is seen.
  Trial simulate(const Candidate& candidate, std::int64_t instances, const ServeSummary& lone) {
    ServeRequest one = share_of(request_, system_, candidate, instances);
    if (!one.trace.empty() || request_.service.requests > 0) return simulate(one);
    const auto simulated = [&](double answer_s, std::int64_t least, std::int64_t most) {
      const double flying =
          one.concurrency > 0 ? static_cast<double>(one.concurrency) : one.rate * answer_s;
      one.requests = std::clamp(static_cast<std::int64_t>(kTurnovers * flying), least,
                                std::max(most, one.concurrency * 2));
      if (request_.service.warm_up == 0)
        one.warm_up = std::min(one.requests / 4, static_cast<std::int64_t>(flying));
      return simulate(one);
    };
    Trial trial = simulated(lone.e2e_s.mean, kMinRequests, kMostRequests);
    const ServeSummary& found = trial.record.summary;
    const bool waits = found.ttft_s.mean > kWaits * lone.ttft_s.mean;
    if (one.concurrency > 0 || !waits || !keeps(trial)) return trial;
    return simulated(found.e2e_s.mean, kMinWaiting, kMaxWaiting);
  }

  bool keeps(const Trial& trial) const {
    return trial.stable && trial.probability >= request_.probability;
  }

  void search(const Bounded& one) {
    const Candidate& candidate = one.candidate;
    if (is_too_dear(one, one.least)) return reject_cost(one, one.least);
    Candidate alike = candidate;  // but for what single steps do not depend on
    alike.engine.clear();
    alike.workers = alike.prefill_workers = 0;
    const std::string split = setting_of(alike);
    if (!(one.rate > 0) && too_slow_.count(split) > 0) {
      return reject(candidate, kTooSlow,
                    "a decode step takes longer than promised, as with other workers, "
                    "engines and limits of the batch");
    }
    const Trial lone = simulate(alone(candidate));
    if (!(one.rate > 0)) too_slow_.insert(split);
    if (!keeps(lone) || !(one.rate > 0)) return reject_promise(candidate, lone);
    const double lone_s = lone.record.summary.e2e_s.mean;
    const auto most =
        static_cast<std::int64_t>(requests_in_flight(lone_s) * kSeveralTimes) + one.least + 1;
    std::int64_t low = one.least - 1;  // too few
    std::int64_t high = first_tried(one, most);
    std::optional<Trial> kept;
    while (!kept) {
      if (is_too_dear(one, high)) return reject_cost(one, high);
      Trial trial = simulate(candidate, high, lone.record.summary);
      if (keeps(trial)) {
        kept = std::move(trial);
      } else if (high > most) {
        return reject_promise(candidate, trial);
      } else {
        low = high;
        high = std::max(high + 1, static_cast<std::int64_t>(static_cast<double>(high) * kGrowth));
      }
    }
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      Trial trial = simulate(candidate, middle, lone.record.summary);
      if (keeps(trial)) {
        high = middle;
        kept = std::move(trial);
      } else {
        low = middle;
      }
    }
    plan_.deployments.push_back(as_planned(candidate, high, *kept));
  }

  // Not cheaper than the runner-up, or as dear as many others.
  bool is_too_dear(const Bounded& one, std::int64_t instances) const {
    const std::vector<double> found = usd_of_settings();
    const double usd = least_usd(one, instances);
    return (found.size() >= kShown && usd > found[kShown - 1]) ||
           (found.size() >= kEqual && usd >= found[kEqual - 1]);
  }

  // The most that are cheap enough, where that is known: fewer are tried only if these suffice.
  std::int64_t first_tried(const Bounded& one, std::int64_t most) const {
    if (load_.is_closed() || usd_of_settings().size() < kShown) return one.least;
    std::int64_t first = one.least;
    const double shown = usd_of_settings()[kShown - 1];
    while (first < most && !(least_usd(one, first + 1) > shown)) ++first;
    return first;
  }

  double requests_in_flight(double lone_s) const {
    if (load_.is_closed()) return static_cast<double>(load_.concurrency);
    return request_rate() * lone_s;
  }

  double request_rate() const { return request_rate_of(request_.service, load_); }

  PlannedDeployment as_planned(const Candidate& candidate, std::int64_t instances,
                               const Trial& trial) const {
    const ServeSummary& summary = trial.record.summary;
    const auto count = static_cast<double>(instances);
    PlannedDeployment one;
    static_cast<DeploymentSetting&>(one) = candidate;
    one.system = system_;
    one.dtype = trial.record.context.dtype;
    one.engine = trial.record.context.engine;
    one.instances = instances;
    one.max_batch = scenario_count(trial.record, "max_batch");
    one.usd_per_hour = price_ * count;
    // An open load brings its requests whatever the service does.
    one.requests_per_s = load_.is_closed() ? summary.requests_per_s * count : request_rate();
    one.output_tokens_per_s = one.requests_per_s * mean_output(load_);
    one.usd_per_million = usd_per_million(instances, one.requests_per_s);
    one.ttft_s = summary.ttft_s;
    one.tpot_s = summary.tpot_s;
    one.e2e_s = summary.e2e_s;
    one.kv_used_share = summary.kv_used_share;
    fill_energy_of(summary, count, one);
    one.probability = trial.probability;
    one.binds = summary.binds;
    one.simulate = serve_command(trial.service);
    LaunchedWorker worker;
    worker.engine = one.engine.substr(0, one.engine.find('@'));
    worker.network = network_;
    worker.dtype = one.dtype;
    worker.kv_dtype = trial.record.context.kv_dtype;
    worker.tp = candidate.tp;
    worker.pp = candidate.pp;
    worker.attention_dp = candidate.attention_dp;
    worker.ep = candidate.ep;
    worker.max_batch = one.max_batch;
    worker.max_tokens = scenario_count(trial.record, "max_tokens");
    if (candidate.prefill.empty()) one.start = commands_.command_of(worker);
    return one;
  }

  // A price of energy counts in the costs.
  static void fill_energy_of(const ServeSummary& summary, double instances,
                             PlannedDeployment& one) {
    const auto of_all = [instances](const std::optional<double>& watts) {
      return watts ? std::optional<double>(*watts * instances) : std::nullopt;
    };
    one.joules_per_token = summary.joules_per_token;
    one.joules_per_request = summary.joules_per_request;
    one.watts = of_all(summary.watts);
    one.wall_watts = of_all(summary.wall_watts);
    one.energy_usd_per_million = summary.energy_usd_per_million;
    const double energy_usd = summary.energy_usd_per_million.value_or(0);
    one.usd_per_million += energy_usd;
    one.usd_per_hour += energy_usd / 1e6 * one.output_tokens_per_s * 3600;
  }

  static RejectedDeployment as_rejected(const Candidate& candidate) {
    RejectedDeployment one;
    static_cast<DeploymentSetting&>(one) = candidate;
    return one;
  }

  void reject(const Candidate& candidate, const char* cause, const std::string& reason) {
    RejectedDeployment one = as_rejected(candidate);
    one.cause = cause;
    one.reason = reason;
    plan_.rejected.push_back(std::move(one));
  }

  void refuse(const Candidate& candidate, const UserError& error) {
    const bool lacks_memory = dynamic_cast<const MemoryError*>(&error) != nullptr;
    reject(candidate, lacks_memory ? kNoMemory : kRefused, error.what());
  }

  void reject_cost(const Bounded& one, std::int64_t instances) {
    reject(
        one.candidate, kTooDear,
        fmt::format("takes {} instances or more, {:.2f} USD per hour: dearer than other settings "
                    "of this system",
                    instances, price_ * static_cast<double>(instances)));
  }

  // The promise that is furthest from being kept decides how near a candidate comes; what it would
  // keep is all of them together.
  void reject_promise(const Candidate& candidate, const Trial& trial) {
    if (!trial.stable) {
      return reject(candidate, kTooSlow,
                    "the queue grows as long as requests come, on any number of instances");
    }
    const double each = std::pow(request_.probability, 1 / static_cast<double>(promises_.size()));
    RejectedDeployment one = as_rejected(candidate);
    one.cause = kTooSlow;
    for (const Promise& promise : promises_) {
      const double limit = limit_kept_with(trial.record, promise, each);
      const double promised = promise.limit.value();
      const double excess = limit / promised;
      one.nearest += fmt::format("{}{}.{}<={}s", one.nearest.empty() ? "" : ",", promise.metric,
                                 promise.statistic, rounded_up(std::max(limit, promised)));
      if (excess <= one.excess) continue;
      one.excess = excess;
      const double value = promised_value(trial.record, promise);
      const char* load = trial.record.summary.requests == kLoneRequests
                             ? "even without other requests"
                             : "whatever the number of instances";
      one.reason = fmt::format("{}.{} is {} {}, promised are {}", promise.metric, promise.statistic,
                               si_format(value, "s"), load, si_format(promised, "s"));
      // The promise is met by what is predicted, and not by enough of what may be measured.
      if (value <= promised) {
        one.reason += fmt::format("; it holds with a probability of {:.2g} from {} on", each,
                                  si_format(limit, "s"));
      }
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
  std::vector<Bounded> bounded_;
  std::set<std::string> too_slow_;  // splits whose single step breaks a promise
  SystemPlan plan_;
};

}  // namespace

SystemPlan plan_system(const Predictor& predict, const PlanRequest& request,
                       const std::string& system) {
  return SystemSearch(predict, request, system).run();
}

}  // namespace foretell

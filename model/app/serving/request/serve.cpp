#include "model/app/serving/request/serve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <foretell/version.hpp>
#include <memory>

#include "hw/engines/engine_catalog.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/record/added_notes.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/app/request/resolve/gpu_place.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/app/serving/request/measured_trace.hpp"
#include "model/app/serving/request/promise.hpp"
#include "model/app/serving/request/serve_parts.hpp"
#include "model/app/serving/request/split_text.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/base/memory_error.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/unit_text.hpp"
#include "model/serving/service.hpp"
#include "reports/record/hardware_change.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

std::string gigabytes(Bytes bytes) { return fmt::format("{:.1f} GB", bytes.value() / 1e9); }

// A group of workers and everything that it refers to.
struct BuiltGroup {
  const WorkerMachine& machine;
  ServingGroup group;
  KvMemory memory;
};

class Server {
 public:
  Server(MachinePool& pool, const ServeRequest& request)
      : pool_(pool), request_(request), base_(request.machine) {
    const std::vector<std::string> engine_set = take_engine_set(base_);
    engine_ = EngineCatalog().load(request.engine, engine_set, family_of(base_.system).name());
    load_ = load_of(request);
    if (!request.speculate.empty()) speculation_ = parse_speculation(request.speculate);
    promises_ = request.slo.empty() ? std::vector<Promise>() : parse_promises(request.slo);
    check_promises(promises_, load_.output_len);
  }

  ServeOutcome run(const std::function<bool(double)>& progress) {
    const bool separate = !request_.prefill.empty() || !request_.decode.empty();
    check_drafted_workers(speculation_, separate);
    if (!separate && !(request_.decode_system + request_.link_rate).empty()) {
      throw UserError(
          "--decode-on and --link: say where separate decode workers are and how KV caches come "
          "there; give --prefill and --decode, too, as in --prefill tp=4 --decode tp=8");
    }
    if (separate) {
      build_separate();
    } else {
      build_together();
    }
    setup_.load = &load_;
    setup_.warm_up = std::min(request_.warm_up, load_.requests - 1);
    setup_.router = parse_router(request_.router);
    setup_.seed = base_.seed;
    setup_.places = request_.full_places;
    setup_.slices = request_.slices;
    setup_.progress = progress;
    const ServiceResult result = run_service(setup_);
    ServeOutcome outcome;
    fill(result, outcome.record);
    if (request_.measured && !result.interrupted) {
      outcome.record.context.notes.push_back(
          to_text(compare_with_trace(request_.trace, outcome.record.requests)));
    }
    fill_energy(result, powered_workers(), base_, outcome.record);
    outcome.trace_json = serve_trace_json(result, idle_power_of_workers());
    return outcome;
  }

 private:
  // `may_widen`: a copy takes as many devices as its memory needs.
  BuiltGroup build(const Request& base, const WorkerSplit& split, bool may_widen) {
    Request machine = base;
    machine.tp = split.tp;
    machine.pp = split.pp > 1 ? split.pp : 0;
    machine.attention_dp = split.attention_dp > 1 ? split.attention_dp : 0;
    if (split.ep > 1) machine.ep = split.ep;
    if (split.moe_tp > 0) machine.moe_tp = split.moe_tp;
    if (engine_.spec.schedule.two_batch == "yes") machine.two_batch = true;
    take_kernels(request_.engine, engine_.spec, machine);
    RuleChoices choices;
    choices.max_tokens = split.max_tokens > 0 ? split.max_tokens : request_.max_tokens;
    choices.max_sequences = split.max_sequences > 0 ? split.max_sequences : request_.max_batch;
    choices.chunk = request_.chunk;
    choices.longest_prompt = longest_input(load_);
    choices.ranks = std::max(1, split.attention_dp);
    WorkerRules first = rules_of(engine_.spec, choices, Bytes(0), 1);
    BuiltGroup built{
        pool_.machine(machine,
                      std::max(first.max_tokens, std::int64_t{engine_.spec.limits.max_tokens}),
                      speculation_),
        {},
        {}};
    const WorkerMachine& worker = built.machine;
    tune(engine_.spec, load_, worker, choices);
    WorkerRules rules = rules_of(engine_.spec, choices, worker.capacity, worker.max_length);
    const LargestStep largest = largest_step(rules, request_.one_batch ? request_.offline : 0);
    set_first_use(engine_.spec.host, worker, rules);
    const double share =
        request_.kv_fraction > 0 ? request_.kv_fraction : engine_.spec.memory.share;
    built.memory = kv_memory(engine_.spec, share, device_use(worker, largest.tokens), largest);
    rules.blocks = floor_blocks(built.memory.kv, worker.kv_per_token, rules.block) / worker.stages;
    rules.max_sequences = std::max<std::int64_t>(1, rules.max_sequences / worker.stages);
    if (rules.blocks == 0) {
      const auto wider =
          may_widen ? wider_tp(pool_, machine, engine_.spec, share, largest) : std::nullopt;
      if (wider) {
        wider_tp_ = *wider;
        WorkerSplit wide = split;
        wide.tp = *wider;
        return build(base, wide, false);
      }
      throw MemoryError(fmt::format(
          "{} in {}: each device of {} has {}, of which the engine takes {:.0f} %; {} of weights, "
          "{} of activations and {} kept by the engine leave no room for KV blocks; {}",
          worker.workload, worker.dtype, worker.system, gigabytes(worker.capacity), 100 * share,
          gigabytes(worker.weights), gigabytes(built.memory.workspace),
          gigabytes(built.memory.reserve),
          room_advice(pool_, machine, engine_.spec, share, largest)));
    }
    rules.watermark_blocks = static_cast<std::int64_t>(engine_.spec.schedule.watermark *
                                                       static_cast<double>(rules.blocks));
    rules.prefix_share = request_.prefix_share;
    set_images(load_, worker, rules);
    set_cache_rules(engine_.spec, load_, worker, rules);
    rules.drafts = speculation_.drafts;
    rules.acceptance = speculation_.acceptance;
    built.group.rules = rules;
    built.group.workers = split.workers;
    built.group.ranks = worker.ranks;
    return built;
  }

  void build_together() {
    WorkerSplit split;
    split.tp = std::max(1, base_.tp);
    split.pp = std::max(1, base_.pp);
    split.workers = std::max(1, request_.dp);
    split.attention_dp = std::max(1, request_.attention_dp);
    groups_.push_back(std::make_unique<BuiltGroup>(build(base_, split, base_.tp <= 0)));
    BuiltGroup& built = *groups_.back();
    const int needed = built.machine.devices_per_worker * split.workers;
    if (needed > built.machine.devices) {
      throw UserError(
          fmt::format("{} replicas of {} devices need {}, but {} has {}; {}, or name a larger "
                      "system",
                      split.workers, built.machine.devices_per_worker, needed, built.machine.system,
                      built.machine.devices, what_to_lower(base_)));
    }
    built.group.timer = built.machine.timer.get();
    setup_.serving = built.group;
  }
  void build_separate() {
    if (request_.prefill.empty() || request_.decode.empty()) {
      throw UserError("--prefill and --decode belong together: separate workers do both");
    }
    if (request_.attention_dp > 1) {
      throw UserError(
          "--attention-dp: separate workers state it in --prefill and --decode, as in "
          "'tp=1,attention-dp=8'");
    }
    if (base_.pp > 1) {
      throw UserError(
          "--pp: separate workers state it in --prefill and --decode, as in 'tp=4,pp=2'");
    }
    if (request_.dp > 0)
      throw UserError("--dp: separate workers are counted in --prefill and --decode");
    Request decode = base_;
    if (!request_.decode_system.empty()) decode.system = request_.decode_system;
    groups_.push_back(std::make_unique<BuiltGroup>(
        build(base_, parse_split("--prefill", request_.prefill), false)));
    groups_.push_back(std::make_unique<BuiltGroup>(
        build(decode, parse_split("--decode", request_.decode), false)));
    BuiltGroup& first = *groups_.front();
    BuiltGroup& second = *groups_.back();
    first.group.rules.prefill_only = true;
    if (!engine_.spec.host.prefill_overlap.empty())
      first.group.rules.overlap = engine_.spec.host.prefill_overlap == "yes";
    second.group.rules.decode_only = true;
    second.group.rules.prefix_cache = false;  // its prompts come with their KV
    first.group.timer = first.machine.timer.get();
    second.group.timer = second.machine.timer.get();
    setup_.serving = first.group;
    setup_.decoding = {second.group};
    const int shards =
        first.machine.devices_per_worker / first.machine.ranks / first.machine.stages;
    setup_.link.per_token = first.machine.kv_of_stages * static_cast<double>(shards);
    if (!request_.link_rate.empty()) {
      setup_.link.rate = parse_quantity<BytesPerSecond>(request_.link_rate);
    } else if (!request_.decode_system.empty() && decode.system != base_.system) {
      throw UserError(fmt::format(
          "--decode-on {}: nothing says how KV caches come there from {}; state the rate of the "
          "link, as in --link '50 GB/s'",
          decode.system, base_.system));
    } else {
      // Every device of the smaller side has its own link.
      const int links =
          std::min(first.machine.devices_per_worker, second.machine.devices_per_worker);
      setup_.link.rate = first.machine.link * static_cast<double>(links);
    }
    if (!(setup_.link.rate > BytesPerSecond(0))) {
      throw UserError("KV caches need a link with a rate above 0: state it with --link");
    }
  }

  bool is_changed() const {
    return std::any_of(groups_.begin(), groups_.end(),
                       [](const auto& group) { return group->machine.changed; });
  }

  int workers() const {
    int sum = setup_.serving.workers;
    for (const ServingGroup& group : setup_.decoding) sum += group.workers;
    return sum;
  }

  // The sum over all workers: as many of each as it has stages.
  int batches() const {
    int sum = setup_.serving.workers * setup_.serving.stages();
    for (const ServingGroup& group : setup_.decoding) sum += group.workers * group.stages();
    return sum;
  }

  std::vector<PoweredWorkers> powered_workers() const {
    std::vector<PoweredWorkers> powered;
    for (const auto& group : groups_) powered.push_back({&group->machine, group->group.workers});
    return powered;
  }

  // For the devices of each worker, in the order of their numbers; each batch of a pipeline has its
  // share.
  std::vector<Watts> idle_power_of_workers() const {
    std::vector<Watts> watts;
    for (const PoweredWorkers& group : powered_workers()) {
      const WorkerMachine& machine = *group.machine;
      watts.insert(
          watts.end(),
          static_cast<std::size_t>(group.workers) * static_cast<std::size_t>(machine.stages),
          machine.idle * machine.devices_per_worker / machine.stages);
    }
    return watts;
  }

  void fill(const ServiceResult& result, ServeRecord& record) const {
    fill_context(result, record.context);
    fill_summary(result, record.summary);
    fill_series(result, batches(), record);
    record.requests.reserve(result.requests.size());
    for (const ServedRequest& one : result.requests) {
      record.requests.push_back({one.arrival.value(), static_cast<double>(one.first_s),
                                 static_cast<double>(one.end_s), one.input, one.output,
                                 one.preemptions, one.worker, one.end_s >= 0,
                                 one.start < Seconds(0) ? -1 : (one.start - one.arrival).value()});
    }
  }

  void fill_context(const ServiceResult& result, ServeContext& context) const {
    const WorkerMachine& machine = groups_.front()->machine;
    static_cast<PredictionOrigin&>(context) = machine;
    context.version = kVersion;
    context.commit = kCommit;
    context.kv_dtype = machine.kv_dtype;
    context.engine = engine_.spec_id;
    context.set = request_.machine.set;
    context.assumed_values += engine_.assumed_values;
    context.seed = base_.seed;
    context.notes.clear();
    for (const auto& group : groups_) {
      add_new(group->machine.notes, context.notes);
      if (group->machine.kernel_notes) add_new(group->machine.kernel_notes(), context.notes);
    }
    if (is_changed() &&
        std::count(context.notes.begin(), context.notes.end(), kChangedHardware) == 0)
      context.notes.emplace_back(kChangedHardware);
    fill_scenario(context);
    for (std::string& note : growth_notes(result, offered_per_s(), load_.requests))
      context.notes.push_back(std::move(note));
    if (wider_tp_ > 0) {
      context.notes.push_back(
          fmt::format("--tp was not stated: a copy takes {} devices, the fewest (1, 2, 4, …) whose "
                      "memory holds its weights and, where that can be, a quarter as KV blocks",
                      wider_tp_));
    }
    for (std::string& note : service_notes(request_.engine, engine_.spec, powered_workers()))
      context.notes.push_back(std::move(note));
    for (std::string& note : cache_notes(result)) context.notes.push_back(std::move(note));
    if (result.interrupted) {
      context.notes.push_back(fmt::format("interrupted: {} of {} requests were answered",
                                          result.answered, load_.requests));
    }
  }

  // Requests per second that come, whatever is answered; 0 of clients that wait, and of requests
  // that come at once.
  double offered_per_s() const {
    if (load_.is_closed()) return 0;
    if (load_.trace.empty()) return load_.arrivals ? request_.rate : 0;
    const double last = load_.trace.back().arrival_s;
    return last > 0 ? static_cast<double>(load_.requests - 1) / last : 0;
  }

  void fill_scenario(ServeContext& context) const {
    const auto add = [&context](const char* name, const std::string& value) {
      if (!value.empty() && value != "0") context.scenario.emplace_back(name, value);
    };
    add("concurrency", std::to_string(request_.concurrency));
    if (request_.concurrency > 0 && load_.staggered) add("start", request_.start);
    if (request_.rate > 0) {
      add("rate", fmt::format("{}", request_.rate));
      add("arrivals", request_.arrivals);
    }
    add("trace", request_.trace);
    if (request_.trace_every > 1) add("every", std::to_string(request_.trace_every));
    add("offline", std::to_string(request_.offline));
    add("input_len", request_.input_len);
    add("output_len", request_.output_len);
    add("requests", std::to_string(load_.requests));
    add("warm_up", std::to_string(request_.warm_up));
    if (request_.prefill.empty()) {
      const WorkerMachine& machine = groups_.front()->machine;
      add("tp", std::to_string(machine.devices_per_worker / machine.ranks / machine.stages /
                               std::max(1, base_.cp)));
      if (machine.stages > 1) add("pp", std::to_string(machine.stages));
      add("dp", std::to_string(setup_.serving.workers));
    }
    if (request_.attention_dp > 1) add("attention_dp", std::to_string(request_.attention_dp));
    add_network_fields(base_, context);
    add("prefill", request_.prefill);
    add("decode", request_.decode);
    add("decode_on", request_.decode_system);
    if (workers() > 1) add("router", request_.router);
    add("max_tokens", std::to_string(setup_.serving.rules.max_tokens));
    add("max_batch", std::to_string(setup_.serving.rules.max_sequences * setup_.serving.stages()));
    if (request_.kv_fraction > 0) add("kv_fraction", fmt::format("{}", request_.kv_fraction));
    add("link", request_.link_rate);
    add("chunk", request_.chunk);
    if (request_.prefix_share > 0) add("prefix_cache", fmt::format("{}", request_.prefix_share));
    add("speculate", request_.speculate);
    add("power_limit", base_.power_limit);
    add("voltage", base_.voltage);
    add("clock", base_.clock);
  }

  void fill_summary(const ServiceResult& result, ServeSummary& summary) const {
    summary.ttft_s = serve_statistic(ttft_of(result));
    summary.tpot_s = serve_statistic(tpot_of(result));
    summary.itl_s = serve_statistic(itl_of(result));
    summary.e2e_s = serve_statistic(e2e_of(result));
    summary.output_tokens_per_s = output_tokens_per_s(result);
    summary.requests_per_s = requests_per_s(result);
    if (!promises_.empty()) {
      summary.slo = request_.slo;
      for (const Promise& one : promises_)
        summary.promises.push_back({one.metric, one.statistic, one.limit.value()});
      summary.goodput_per_s = goodput_of(result, promises_);
      summary.keeps_slo = keeps(result, promises_);
    }
    if (result.decode_steps > 0) {
      summary.batch_mean = result.batch_sum / static_cast<double>(result.decode_steps);
    }
    summary.kv_used_share = std::clamp(result.kv_share, 0.0, 1.0);
    summary.preemptions = result.preemptions;
    summary.steps = result.steps;
    summary.executed_steps = result.executed_steps;
    summary.requests = result.answered;
    summary.interrupted = result.interrupted;
    summary.duration_s = result.end.value();
    const std::optional<double> usd_per_hour = machines_price(powered_workers());
    if (usd_per_hour && summary.output_tokens_per_s > 0) {
      summary.cost_usd_per_million = *usd_per_hour / 3600 / summary.output_tokens_per_s * 1e6;
    }
    summary.binds = what_binds(result);
    summary.time_shares = time_shares_of(result, batches());
    const KvMemory& memory = groups_.back()->memory;
    summary.memory_bytes = {{"capacity", memory.capacity.value()},
                            {"weights", memory.weights.value()},
                            {"workspace", memory.workspace.value()},
                            {"engine", memory.reserve.value()},
                            {"kv_blocks", memory.kv.value()}};
    fill_intervals(result, summary);
  }

  // From served points on GPUs, by whether workers are separate or all requests are there at once,
  // and the network has experts; or from published generations of one batch. At least as wide as
  // products are uncertain of which no kernel was measured on the GPU.
  Interval interval_of(IntervalQuantity quantity) const {
    const WorkerMachine& machine = groups_.front()->machine;
    const auto as_changed = [this](const Interval& ratio) {
      return is_changed() ? of_changed_hardware(ratio) : ratio;
    };
    if (!gpu_family().has_system(base_.system)) return as_changed(default_intervals().fallback());
    const bool offline = request_.offline > 0 && quantity == IntervalQuantity::kCall;
    const bool generates = offline && request_.one_batch;
    const std::string_view device = generates ? "gpu"
                                    : offline ? kServedOffline
                                              : served_device(groups_.size() > 1);
    const std::string_view family =
        generates ? "generation by engine" : served_interval_family(machine.has_experts);
    const Place place = generates ? place_of_generation(machine) : Place{};
    Interval ratio =
        as_changed(default_intervals().choose(device, family, "any", quantity, place).ratio);
    if (machine.borrowed_kernels) {
      ratio.low = std::min(ratio.low, machine.borrowed_kernels->low);
      ratio.high = std::max(ratio.high, machine.borrowed_kernels->high);
    }
    return ratio;
  }

  // For one batch among published ones; its prompts are all of one length.
  Place place_of_generation(const WorkerMachine& machine) const {
    const auto length = static_cast<std::int64_t>(to_number(request_.input_len).value_or(1));
    return place_on_gpus(request_.offline * length, WorkloadLibrary().load(base_.workload).layers,
                         base_.tp, find_precision(machine.dtype).matmul_compute);
  }

  void fill_intervals(const ServiceResult& result, ServeSummary& summary) const {
    const auto add = [&](const std::string& name, double value, IntervalQuantity quantity) {
      const Interval ratio = interval_of(quantity);
      summary.interval80[name] = {value * ratio.low, value * ratio.high};
    };
    for (const NamedStatistic& one : kServeStatistics) {
      const auto name = [&one](const char* time) { return fmt::format("{}_s.{}", time, one.name); };
      add(name("ttft"), summary.ttft_s.*one.value, IntervalQuantity::kTtft);
      add(name("tpot"), summary.tpot_s.*one.value, IntervalQuantity::kTpot);
      add(name("itl"), summary.itl_s.*one.value, IntervalQuantity::kTpot);
      add(name("e2e"), summary.e2e_s.*one.value, IntervalQuantity::kCall);
    }
    const Interval call = interval_of(IntervalQuantity::kCall);
    double faster = 1 / call.low;
    if (!load_.is_closed()) faster = std::min(faster, arrival_limit(result, load_.trace.empty()));
    const double tokens = summary.output_tokens_per_s;
    summary.interval80["output_tokens_per_s"] = {tokens / call.high, tokens * faster};
    const double requests = summary.requests_per_s;
    summary.interval80["requests_per_s"] = {requests / call.high, requests * faster};
    if (summary.goodput_per_s) {
      const Interval ttft = interval_of(IntervalQuantity::kTtft);
      const Interval tpot = interval_of(IntervalQuantity::kTpot);
      summary.interval80["goodput_per_s"] = {
          goodput_of(result, promises_, {ttft.high, tpot.high, call.high}),
          std::min(goodput_of(result, promises_, {ttft.low, tpot.low, call.low}),
                   requests * faster)};
    }
    if (const auto cost = summary.cost_usd_per_million)
      summary.interval80["cost_usd_per_million"] = {*cost / faster, *cost * call.high};
  }

  MachinePool& pool_;
  const ServeRequest& request_;
  Request base_;
  LoadedEngine engine_;
  Load load_;
  Speculation speculation_;
  std::vector<Promise> promises_;
  std::vector<std::unique_ptr<BuiltGroup>> groups_;
  ServiceSetup setup_;
  int wider_tp_ = 0;  // devices of a copy where --tp was not stated and one did not do; else 0
};

}  // namespace

std::vector<std::string> take_engine_set(Request& machine) {
  std::vector<std::string> engine;
  std::vector<std::string> rest;
  for (const std::string& one : machine.set) {
    (starts_with(trim(one), "engine.") ? engine : rest).push_back(one);
  }
  machine.set = rest;
  return engine;
}

ServeOutcome serve(MachinePool& pool, const ServeRequest& request,
                   const std::function<bool(double)>& progress) {
  return Server(pool, request).run(progress);
}

}  // namespace foretell

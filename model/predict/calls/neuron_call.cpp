#include "model/predict/calls/neuron_call.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "hw/spec/neuron/tile_sizes.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/mapping/neuron/map_graph.hpp"
#include "model/mapping/shared/fold_layers.hpp"
#include "model/predict/calls/kept_programs.hpp"
#include "model/predict/calls/memory_use.hpp"
#include "model/program/program_builder.hpp"
#include "model/system/critical_path.hpp"

namespace foretell {
namespace {

constexpr int kFirstTry = 4;  // repetitions executed before the first look for a steady state
constexpr double kSteadyTolerance = 2e-4;  // periods of consecutive layers that count as equal

// What an operator did on core 0. It begins with its first instruction; weights that were
// prefetched before do not count, unless moving data is all that it does.
struct OpActivity {
  Ticks begin = -1;
  Ticks end = 0;
  Ticks loaded = 0;                            // its last weights have arrived
  std::array<Ticks, kEngineCount + 2> busy{};  // engines, then DMA, then collectives
  std::uint64_t read = 0;                      // bytes of HBM
  std::uint64_t written = 0;
  EnergyWork work;

  std::uint64_t bytes() const { return read + written; }
};
constexpr std::size_t kDmaResource = kEngineCount;
constexpr std::size_t kCollectiveResource = kEngineCount + 1;

void note(OpActivity* activity, const EntryTimes& execution, std::size_t resource) {
  if (activity->begin < 0 || execution.begin < activity->begin) activity->begin = execution.begin;
  activity->end = std::max(activity->end, execution.end);
  activity->busy[resource] += execution.end - execution.begin;
}

// By operator of the program; one that did nothing has no begin.
std::vector<OpActivity> activities_of(const Program& program, const ProgramExecution& core) {
  std::vector<OpActivity> by_op(program.operators.size());
  for (std::size_t q = 0; q < core.entries.size(); ++q) {
    const StreamKind kind = program.streams[q].kind();
    if (kind == StreamKind::kTransfers) continue;
    const std::size_t resource = kind == StreamKind::kCollectives ? kCollectiveResource : q;
    const auto note_entries = [&](const auto& entries) {
      for (std::size_t i = 0; i < core.entries[q].size(); ++i) {
        const std::int32_t op = entries[i].op;
        if (op >= 0) note(&by_op[static_cast<std::size_t>(op)], core.entries[q][i], resource);
      }
    };
    std::visit(note_entries, program.streams[q].work);
  }
  std::vector<bool> computes(by_op.size());
  for (std::size_t op = 0; op < by_op.size(); ++op) computes[op] = by_op[op].begin >= 0;
  for (std::size_t r = 0; r < program.ring_count(); ++r) {
    for (std::size_t i = 0; i < program.ring(r).size(); ++i) {
      const Transfer& transfer = program.ring(r)[i];
      if (transfer.op < 0) continue;
      OpActivity& activity = by_op[static_cast<std::size_t>(transfer.op)];
      const EntryTimes& execution = core.entries[kEngineCount + r][i];
      if (r == static_cast<std::size_t>(Ring::kWeights))
        activity.loaded = std::max(activity.loaded, execution.end);
      if (computes[static_cast<std::size_t>(transfer.op)]) {
        activity.busy[kDmaResource] += execution.end - execution.begin;
      } else {
        note(&activity, execution, kDmaResource);
      }
      if (transfer.direction == TransferDirection::kLoad) activity.read += transfer.bytes();
      if (transfer.direction == TransferDirection::kStore) activity.written += transfer.bytes();
    }
  }
  for (std::size_t op = 0; op < by_op.size(); ++op) by_op[op].work = core.operators[op].work;
  return by_op;
}

// The operators of a program by those of its graph; kNoId: folded into another one.
std::vector<std::int32_t> operators_of(const Program& program, const Graph& graph) {
  std::unordered_map<std::string_view, std::int32_t> numbers;
  for (std::size_t op = 0; op < program.operators.size(); ++op) {
    numbers[program.operators[op]] = static_cast<std::int32_t>(op);
  }
  std::vector<std::int32_t> result;
  result.reserve(graph.ops().size());
  for (const Op& op : graph.ops()) {
    const auto found = numbers.find(op.name);
    result.push_back(found == numbers.end() ? kNoId : found->second);
  }
  return result;
}

using Layers = std::map<std::int32_t, std::vector<OpId>>;  // operators in graph order

// A pattern of layers whose first repetitions stand for the others, and the time each of these
// adds.
struct Replay {
  LayerRun run;
  std::int32_t executed = 0;  // repetitions that were executed
  bool is_steady = false;     // those before the last, or it, too, take the same time each
  std::int32_t like = 0;      // the executed repetition that the replayed ones are like
  Ticks period = 0;           // of these
  std::vector<OpId> pattern;  // operators of `like`
  OpId last = kNoId;          // of those that were executed

  std::int32_t replayed() const { return run.count - executed; }
  std::int32_t last_executed() const { return executed - 1; }
  Ticks added() const { return period * replayed(); }
  bool skips(std::int32_t layer) const { return layer >= run.at(executed) && layer < run.end(); }
  std::int32_t repetition_of(std::int32_t layer) const { return (layer - run.first) / run.length; }
  // The layer of another repetition that equals this one.
  std::int32_t same_of(std::int32_t layer, std::int32_t repetition) const {
    return layer + (repetition - repetition_of(layer)) * run.length;
  }
};

// How many times as large tiles are as those that the window of weights was fitted with.
double larger_tiles(const NeuronCoreSpec& core) {
  const int fitted = core.scheduling.window_tile;
  const int rows = tile_sizes(core_shape(core)).rows;
  return fitted > 0 ? std::max(1.0, static_cast<double>(rows) / fitted) : 1;
}

class NeuronCallRunner {
 public:
  explicit NeuronCallRunner(const NeuronCall& call)
      : call_(call),
        layers_(ops_of_layers(call.graph)),
        own_costs_(call.system, call.factors, call.tensor_parallel) {
    const NeuronCoreSpec& core = call.system.device.core;
    const double most = 1 - core.scheduling.activation_share;
    const double window = std::min(call.factors.prefetch_window_fraction, most);
    const double used = window * call.window_share * larger_tiles(core);
    scheduling_.prefetch_window = core.sbuf.capacity * std::min(used, most);
    scheduling_.operator_loops = call.operator_loops;
  }

  NeuronCallResult run() {
    const bool all = call_.exact || call_.for_timeline;
    if (!all) {
      for (const LayerRun& run : equal_runs(call_.graph, kFirstTry))
        replays_.push_back({run, kFirstTry, false, 0, 0, {}, kNoId});
    }
    execute();
    while (!steady()) {
      for (Replay& replay : replays_) {
        if (!replay.is_steady) replay.executed = std::min(2 * replay.executed, replay.run.count);
      }
      execute();
    }
    fill_metrics();
    return std::move(result_);
  }

 private:
  void execute() {
    LayerStandIns stand_ins;
    for (Replay& replay : replays_) {
      for (std::int32_t layer = replay.run.at(replay.executed); layer < replay.run.end(); ++layer)
        stand_ins[layer] = replay.same_of(layer, replay.last_executed());
      replay.last = ops_of(replay, replay.last_executed()).back();
    }
    result_.program = mapped(stand_ins);
    result_.shown.memory_peak = call_.system.device.hbm.bandwidth;
    CollectiveCosts& costs = call_.costs == nullptr ? own_costs_ : *call_.costs;
    RunSettings settings{
        call_.copies_per_device, call_.sdk_engine_time, call_.tensor_parallel, call_.exact, &costs,
        kept_ != nullptr};
    settings.sdk_call_time = call_.sdk_call_time;
    if (call_.for_timeline) {
      for (const Collective& collective : result_.program->collectives()) {
        result_.shown.links[collective] = costs.of(collective).links;
      }
    }
    result_.execution = foretell::simulate(call_.system, call_.factors, settings, *result_.program);
    activities_ = activities_of(*result_.program, result_.execution.cores.front());
    numbers_ = operators_of(*result_.program, call_.graph);
  }

  // Operators of one repetition, in graph order.
  std::vector<OpId> ops_of(const Replay& replay, std::int32_t repetition) const {
    std::vector<OpId> ops;
    for (std::int32_t i = 0; i < replay.run.length; ++i) {
      const std::vector<OpId>& layer = layers_.at(replay.run.at(repetition) + i);
      ops.insert(ops.end(), layer.begin(), layer.end());
    }
    return ops;
  }

  // Null for one that was folded into another operator, or did nothing.
  const OpActivity* activity_of(OpId id) const {
    const std::int32_t number = numbers_[static_cast<std::size_t>(id)];
    if (number == kNoId) return nullptr;
    const OpActivity& activity = activities_[static_cast<std::size_t>(number)];
    return activity.begin >= 0 ? &activity : nullptr;
  }

  std::shared_ptr<const Program> mapped(const LayerStandIns& stand_ins) {
    const CoreShape core = core_shape(call_.system.device.core);
    if (inputs_are_kept() && !call_.for_timeline) {
      kept_ = kept<KeptPrograms>().get(call_.graph, call_.precision, core, scheduling_, stand_ins,
                                       limits_of(call_.system.device));
      return {kept_, &kept_->program};
    }
    return std::make_shared<const Program>(
        map_to_neuron_core(call_.graph, call_.precision, core, scheduling_, stand_ins,
                           call_.for_timeline ? &result_.shown.occupancy : nullptr));
  }

  Ticks end_of(const Replay& replay, std::int32_t repetition, Ticks OpActivity::*when) const {
    Ticks end = 0;
    for (const OpId id : ops_of(replay, repetition)) {
      const OpActivity* found = activity_of(id);
      if (found != nullptr) end = std::max(end, found->*when);
    }
    return end;
  }

  // By how much later than the repetition before.
  Ticks period(const Replay& replay, std::int32_t repetition, Ticks OpActivity::*when) const {
    return end_of(replay, repetition, when) - end_of(replay, repetition - 1, when);
  }

  // Equal layers one after another take the same time once the pipeline of weights has filled:
  // their loads neither run further ahead of the computation nor lose what they are ahead. The very
  // last may differ, by what begins or is stored beside it; then it does so wherever it stands, and
  // those before it tell the time of the others.
  void judge(Replay& replay) const {
    for (const std::int32_t last : {replay.last_executed(), replay.last_executed() - 1}) {
      replay.like = last;
      replay.pattern = ops_of(replay, last);
      replay.period = period(replay, last, &OpActivity::end);
      const auto is_period = [&replay](Ticks time) {
        const auto difference = static_cast<double>(std::abs(replay.period - time));
        return difference <= kSteadyTolerance * static_cast<double>(replay.period);
      };
      const bool loads = end_of(replay, last, &OpActivity::loaded) > 0;
      replay.is_steady = is_period(period(replay, last - 1, &OpActivity::end)) &&
                         (!loads || is_period(period(replay, last, &OpActivity::loaded)));
      if (replay.is_steady) return;
    }
    replay.is_steady = replay.replayed() == 0;
  }

  bool steady() {
    bool all = true;
    for (Replay& replay : replays_) {
      judge(replay);
      all = all && replay.is_steady;
    }
    return all;
  }

  Ticks added() const {
    Ticks sum = 0;
    for (const Replay& replay : replays_) sum += replay.added();
    return sum;
  }

  void fill_metrics() {
    Metrics& metrics = result_.metrics;
    const Execution& execution = result_.execution;
    for (const Replay& replay : replays_)
      result_.replayed_layers += replay.replayed() * replay.run.length;
    const Seconds overhead = to_seconds(execution.call_begin);
    const Seconds device = to_seconds(execution.end - execution.call_begin + added());
    metrics.device = device;
    metrics.call = std::max(overhead + device, host_copies());
    metrics.instructions = execution.instructions;
    metrics.events = execution.events;
    const CriticalPath path = critical_path(*result_.program, result_.execution.cores.front());
    fill_operators(path);
    fill_resources();
    fill_bottleneck(overhead, path);
    metrics.memory =
        memory_of_core(call_.graph, call_.system.device.host) * call_.copies_per_device;
    metrics.memory_capacity = call_.system.smallest_memory();
  }

  // Inputs and outputs cross the host's bus while another call computes.
  Seconds host_copies() const {
    Bytes bytes(0);
    for (const Tensor& tensor : call_.graph.tensors()) {
      if (tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kOutput)
        bytes += tensor.bytes();
    }
    return bytes / call_.system.device.host.copy_rate;
  }

  void fill_operators(const CriticalPath& path) {
    std::map<std::int32_t, std::size_t> position;  // within a replayed layer
    for (OpId id = 0; id < static_cast<OpId>(call_.graph.ops().size()); ++id) {
      const Op& op = call_.graph.op(id);
      OpId stands_for = id;
      Ticks shift = 0;
      for (const Replay& replay : replays_) {
        if (replay.skips(op.layer)) {
          stands_for = layers_.at(replay.same_of(op.layer, replay.like))[position[op.layer]++];
          shift += replay.period * (replay.repetition_of(op.layer) - replay.like);
        } else if (id > replay.last) {
          shift += replay.added();
        }
      }
      const OpActivity* found = activity_of(stands_for);
      if (found == nullptr) continue;
      const auto number = static_cast<std::size_t>(numbers_[static_cast<std::size_t>(stands_for)]);
      result_.metrics.operators.push_back(
          operator_metrics(id, *found, shift, largest(path.by_operator[number])));
    }
  }

  OperatorMetrics operator_metrics(OpId id, const OpActivity& activity, Ticks shift,
                                   Critical critical) const {
    static constexpr std::array<const char*, kEngineCount + 2> kNames = {
        "tensor", "vector", "scalar", "gpsimd", "sync", "dma", "collectives"};
    const Op& op = call_.graph.op(id);
    OperatorMetrics metrics;
    metrics.name = op.name;
    metrics.op = op.kind;
    const auto busiest =
        std::max_element(activity.busy.begin(), activity.busy.end()) - activity.busy.begin();
    metrics.engine = kNames.at(static_cast<std::size_t>(busiest));
    metrics.start = to_seconds(activity.begin + shift);
    metrics.duration = to_seconds(activity.end - activity.begin);
    metrics.flops =
        kept_ != nullptr ? kept_->flops[static_cast<std::size_t>(id)] : call_.graph.flops(id);
    metrics.bytes = Bytes(static_cast<double>(activity.bytes()));
    metrics.critical = to_string(critical);
    metrics.work = activity.work;
    return metrics;
  }

  // What the repetitions that were not executed would have done, and for how long they would have
  // waited for an engine that works in them.
  struct Replayed {
    OpActivity work;
    std::array<Ticks, kEngineCount> stalled{};
  };
  Replayed replayed() const {
    Replayed sum;
    for (const Replay& replay : replays_) {
      std::array<Ticks, kEngineCount> busy{};
      for (const OpId id : replay.pattern) {
        const OpActivity* found = activity_of(id);
        if (found == nullptr) continue;
        for (std::size_t r = 0; r < found->busy.size(); ++r) {
          sum.work.busy[r] += found->busy[r] * replay.replayed();
          if (r < kEngineCount) busy[r] += found->busy[r];
        }
        const auto times = static_cast<std::uint64_t>(replay.replayed());
        sum.work.read += found->read * times;
        sum.work.written += found->written * times;
      }
      for (std::size_t e = 0; e < kEngineCount; ++e) {
        if (busy[e] > 0) sum.stalled[e] += (replay.period - busy[e]) * replay.replayed();
      }
    }
    return sum;
  }

  void fill_resources() {
    const Execution& execution = result_.execution;
    const Replayed more = replayed();
    const double total = static_cast<double>(execution.end - execution.call_begin + added());
    const auto share = [&](Ticks time, Ticks replayed) {
      if (total <= 0) return 0.0;  // a graph of views alone
      return std::clamp(static_cast<double>(time + replayed) / total, 0.0, 1.0);
    };
    Metrics& metrics = result_.metrics;
    for (std::size_t c = 0; c < execution.cores.size(); ++c) {
      const ProgramExecution& core = execution.cores[c];
      const std::string prefix = "chip0.core" + std::to_string(c) + ".";
      for (std::size_t e = 0; e < kEngineCount; ++e) {
        if (core.entries[e].empty()) continue;
        ResourceMetrics resource;
        resource.path = prefix + std::string(to_string(static_cast<Engine>(e)));
        resource.busy = share(core.busy[e], more.work.busy[e]);
        resource.stalled = std::min(1 - resource.busy, share(core.stalled[e], more.stalled[e]));
        metrics.resources.push_back(resource);
      }
      const double bytes = static_cast<double>(core.loaded_bytes + core.stored_bytes) +
                           static_cast<double>(more.work.bytes());
      const double loaded_share =
          core.loaded_bytes + core.stored_bytes == 0
              ? 0
              : bytes / static_cast<double>(core.loaded_bytes + core.stored_bytes);
      ResourceMetrics dma;
      dma.path = prefix + "dma";
      dma.busy = std::clamp(static_cast<double>(core.dma_busy) * loaded_share / total, 0.0, 1.0);
      dma.bytes = Bytes(bytes);
      metrics.resources.push_back(dma);
      if (result_.program->collectives().empty()) continue;
      ResourceMetrics collectives;
      collectives.path = prefix + "collectives";
      collectives.busy = share(core.busy[result_.program->collective_queue()],
                               more.work.busy[kCollectiveResource]);
      metrics.resources.push_back(collectives);
    }
    fill_hbm(more.work, total);
  }

  void fill_hbm(const OpActivity& replayed, double total) {
    const Execution& execution = result_.execution;
    const std::size_t cores = execution.cores.size();
    result_.metrics.hbm_read =
        Bytes(static_cast<double>(execution.hbm_read + replayed.read * cores));
    result_.metrics.hbm_written =
        Bytes(static_cast<double>(execution.hbm_written + replayed.written * cores));
    ResourceMetrics hbm;
    hbm.path = "chip0.hbm";
    hbm.bytes = result_.metrics.hbm_read + result_.metrics.hbm_written;
    const Seconds busy = hbm.bytes / call_.system.device.hbm.bandwidth;
    hbm.busy = std::clamp(busy.value() * kTicksPerSecond / total, 0.0, 1.0);
    result_.metrics.resources.push_back(hbm);
  }

  void fill_bottleneck(Seconds overhead, const CriticalPath& path) {
    CriticalTimes total = path.total;
    for (const Replay& replay : replays_) {
      for (const OpId id : replay.pattern) {
        const std::int32_t number = numbers_[static_cast<std::size_t>(id)];
        if (number == kNoId) continue;
        for (std::size_t r = 0; r < total.size(); ++r)
          total[r] += path.by_operator[static_cast<std::size_t>(number)][r] * replay.replayed();
      }
    }
    const Critical critical = largest(total);
    const Seconds longest = to_seconds(total[static_cast<std::size_t>(critical)]);
    Metrics& metrics = result_.metrics;
    metrics.bottleneck = to_string(critical);
    if (overhead > longest) metrics.bottleneck = "host call overhead";
    if (metrics.call > overhead + metrics.device) metrics.bottleneck = "host copy";
  }

  const NeuronCall& call_;
  Layers layers_;
  CollectiveCosts own_costs_;
  SchedulingParameters scheduling_;
  std::vector<Replay> replays_;
  std::shared_ptr<const KeptProgram> kept_;  // null: mapped for this call alone
  NeuronCallResult result_;
  std::vector<OpActivity> activities_;  // by operator of the program
  std::vector<std::int32_t> numbers_;   // of these, by operator of the graph
};

}  // namespace

NeuronCallResult run_neuron_call(const NeuronCall& call) { return NeuronCallRunner(call).run(); }

}  // namespace foretell

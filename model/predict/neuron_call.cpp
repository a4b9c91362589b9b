#include "model/predict/neuron_call.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/mapping/neuron/map_graph.hpp"
#include "model/mapping/shared/fold_layers.hpp"
#include "model/predict/kept_programs.hpp"
#include "model/predict/memory_use.hpp"
#include "model/program/program_builder.hpp"
#include "model/system/critical_path.hpp"

namespace foretell {
namespace {

constexpr int kFirstTry = 4;  // layers executed before the first look for a steady state
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

// The layers that stand for the others, and the time each replayed one adds.
struct Replay {
  LayerRun run;
  int executed = 0;  // layers of the run that were executed
  Ticks period = 0;  // of a replayed layer

  int replayed() const { return executed == 0 ? 0 : run.count - executed; }
  std::int32_t last_executed() const { return run.first + executed - 1; }
  bool skips(std::int32_t layer) const {
    return replayed() > 0 && layer > last_executed() && layer < run.first + run.count;
  }
};

class NeuronCallRunner {
 public:
  explicit NeuronCallRunner(const NeuronCall& call)
      : call_(call), own_costs_(call.system, call.factors, call.tensor_parallel) {
    const NeuronCoreSpec& core = call.system.device.core;
    const double window =
        std::min(call.factors.prefetch_window_fraction, 1 - core.scheduling.activation_share);
    scheduling_.prefetch_window = core.sbuf.capacity * window * call.window_share;
    scheduling_.operator_loops = call.operator_loops;
  }

  NeuronCallResult run() {
    replay_.run = longest_equal_run(call_.graph);
    const bool all = call_.exact || call_.for_timeline;
    int executed = all ? replay_.run.count : std::min(kFirstTry, replay_.run.count);
    while (true) {
      execute(executed);
      if (executed == replay_.run.count || steady()) break;
      executed = std::min(2 * executed, replay_.run.count);
    }
    fill_metrics();
    return std::move(result_);
  }

 private:
  void execute(int executed) {
    std::set<std::int32_t> skipped;
    for (int layer = executed; layer < replay_.run.count; ++layer)
      skipped.insert(replay_.run.first + layer);
    replay_.executed = executed;
    replay_.period = 0;
    result_.program = mapped(skipped);
    result_.shown.memory_peak = call_.system.device.hbm.bandwidth;
    CollectiveCosts& costs = call_.costs == nullptr ? own_costs_ : *call_.costs;
    RunSettings settings{
        call_.copies_per_device, call_.sdk_engine_time, call_.tensor_parallel, call_.exact, &costs,
        kept_ != nullptr};
    settings.sdk_call_time = call_.sdk_call_time;
    if (call_.for_timeline) {
      for (const Collective& collective : result_.program->collectives()) {
        result_.shown.links[{collective.kind, collective.bytes}] =
            costs.of(collective.kind, collective.bytes).links;
      }
    }
    result_.execution = foretell::simulate(call_.system, call_.factors, settings, *result_.program);
    activities_ = activities_of(*result_.program, result_.execution.cores.front());
    numbers_ = operators_of(*result_.program, call_.graph);
  }

  // Null for one that was folded into another operator, or did nothing.
  const OpActivity* activity_of(OpId id) const {
    const std::int32_t number = numbers_[static_cast<std::size_t>(id)];
    if (number == kNoId) return nullptr;
    const OpActivity& activity = activities_[static_cast<std::size_t>(number)];
    return activity.begin >= 0 ? &activity : nullptr;
  }

  std::shared_ptr<const Program> mapped(const std::set<std::int32_t>& skipped) {
    const CoreShape core = core_shape(call_.system.device.core);
    if (inputs_are_kept() && !call_.for_timeline) {
      kept_ = kept<KeptPrograms>().get(call_.graph, call_.precision, core, scheduling_, skipped,
                                       limits_of(call_.system.device));
      return {kept_, &kept_->program};
    }
    return std::make_shared<const Program>(
        map_to_neuron_core(call_.graph, call_.precision, core, scheduling_, skipped,
                           call_.for_timeline ? &result_.shown.occupancy : nullptr));
  }

  Ticks layer_end(std::int32_t layer, Ticks OpActivity::*when) const {
    Ticks end = 0;
    for (const OpId id : ops_of_layer(call_.graph, layer)) {
      const OpActivity* found = activity_of(id);
      if (found != nullptr) end = std::max(end, found->*when);
    }
    return end;
  }

  // By how much later than the layer before.
  Ticks period(std::int32_t layer, Ticks OpActivity::*when) const {
    return layer_end(layer, when) - layer_end(layer - 1, when);
  }

  // Equal layers one after another take the same time once the pipeline of weights has filled:
  // their loads neither run further ahead of the computation nor lose what they are ahead.
  bool steady() {
    if (replay_.executed < 3) return false;
    const std::int32_t last = replay_.last_executed();
    replay_.period = period(last, &OpActivity::end);
    const auto is_period = [this](Ticks time) {
      const auto difference = static_cast<double>(std::abs(replay_.period - time));
      return difference <= kSteadyTolerance * static_cast<double>(replay_.period);
    };
    const bool loads = layer_end(last, &OpActivity::loaded) > 0;
    return is_period(period(last - 1, &OpActivity::end)) &&
           (!loads || is_period(period(last, &OpActivity::loaded)));
  }

  Ticks added() const { return replay_.period * replay_.replayed(); }

  void fill_metrics() {
    Metrics& metrics = result_.metrics;
    const Execution& execution = result_.execution;
    result_.replayed_layers = replay_.replayed();
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
    const std::vector<OpId> pattern = ops_of_layer(call_.graph, replay_.last_executed());
    std::map<std::int32_t, std::size_t> position;  // within the replayed layer
    for (OpId id = 0; id < static_cast<OpId>(call_.graph.ops().size()); ++id) {
      const Op& op = call_.graph.op(id);
      const bool replayed = replay_.skips(op.layer);
      const OpId stands_for = replayed ? pattern[position[op.layer]++] : id;
      const OpActivity* found = activity_of(stands_for);
      if (found == nullptr) continue;
      const auto number = static_cast<std::size_t>(numbers_[static_cast<std::size_t>(stands_for)]);
      Ticks shift = 0;
      if (replayed) shift = replay_.period * (op.layer - replay_.last_executed());
      if (!replayed && !pattern.empty() && id > pattern.back()) shift = added();
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

  // Activity of the last executed layer, which every replayed one repeats.
  OpActivity replayed_layer() const {
    OpActivity sum;
    for (const OpId id : ops_of_layer(call_.graph, replay_.last_executed())) {
      const OpActivity* found = activity_of(id);
      if (found == nullptr) continue;
      for (std::size_t r = 0; r < sum.busy.size(); ++r) sum.busy[r] += found->busy[r];
      sum.read += found->read;
      sum.written += found->written;
    }
    return sum;
  }

  void fill_resources() {
    const Execution& execution = result_.execution;
    const OpActivity layer = replayed_layer();
    const double layers = replay_.replayed();
    const double total = static_cast<double>(execution.end - execution.call_begin + added());
    const auto share = [&](Ticks time, Ticks per_layer) {
      if (total <= 0) return 0.0;  // a graph of views alone
      return std::clamp(
          (static_cast<double>(time) + layers * static_cast<double>(per_layer)) / total, 0.0, 1.0);
    };
    Metrics& metrics = result_.metrics;
    for (std::size_t c = 0; c < execution.cores.size(); ++c) {
      const ProgramExecution& core = execution.cores[c];
      const std::string prefix = "chip0.core" + std::to_string(c) + ".";
      for (std::size_t e = 0; e < kEngineCount; ++e) {
        if (core.entries[e].empty()) continue;
        ResourceMetrics resource;
        resource.path = prefix + std::string(to_string(static_cast<Engine>(e)));
        resource.busy = share(core.busy[e], layer.busy[e]);
        const bool works = layer.busy[e] > 0;
        resource.stalled = std::min(
            1 - resource.busy, share(core.stalled[e], works ? replay_.period - layer.busy[e] : 0));
        metrics.resources.push_back(resource);
      }
      const double bytes = static_cast<double>(core.loaded_bytes + core.stored_bytes) +
                           layers * static_cast<double>(layer.bytes());
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
      collectives.busy =
          share(core.busy[result_.program->collective_queue()], layer.busy[kCollectiveResource]);
      metrics.resources.push_back(collectives);
    }
    fill_hbm(layer, total);
  }

  void fill_hbm(const OpActivity& layer, double total) {
    const Execution& execution = result_.execution;
    const double replayed = replay_.replayed() * static_cast<double>(execution.cores.size());
    result_.metrics.hbm_read =
        Bytes(static_cast<double>(execution.hbm_read) + replayed * static_cast<double>(layer.read));
    result_.metrics.hbm_written = Bytes(static_cast<double>(execution.hbm_written) +
                                        replayed * static_cast<double>(layer.written));
    ResourceMetrics hbm;
    hbm.path = "chip0.hbm";
    hbm.bytes = result_.metrics.hbm_read + result_.metrics.hbm_written;
    const Seconds busy = hbm.bytes / call_.system.device.hbm.bandwidth;
    hbm.busy = std::clamp(busy.value() * kTicksPerSecond / total, 0.0, 1.0);
    result_.metrics.resources.push_back(hbm);
  }

  void fill_bottleneck(Seconds overhead, const CriticalPath& path) {
    CriticalTimes total = path.total;
    for (const OpId id : ops_of_layer(call_.graph, replay_.last_executed())) {
      const std::int32_t number = numbers_[static_cast<std::size_t>(id)];
      if (number == kNoId || replay_.replayed() == 0) continue;
      for (std::size_t r = 0; r < total.size(); ++r) {
        total[r] += path.by_operator[static_cast<std::size_t>(number)][r] * replay_.replayed();
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
  CollectiveCosts own_costs_;
  SchedulingParameters scheduling_;
  Replay replay_;
  std::shared_ptr<const KeptProgram> kept_;  // null: mapped for this call alone
  NeuronCallResult result_;
  std::vector<OpActivity> activities_;  // by operator of the program
  std::vector<std::int32_t> numbers_;   // of these, by operator of the graph
};

}  // namespace

NeuronCallResult run_neuron_call(const NeuronCall& call) { return NeuronCallRunner(call).run(); }

}  // namespace foretell

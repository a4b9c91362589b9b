#include "model/app/request/record/make_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <foretell/version.hpp>
#include <set>

#include "calib/fitted/shared/die_area.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/base/errors.hpp"
#include "reports/record/hardware_change.hpp"

namespace foretell {
namespace {

// Lengths that vary have no number.
Scenario scenario_of(const Request& request) {
  Scenario scenario = request;
  for (const RequestField& field : request_fields()) {
    if (field.varies && request.distributions.count(field.option) > 0)
      set_count(field, scenario, 0);
  }
  return scenario;
}

RunContext context_of(const ResolvedWorkload& resolved, const SystemFacts& facts) {
  const Request& request = resolved.request;
  RunContext context;
  context.version = kVersion;
  context.commit = kCommit;
  context.system = facts.system;
  context.workload = resolved.model.name;
  const auto extension = std::filesystem::path(request.workload).extension();
  if (extension == ".onnx" || extension == ".json" || extension == ".yaml")
    context.workload_file = request.workload;
  context.dtype = resolved.precision.name;
  context.scenario = scenario_of(request);
  context.set = request.set;
  context.differs = facts.like.is_changed() ? facts.like.differs : std::vector<std::string>();
  context.likeness = facts.like.note;
  context.factors = facts.factors;
  context.assumed_values = facts.assumed_values;
  context.seed = request.seed;
  context.notes = resolved.notes;
  context.unstated = resolved.unstated;
  return context;
}

TrainingRecord training_record(const TrainingMetrics& training) {
  return {training.optimizer,
          training.parameters,
          training.forward.value(),
          training.backward.value(),
          training.update.value(),
          training.all_reduce.value(),
          training.saved_activations.value(),
          training.gradients.value(),
          training.optimizer_state.value(),
          training.forward_time.value()};
}

// Prices are published, but a reader of costs asks for their source.
bool is_kept(const Parameter& parameter) {
  return parameter.kind == ValueKind::kAssumed || parameter.kind == ValueKind::kFitted ||
         parameter.kind == ValueKind::kOverride || parameter.overridden || parameter.differs ||
         parameter.path.rfind("system.price.", 0) == 0;
}

std::vector<ValueRecord> values_of(const std::vector<Parameter>& parameters) {
  std::vector<ValueRecord> values;
  for (const Parameter& parameter : parameters) {
    if (!is_kept(parameter)) continue;
    const ValueKind kind = parameter.overridden ? ValueKind::kOverride : parameter.kind;
    values.push_back({parameter.path, parameter.value, std::string(to_string(kind)),
                      parameter.source, parameter.why});
  }
  return values;
}

// Chooses intervals by what is predicted; the notes say where there is none of its own.
class Intervals {
 public:
  // `set`: the overrides that change something.
  Intervals(const ResolvedWorkload& resolved, const SystemFacts& facts,
            const std::vector<std::string>& set, std::vector<std::string>& notes)
      : device_(facts.factors == "none" ? "published facts alone" : facts.device),
        family_(interval_family(resolved.model)),
        matmul_(to_string(resolved.precision.matmul_compute)),
        request_(resolved.request),
        model_(resolved.model),
        own_(facts.interval80),
        own_first_token_(facts.first_token80),
        widened_(changes_hardware(set) || facts.like.is_changed()),
        own_widened_(facts.intervals_of_changed),
        notes_(notes) {}

  Interval ratio(IntervalQuantity quantity) {
    const Interval found = measured(quantity);
    return widened_ && !(own_ && own_widened_) ? of_changed_hardware(found) : found;
  }

  // To be called once.
  void note() {
    if (!widened_) return;
    notes_.emplace_back(kChangedHardware);
  }

 private:
  Interval measured(IntervalQuantity quantity) {
    if (quantity == IntervalQuantity::kTtft && own_first_token_) return *own_first_token_;
    if (own_) return *own_;
    const IntervalChoice choice =
        default_intervals().choose(device_, family_, matmul_, quantity,
                                   interval_place(request_, model_, quantity), request_.sdk);
    if (!choice.note.empty()) notes_.push_back(choice.note);
    return choice.ratio;
  }

  std::string device_;
  std::string_view family_;
  std::string matmul_;
  const Request& request_;
  const ModelConfig& model_;
  std::optional<Interval> own_;  // of the machine itself
  std::optional<Interval> own_first_token_;
  bool widened_;
  bool own_widened_;
  std::vector<std::string>& notes_;
};

void set_generation(const GenerationMetrics& generation, std::int64_t output_len,
                    const Interval& ttft_ratio, const Interval& tpot_ratio, CallFigures& figures) {
  figures.throughput *= static_cast<double>(output_len);
  figures.ttft = generation.ttft;
  figures.tpot = generation.tpot;
  figures.times80["ttft_s"] = band_of(ttft_ratio, generation.ttft);
  figures.times80["tpot_s"] = band_of(tpot_ratio, generation.tpot);
}

// FLOP/s of a call over the first peak of the part that runs it. Stages of a pipeline are several
// parts, and the operators of a generation are those of some of its calls.
std::optional<double> flops_utilisation(const ResolvedWorkload& resolved, const SystemFacts& facts,
                                        const Metrics& metrics) {
  const bool is_known = facts.machine && !facts.machine->compute.empty();
  if (!is_known || metrics.generation || resolved.request.pp > 1) return std::nullopt;
  Flops flops;
  for (const OperatorMetrics& op : metrics.operators) flops += op.flops;
  return (flops / metrics.call).value() / facts.machine->compute.front().per_s;
}

CallFigures figures_of(const ResolvedWorkload& resolved, const Prices& prices,
                       const Metrics& metrics, Intervals intervals) {
  if (metrics.call <= Seconds(0) || metrics.device <= Seconds(0)) {
    throw UserError("workload: nothing of '" + resolved.model.name +
                    "' runs on the device: its operators only rename or reshape their inputs");
  }
  CallFigures figures;
  figures.call = metrics.call;
  Serving serving = resolved.serving;
  if (metrics.generation)
    serving.overlap = std::max(1.0, metrics.generation->total / metrics.generation->slowest_stage);
  figures.latency = client_latency(metrics.call, serving);
  figures.throughput = PerSecond(system_throughput(metrics.call, serving));
  // Decode steps make up most of a generation.
  const Interval ratio =
      intervals.ratio(metrics.generation ? IntervalQuantity::kTpot : IntervalQuantity::kCall);
  if (metrics.generation) {
    set_generation(*metrics.generation, resolved.request.output_len,
                   intervals.ratio(IntervalQuantity::kTtft), ratio, figures);
  }
  intervals.note();
  figures.times80["call_s"] = band_of(ratio, figures.call);
  figures.times80["latency_s"] = band_of(ratio, figures.latency);
  figures.throughput80 =
      Band<PerSecond>{figures.throughput / ratio.high, figures.throughput / ratio.low};
  if (metrics.training) {  // no step of training has been measured
    figures.times80.clear();
    figures.throughput80.reset();
  }
  set_costs(prices, figures);
  figures.memory = metrics.memory;
  figures.memory_used = metrics.memory.total();
  figures.memory_capacity = metrics.memory_capacity;
  return figures;
}

// Apart from the figures.
RunSummary summary_of(const ResolvedWorkload& resolved, const SystemFacts& facts,
                      const Metrics& metrics) {
  RunSummary summary;
  summary.throughput_unit = metrics.training     ? "samples/s"
                            : metrics.generation ? "tokens/s"
                                                 : "inferences/s";
  summary.flops_utilisation = flops_utilisation(resolved, facts, metrics);
  summary.bottleneck = metrics.bottleneck;
  if (metrics.training) summary.training = training_record(*metrics.training);
  return summary;
}

// What changes the hardware is asked for its area too, so it is then that a note says what it is
// worth.
void set_area(const DieArea& area, const Request& request, const Likeness& like,
              RunRecord& record) {
  record.summary.area_mm2 = area.area_mm2;
  record.summary.cost_to_make_usd = area.cost_usd();
  const bool is_what_if =
      !request.set.empty() || !request.node.empty() || !request.hbm.empty() || like.is_own;
  if (!area.is_published && is_what_if)
    record.context.notes.push_back("area: not calibrated; " + unpublished_area(area));
  if (area.dies == 1) return;
  record.context.notes.push_back(
      fmt::format("area: {:.0f} mm2 exceed the reticle of {:.0f} mm2: {} dies", area.area_mm2,
                  area.reticle_mm2, area.dies));
}

}  // namespace

RunRecord unpredicted(const Request& request, const std::string& system) {
  RunRecord record;
  record.context.version = kVersion;
  record.context.commit = kCommit;
  record.context.system = system;
  record.context.workload = WorkloadLibrary().load(request.workload).name;
  record.context.dtype = request.dtype;
  record.context.scenario = scenario_of(request);
  record.context.set = request.set;
  record.context.seed = request.seed;
  return record;
}

std::vector<std::string> changing(const Request& request,
                                  const std::vector<Parameter>& parameters) {
  std::set<std::string> changed;
  for (const Parameter& parameter : parameters)
    if (parameter.overridden) changed.insert(parameter.path);
  return changing(request, changed);
}

std::vector<std::string> changing(const Request& request, const std::set<std::string>& changed) {
  std::vector<std::string> set = changing(request.set, changed);
  if (!request.node.empty()) set.push_back("device.process=" + request.node);
  if (!request.hbm.empty()) set.push_back("device.hbm=" + request.hbm);
  return set;
}

RunRecord make_record(const ResolvedWorkload& resolved, const SystemFacts& facts,
                      const Metrics& metrics) {
  RunRecord record;
  record.context = context_of(resolved, facts);
  const std::vector<std::string> set = changing(resolved.request, facts.parameters);
  const Prices prices = prices_as_set(facts.prices, set);
  if (!facts.prices.empty() && prices.empty()) record.context.notes.emplace_back(kPriceOfAnother);
  record.values = values_of(facts.parameters);
  record.machine = facts.machine;
  CallFigures figures =
      figures_of(resolved, prices, metrics, Intervals(resolved, facts, set, record.context.notes));
  record.summary = summary_of(resolved, facts, metrics);
  if (metrics.generation) {
    for (const GenerationMetrics::Step& step : metrics.generation->steps)
      record.generation.push_back({step.kv_len, step.tokens, step.time.value()});
  }
  for (const OperatorMetrics& op : metrics.operators) {
    record.operators.push_back({op.name, op.op, op.engine, op.start.value(), op.duration.value(),
                                op.flops.value(), op.bytes.value(), op.critical, op.kernel,
                                op.waves, op.occupancy});
  }
  for (const ResourceMetrics& resource : metrics.resources) {
    record.resources.push_back(
        {resource.path, resource.busy, resource.stalled, resource.bytes.value()});
  }
  const ProcessChange change{resolved.request.node, resolved.request.hbm};
  if (facts.energy) set_energy(resolved, *facts.energy, metrics, figures, record);
  put_figures(figures, record.summary);
  if (const auto area = die_area(facts.device, facts.parameters, change, facts.like))
    set_area(*area, resolved.request, facts.like, record);
  check_record(record);
  return record;
}

}  // namespace foretell

// NeuronCores as a family of devices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/group_sizes.hpp"
#include "hw/spec/neuron/sdk_version.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/memory_check.hpp"
#include "model/app/request/record/machine_facts.hpp"
#include "model/app/request/resolve/compiled_lengths.hpp"
#include "model/app/request/resolve/resolved_request.hpp"
#include "model/base/errors.hpp"
#include "model/predict/calls/memory_use.hpp"
#include "model/predict/calls/neuron_call.hpp"
#include "model/predict/power/drawn_power.hpp"
#include "model/system/simulate.hpp"
#include "reports/record/ranks.hpp"

namespace foretell {
namespace {

CalibratedSystem load(const Request& request) {
  LoadOptions options;
  options.set = machine_set(request);
  options.factors = request.factors;
  return load_calibrated(request.system, options, *kept_catalog());
}

EnergyFacts energy_of(const ResolvedRequest& resolved) {
  const NeuronSystemSpec& spec = resolved.system.spec;
  const Request& request = resolved.request;
  const double ranks = ranks_of_stage(request);
  const double cores = ranks * std::max(1, request.pp) * std::max(1, request.dp);
  EnergyFacts facts;
  facts.energy = changed_energy(load_device_energy({spec.device.id, spec.device.core.id, "neuron"},
                                                   Watts(0), request.factors),
                                energy_change(spec.device.id, {request.node, request.hbm}));
  facts.devices = spec.devices;
  facts.setting = {ranks, std::min(facts.devices, std::ceil(cores / spec.device.cores)), Watts(0)};
  facts.host = load_host_power(spec.instance_name(), "neuron", spec.instance_count());
  return facts;
}

MemoryPlace place_of(const NeuronSystemSpec& spec) {
  MemoryPlace place;
  place.system = spec.id;
  place.devices = spec.devices;
  place.parts = spec.device.cores;
  place.capacity = spec.smallest_memory();
  place.degrees = allowed_group_sizes(spec);
  const auto price = spec.price_usd_per_hour.find(kOnDemand);
  place.size = price != spec.price_usd_per_hour.end()
                   ? price->second
                   : std::numeric_limits<double>::infinity();  // dearer than any known
  return place;
}

// An input with channels, height and width; a mask has one row for all queries and heads.
bool reads_images(const Graph& graph) {
  constexpr std::size_t kImageAxes = 4;
  const std::vector<TensorId> inputs = graph.inputs();
  return std::any_of(inputs.begin(), inputs.end(), [&graph](TensorId input) {
    const Shape& shape = graph.tensor(input).shape;
    return shape.size() == kImageAxes && shape[2] > 1;
  });
}

class NeuronDevice final : public ResolvedDevice {
 public:
  explicit NeuronDevice(const Request& request)
      : resolved_(foretell::resolve(request)),
        decode_factors_(resolved_.system.factors),
        costs_(resolved_.system.spec, resolved_.system.factors, group()),
        lengths_(resolved_, host().smallest_bucket) {
    decode_factors_.dma_rate_fraction = factors().decode_dma_rate_fraction;
  }

  const ResolvedWorkload& workload() const override { return resolved_; }

  SystemFacts facts() const override {
    SystemFacts facts = facts_of(resolved_.system, resolved_.system.factors_id);
    facts.machine = neuron_machine(resolved_.system, resolved_.precision.matmul_compute);
    facts.energy = energy_of(resolved_);
    return facts;
  }

  Metrics call(const Graph& graph, Phase phase) override {
    NeuronCall call = call_of(graph, phase);
    call.costs = &costs_;
    return run_neuron_call(call).metrics;
  }

  // Every layer of one rank is executed.
  ShownCall show(const Graph& graph, Phase phase) const override {
    NeuronCall call = call_of(graph, phase);
    if (phase != Phase::kForward) call.exact = false;
    call.for_timeline = true;
    NeuronCallResult result = run_neuron_call(call);
    result.shown.power =
        entry_power(*result.program, result.execution, energy_of(resolved_).energy);
    return {*result.program, std::move(result.execution), std::move(result.shown), {}};
  }

  MemoryUse memory_of(const Graph& graph) const override { return memory_of_core(graph, host()); }

  MemoryRules memory_rules() const override {
    MemoryRules rules;
    rules.part = fmt::format("{} cores of one device of {}", cores_per_device(), spec().id);
    rules.needs_plural = true;
    rules.runtime = host().runtime_memory;
    if (request().input_len == 0) return rules;
    const std::int64_t kv_len = compiled_length(cached_positions(resolved_));
    rules.prefill = prefill_pass(*this);
    // The rows of a prompt's own call may be more than a step reads.
    const bool encodes = rules.prefill.encoder_len > 0;
    rules.prefill.kv_len = encodes ? kv_len : std::max(kv_len, rules.prefill.tokens);
    rules.decode = decode_pass(*this, kv_len);
    // With a pipeline up to one batch per stage.
    const double per_copy = std::ceil(requests_in_flight(resolved_.serving) / resolved_.serving.dp);
    rules.batches = std::clamp(per_copy, 1.0, static_cast<double>(request().pp));
    return rules;
  }

  MemoryPlace place() const override { return place_of(spec()); }

  std::vector<MemoryPlace> other_places() const override {
    std::vector<MemoryPlace> places;
    const LoadOptions facts{machine_set(request()), "none"};
    const Catalog catalog;
    std::vector<std::string> several;
    const auto add = [&](const std::string& id, bool is_several) {
      try {
        const NeuronSystemSpec spec = load_calibrated(id, facts, catalog).spec;
        places.push_back(place_of(spec));
        places.back().is_several = is_several;
        if (is_several || spec.network_hop == Seconds(0)) return;
        for (const char* count : {"-x2", "-x4", "-x8"}) several.push_back(id + count);
      } catch (const UserError&) {
        return;  // an override that is not of this system
      }
    };
    for (const std::string& id : catalog.systems()) add(id, false);
    for (const std::string& id : several) add(id, true);
    return places;
  }

  bool compiles_lengths() const override { return true; }

  std::int64_t compiled_length(std::int64_t positions) const override {
    return lengths_.cache(positions);
  }

  std::int64_t compiled_prompt(std::int64_t tokens) const override {
    return lengths_.prompt(tokens);
  }

  void set_overheads(Generation& generation) const override {
    generation.block = spec().device.core.sbuf.partitions;
    // Launching a prefill costs the host; the steps after it are launched by the device.
    generation.prefill_overhead = factors().prefill_overhead > Seconds(0)
                                      ? factors().prefill_overhead
                                      : call_overhead(spec(), factors());
    generation.prefill_factor = sdk_prefill_time(factors(), request().sdk, request().batch);
    if (request().sampling != "host") return;
    // A step is a call: it is launched by the host, and the logits of all cores of the last stage
    // go to the host, which samples there.
    generation.step_overhead = call_overhead(spec(), factors());
    generation.afterwards = [this](const PipelinePass& pass) {
      return pass.output * ranks_of_stage(request()) / host().copy_rate;
    };
  }

  Pipeline stages(Phase phase) const override {
    Pipeline pipeline = ResolvedDevice::stages(phase);
    pipeline.stages_per_device = std::max(1, cores_per_device() / ranks_of_stage(request()));
    return pipeline;
  }

  Seconds handover(Bytes bytes) const override {
    const int ranks = ranks_of_stage(request());
    const int on_device = std::max(1, cores_per_device() / ranks);
    return handover_time(spec(), factors(), {std::max(1, request().pp), ranks, on_device}, bytes);
  }

 private:
  const Request& request() const { return resolved_.request; }
  const NeuronSystemSpec& spec() const { return resolved_.system.spec; }
  const NeuronFactors& factors() const { return resolved_.system.factors; }
  const HostSpec& host() const { return spec().device.host; }

  int cores_per_device() const {
    return used_parts(place(), ranks_of_stage(request()), request().dp * request().pp);
  }

  // Copies that are trained sum their gradients: they work in lock step, like the cores of one copy
  // elsewhere.
  int group() const { return trains(request()) ? request().dp : ranks_of_stage(request()); }

  NeuronCall call_of(const Graph& graph, Phase phase) const {
    const bool decodes = phase == Phase::kDecode;
    NeuronCall call{graph, resolved_.precision, spec(), decodes ? decode_factors_ : factors()};
    call.copies_per_device = cores_per_device();
    call.tensor_parallel = group();
    // The overlay of compiler maturity was seen on encoders; generation has one of its own.
    if (phase == Phase::kForward) {
      call.sdk_engine_time = sdk_engine_time(factors(), request().sdk);
      call.sdk_call_time = sdk_call_time(factors(), request().sdk, reads_images(graph));
    }
    if (decodes) call.window_share = factors().decode_window_fraction;
    call.operator_loops = phase == Phase::kPrefill && has_operator_loops();
    call.exact = request().exact;
    return call;
  }

  // The newest release, which is taken where none is stated, has none.
  bool has_operator_loops() const {
    const std::string& until = spec().device.core.scheduling.operator_loops_until;
    if (until.empty() || request().sdk.empty()) return false;
    return sdk_is_covered({{until, 1}}, request().sdk);
  }

  ResolvedRequest resolved_;
  NeuronFactors decode_factors_;
  CollectiveCosts costs_;  // prefill and decode have many in common
  CompiledLengths lengths_;
};

class NeuronFamily final : public DeviceFamily {
 public:
  std::string_view name() const override { return "neuron"; }
  std::string_view recognised_by() const override { return "one of NeuronCores has a 'topology'"; }
  std::vector<std::string> systems() const override { return Catalog().systems(); }
  std::vector<std::string> devices() const override { return Catalog().devices(); }

  bool has_system(std::string_view id) const override {
    if (is_file_name(id)) return is_system_file(id, SystemFileKind::kNeuron);
    return Catalog().has_system(id);
  }

  std::string find_system(std::string_view id) const override { return Catalog().find_system(id); }
  bool fixes_shapes() const override { return true; }

  SystemSheet sheet(const Request& request) const override {
    const CalibratedSystem system = load(request);
    const NeuronSystemSpec& spec = system.spec;
    SystemSheet sheet;
    sheet.facts = facts_of(system, system.factors_id);
    const std::string instances =
        spec.instance_count() > 1 ? fmt::format("{} instances of ", spec.instance_count()) : "";
    sheet.heading =
        fmt::format("{}: {}{} x {}, factors {} ({}), assumed values: {}", system.spec_id, instances,
                    spec.devices_of_instance(), spec.device.name, system.factors_id,
                    system.factors_status, system.assumed_values);
    if (!system.note.empty()) sheet.heading += "\n" + system.note;
    sheet.name = spec.device.name;
    sheet.devices = spec.devices;
    sheet.parts = spec.devices * spec.device.cores;
    sheet.memory = spec.devices * spec.device.hbm.capacity;
    sheet.vcpus = spec.vcpus;
    sheet.limits = limits_of(spec.device);
    sheet.limits.ranks = 1;  // exchanges in rounds are programs of GPUs
    RunSettings settings;
    settings.sdk_engine_time = sdk_engine_time(system.factors, request.sdk);
    settings.sdk_call_time = sdk_call_time(system.factors, request.sdk, false);
    sheet.execute = [system, settings](const Program& program) {
      return foretell::simulate(system.spec, system.factors, settings, program);
    };
    sheet.device_memory = spec.device.hbm.capacity;
    sheet.memory_rate = spec.device.hbm.bandwidth;
    return sheet;
  }

  // The compiler knows no control flow: the host decides, and every part is a call of its own,
  // which pays for itself (factors.call_overhead).
  Seconds branch_time(const Request& request) const override {
    return load(request).spec.device.host.branch_time;
  }

  std::int64_t smallest_bucket(const Request& request) const override {
    return load(request).spec.device.host.smallest_bucket;
  }

  // Those of every network on it.
  std::vector<Parameter> parameters(const Request& request) const override {
    return load(request).parameters;
  }

  std::vector<ImprovedPart> improved_parts(const Request& request) const override {
    std::vector<ImprovedPart> parts = {{"core.tensor.clock", "tensor engine clock", 2},
                                       {"core.vector.clock", "vector engine clock", 2},
                                       {"core.scalar.clock", "scalar engine clock", 2},
                                       {"core.gpsimd.clock", "GpSimd engine clock", 2},
                                       {"core.dma.engine_rate", "DMA engine rate", 2},
                                       {"device.hbm.bandwidth", "HBM bandwidth", 2},
                                       {"factors.semaphore_latency", "semaphore latency", 0.5},
                                       {"factors.call_overhead", "call overhead", 0.5}};
    if (request.input_len > 0)
      parts.push_back({"factors.prefill_overhead", "host time of a prompt", 0.5});
    if (ranks_of_stage(request) > 1 || trains(request)) {
      parts.push_back({"link.hop_latency", "hop latency of collectives", 0.5});
      parts.push_back({"device.collective.rate", "rate of collectives", 2});
    }
    return parts;
  }

 private:
  std::unique_ptr<ResolvedDevice> make_device(const Request& request) const override {
    return std::make_unique<NeuronDevice>(request);
  }
};

}  // namespace

const DeviceFamily& neuron_family() {
  static const NeuronFamily kFamily;
  return kFamily;
}

}  // namespace foretell

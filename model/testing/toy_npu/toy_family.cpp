#include "model/testing/toy_npu/toy_family.hpp"

#include "model/base/errors.hpp"
#include "model/predict/calls/memory_use.hpp"
#include "model/predict/program_metrics.hpp"
#include "model/system/critical_path.hpp"
#include "model/testing/toy_npu/components/toy_npu.hpp"
#include "model/testing/toy_npu/mapping/map_to_toy.hpp"

namespace foretell {
namespace {

SystemFacts facts_of(const LoadedToyNpu& system) {
  SystemFacts facts;
  facts.system = facts.device = system.spec.id;
  facts.factors = "none";
  facts.parameters = system.parameters;
  return facts;
}

class ToyDevice final : public ResolvedDevice {
 public:
  explicit ToyDevice(const Request& request)
      : system_(load_toy_npu(request.system, split_machine_set(request).system)) {
    resolve_workload(request, "bf16", resolved_);
    resolved_.request.system = system_.spec.id;
    share_parts({"NPU", 1}, 1, resolved_);
  }

  const ResolvedWorkload& workload() const override { return resolved_; }
  SystemFacts facts() const override { return facts_of(system_); }

  Metrics call(const Graph& graph, Phase /*phase*/) override {
    const ToyMapping mapping = map_to_toy(graph, system_.spec);
    const Execution execution = simulate_toy(system_.spec, mapping.program);
    Metrics metrics;
    metrics.call = metrics.device = to_seconds(execution.end);
    metrics.instructions = execution.instructions;
    metrics.hbm_read = Bytes(static_cast<double>(execution.hbm_read));
    const ProgramExecution& ran = execution.cores.front();
    metrics.bottleneck = to_string(largest(critical_path(mapping.program, ran).total));
    metrics.operators = operators_of(mapping.program, ran);
    for (std::size_t o = 0; o < metrics.operators.size(); ++o) {
      const FusedOp& fused = mapping.ops[o];
      metrics.operators[o].op = graph.op(fused.main).kind;
      for (const OpId id : fused.ops) metrics.operators[o].flops += graph.flops(id);
    }
    for (const ModuleActivity& module : execution.modules) {
      metrics.resources.push_back({module.path, module.busy / metrics.device,
                                   module.stalled / metrics.device, Bytes(module.bytes)});
    }
    return metrics;
  }

  ShownCall show(const Graph& graph, Phase /*phase*/) const override {
    ShownCall shown;
    shown.program = map_to_toy(graph, system_.spec).program;
    shown.execution = simulate_toy(system_.spec, shown.program);
    return shown;
  }

  MemoryUse memory_of(const Graph& graph) const override {
    return memory_of_core(graph, HostSpec{});
  }

  MemoryRules memory_rules() const override {
    MemoryRules rules;
    rules.part = system_.spec.id;
    rules.prefill = prefill_pass(*this);
    rules.decode = decode_pass(*this, cached_positions(resolved_));
    return rules;
  }

  MemoryPlace place() const override {
    MemoryPlace place;
    place.system = system_.spec.id;
    place.capacity = system_.spec.hbm.capacity;
    return place;
  }

 private:
  LoadedToyNpu system_;
  ResolvedWorkload resolved_;
};

class ToyFamily final : public DeviceFamily {
 public:
  std::string_view name() const override { return "toy"; }
  std::string_view recognised_by() const override { return "a toy has an 'npu_array'"; }
  std::vector<std::string> systems() const override { return toy_systems(); }
  std::vector<std::string> devices() const override { return toy_systems(); }
  bool has_system(std::string_view id) const override { return is_toy_system(id); }
  std::string find_system(std::string_view id) const override { return std::string(id); }

  SystemSheet sheet(const Request& request) const override {
    const LoadedToyNpu system = load_toy_npu(request.system, split_machine_set(request).system);
    SystemSheet sheet;
    sheet.facts = facts_of(system);
    sheet.heading = system.spec.id + ": a toy";
    sheet.name = "toy NPU";
    sheet.devices = sheet.parts = 1;
    sheet.memory = sheet.device_memory = system.spec.hbm.capacity;
    sheet.limits = toy_limits(system.spec);
    sheet.execute = [spec = system.spec](const Program& program) {
      return simulate_toy(spec, program);
    };
    sheet.memory_rate = system.spec.hbm.bandwidth;
    return sheet;
  }

  Seconds branch_time(const Request& /*request*/) const override { return Seconds(1e-6); }

  std::vector<ImprovedPart> improved_parts(const Request& /*request*/) const override {
    return {{"device.npu_array.clock", "clock of the array", 2},
            {"device.hbm.bandwidth", "HBM bandwidth", 2}};
  }

 private:
  std::unique_ptr<ResolvedDevice> make_device(const Request& request) const override {
    return std::make_unique<ToyDevice>(request);
  }
};

}  // namespace

const DeviceFamily& toy_family() {
  static const ToyFamily kFamily;
  return kFamily;
}

}  // namespace foretell

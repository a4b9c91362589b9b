#include "model/app/request/program_run.hpp"

#include <algorithm>
#include <foretell/version.hpp>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/neuron/sdk_version.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/device_family.hpp"
#include "model/app/request/make_record.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/request/trace_file.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/predict/call_metrics.hpp"
#include "model/program/file/program_file.hpp"
#include "model/system/critical_path.hpp"
#include "model/system/kernel_trace.hpp"
#include "model/system/simulate.hpp"
#include "reports/record/hardware_change.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxParameter = std::int64_t{1} << 50;

std::map<std::string, std::int64_t> parse_parameters(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> parameters;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError("--parameter: '" + text + "' is not understood; write NAME=NUMBER");
    }
    const std::string name = text.substr(0, equals);
    parameters[name] =
        parse_count("--parameter " + name, text.substr(equals + 1), 0, kMaxParameter);
  }
  return parameters;
}

// A machine that ran a program, and what a record says of it.
struct ProgramOutcome {
  Program program;
  Execution execution;
  std::string system;
  std::string factors;
  int assumed_values = 0;
  Prices prices;
  Bytes memory_capacity;
  std::string bottleneck;
};

RunContext context_of(const ProgramRequest& request, const ProgramOutcome& outcome) {
  RunContext context;
  context.version = kVersion;
  context.commit = kCommit;
  context.system = outcome.system;
  context.workload = outcome.program.name;
  context.dtype = "program";
  context.scenario.batch = 1;
  context.scenario.dp = 1;
  context.scenario.cores = 1;
  context.scenario.sdk = request.sdk;
  context.set = request.set;
  context.factors = outcome.factors;
  context.assumed_values = outcome.assumed_values;
  if (!request.parameters.empty()) {
    context.notes.push_back("parameters of the program: " + join(request.parameters, ", "));
  }
  return context;
}

// The highest address that a transfer touches.
double memory_of(const Program& program) {
  std::uint64_t end = 0;
  for (const Transfer& transfer : program.transfers()) {
    if (transfer.direction == TransferDirection::kOnChip) continue;
    end = std::max(end, transfer.hbm_address + transfer.bytes());
  }
  return static_cast<double>(end);
}

std::vector<ResourceRecord> resources_of(const Execution& execution) {
  const Seconds whole = to_seconds(std::max<Ticks>(1, execution.end - execution.call_begin));
  const auto share = [whole](Seconds time) { return std::clamp(time / whole, 0.0, 1.0); };
  std::vector<ResourceRecord> resources;
  for (const ModuleActivity& module : execution.modules) {
    const double busy = share(module.busy);
    resources.push_back(
        {module.path, busy, std::min(1 - busy, share(module.stalled)), module.bytes});
  }
  return resources;
}

ResourceRecord hbm_of(const Execution& execution, const HbmSpec& hbm) {
  const Seconds whole = to_seconds(std::max<Ticks>(1, execution.end - execution.call_begin));
  const Bytes moved(static_cast<double>(execution.hbm_read + execution.hbm_written));
  return {"chip0.hbm", std::clamp(moved / hbm.bandwidth / whole, 0.0, 1.0), 0, moved.value()};
}

ProgramFileOptions file_options(const ProgramRequest& request) {
  ProgramFileOptions options;
  options.parameters = parse_parameters(request.parameters);
  return options;
}

// What grids and loops are bound by: the host where they wait for it most of the time, else the
// part of the device that they keep busy longest.
std::string bound_of(const ProgramOutcome& outcome) {
  const ProgramExecution& ran = outcome.execution.cores.front();
  UnitTimes busy;
  for (const OperatorActivity& op : ran.operators) busy += op.busy;
  Ticks waited = 0;
  for (std::size_t s = 0; s < ran.stalled.size(); ++s) {
    const StreamKind kind = outcome.program.streams[s].kind();
    if (kind == StreamKind::kGrids || kind == StreamKind::kLoops) waited += ran.stalled[s];
  }
  if (waited > outcome.execution.end / 2) return "host that launches";
  return std::string(to_string(busy.longest()));
}

void refuse_neuron_options(const ProgramRequest& request) {
  if (!request.sdk.empty()) throw UserError("--sdk is about NeuronCores; leave it out");
  if (!request.factors.empty() && request.factors != "none") {
    throw UserError("--factors: a program of grids or loops states its times itself; leave it out");
  }
}

ProgramOutcome run_on_neuron(const ProgramRequest& request, RunRecord& record) {
  LoadOptions options;
  options.set = request.set;
  options.factors = request.factors;
  const LoadedSystem system = Catalog().load(request.system, options);
  ProgramFileOptions of_file = file_options(request);
  of_file.limits = limits_of(system.spec.device);
  ProgramOutcome outcome;
  outcome.program = load_program(request.file, of_file);
  RunSettings settings;
  settings.sdk_engine_time = sdk_engine_time(system.factors, request.sdk);
  outcome.execution = simulate(system.spec, system.factors, settings, outcome.program);
  TraceDetails details;
  details.memory_peak = system.spec.device.hbm.bandwidth;
  write_trace_file(request.trace_file, {{"", outcome.program, outcome.execution, details}});
  outcome.system = system.spec.id;
  outcome.factors = system.factors_id;
  outcome.assumed_values = system.assumed_values;
  outcome.prices = system.spec.price_usd_per_hour;
  outcome.memory_capacity = system.spec.device.hbm.capacity;
  outcome.bottleneck =
      to_string(largest(critical_path(outcome.program, outcome.execution.cores.front()).total));
  record.resources = resources_of(outcome.execution);
  record.resources.push_back(hbm_of(outcome.execution, system.spec.device.hbm));
  return outcome;
}

void write_kernels(const ProgramRequest& request, const ProgramOutcome& outcome,
                   const KernelTraceWords& words) {
  if (request.trace_file.empty()) return;
  const std::vector<KernelRun> runs = kernel_runs(outcome.program, outcome.execution.cores.front());
  write_kernel_trace_file(request.trace_file, words, {{"", runs}});
}

ProgramOutcome run_on_gpu(const ProgramRequest& request, RunRecord& record) {
  refuse_neuron_options(request);
  const LoadedGpuSystem system = GpuCatalog().load(request.system, request.set);
  ProgramOutcome outcome;
  outcome.program = load_program(request.file, file_options(request));
  outcome.execution = simulate(GpuMachine{system.spec.device}, outcome.program);
  write_kernels(request, outcome, {system.spec.device.name, "launch"});
  outcome.system = system.spec.id;
  outcome.factors = "none";
  outcome.assumed_values = system.assumed_values;
  outcome.prices = system.spec.price_usd_per_hour;
  outcome.memory_capacity = system.spec.device.hbm.capacity;
  outcome.bottleneck = bound_of(outcome);
  record.resources = resources_of(outcome.execution);
  return outcome;
}

ProgramOutcome run_on_cpu(const ProgramRequest& request, RunRecord& record) {
  refuse_neuron_options(request);
  const LoadedCpuSystem system = CpuCatalog().load(request.system, request.set);
  ProgramFileOptions of_file = file_options(request);
  of_file.limits.threads = system.spec.cores;
  ProgramOutcome outcome;
  outcome.program = load_program(request.file, of_file);
  outcome.execution = simulate(CpuMachine{system.spec}, outcome.program);
  write_kernels(request, outcome, {system.spec.device.name, "call"});
  outcome.system = system.spec.id;
  outcome.factors = "none";
  outcome.assumed_values = system.assumed_values;
  outcome.prices = system.spec.price_usd_per_hour;
  outcome.memory_capacity = system.spec.memory;
  outcome.bottleneck = bound_of(outcome);
  record.resources = resources_of(outcome.execution);
  return outcome;
}

}  // namespace

RunRecord run_program(const ProgramRequest& request) {
  RunRecord record;
  const DeviceFamily* const family = &family_of(request.system);
  const ProgramOutcome outcome = family == &neuron_family() ? run_on_neuron(request, record)
                                 : family == &gpu_family()  ? run_on_gpu(request, record)
                                                            : run_on_cpu(request, record);
  const Execution& execution = outcome.execution;
  record.context = context_of(request, outcome);
  if (execution.call_begin > 0) {
    const double device_s = to_seconds(execution.end - execution.call_begin).value();
    record.context.notes.push_back("on the device: " + si_format(device_s, "s") +
                                   "; the rest of the call is the host's overhead");
  }
  RunSummary& summary = record.summary;
  summary.call_s = to_seconds(execution.end).value();
  summary.latency_s = summary.call_s;
  summary.throughput = summary.call_s > 0 ? 1 / summary.call_s : 0;
  summary.throughput_unit = "calls/s";
  set_costs(prices_as_set(outcome.prices, request.set), summary);
  summary.memory_used_bytes = memory_of(outcome.program);
  summary.memory_capacity_bytes = outcome.memory_capacity.value();
  summary.bottleneck = outcome.bottleneck;
  check_record(record);
  return record;
}

}  // namespace foretell

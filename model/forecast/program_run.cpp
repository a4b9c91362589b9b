#include "model/forecast/program_run.hpp"

#include <algorithm>
#include <foretell/version.hpp>

#include "hw/spec/catalog.hpp"
#include "hw/spec/sdk_version.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/forecast/device_family.hpp"
#include "model/forecast/make_record.hpp"
#include "model/forecast/request_fields.hpp"
#include "model/forecast/trace_file.hpp"
#include "model/program_file/program_file.hpp"
#include "model/system/critical_path.hpp"
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

RunContext context_of(const ProgramRequest& request, const LoadedSystem& system,
                      const Program& program) {
  RunContext context;
  context.version = kVersion;
  context.commit = kCommit;
  context.system = system.spec.id;
  context.workload = program.name;
  context.dtype = "program";
  context.scenario.batch = 1;
  context.scenario.dp = 1;
  context.scenario.cores = 1;
  context.scenario.sdk = request.sdk;
  context.set = request.set;
  context.factors = system.factors_id;
  context.assumed_values = system.assumed_values;
  if (!request.parameters.empty()) {
    context.notes.push_back("parameters of the program: " + join(request.parameters, ", "));
  }
  return context;
}

// The highest address that a transfer touches.
double memory_of(const Program& program) {
  std::uint64_t end = 0;
  for (const DmaRing& ring : program.rings) {
    for (const Transfer& transfer : ring.transfers) {
      if (transfer.direction == TransferDirection::kOnChip) continue;
      end = std::max(end, transfer.hbm_address + transfer.bytes());
    }
  }
  return static_cast<double>(end);
}

std::vector<ResourceRecord> resources_of(const ChipExecution& execution, const HbmSpec& hbm) {
  const CoreExecution& core = execution.cores.front();
  const auto total = static_cast<double>(std::max<Ticks>(1, execution.end - execution.call_begin));
  const auto share = [total](Ticks time) {
    return std::clamp(static_cast<double>(time) / total, 0.0, 1.0);
  };
  std::vector<ResourceRecord> resources;
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    if (core.engines[e].empty()) continue;
    const double busy = share(core.busy[e]);
    resources.push_back({"chip0.core0." + std::string(to_string(static_cast<Engine>(e))), busy,
                         std::min(1 - busy, share(core.stalled[e])), 0});
  }
  resources.push_back({"chip0.core0.dma", share(core.dma_busy), 0,
                       static_cast<double>(core.loaded_bytes + core.stored_bytes)});
  const Bytes moved(static_cast<double>(execution.hbm_read + execution.hbm_written));
  const Seconds busy = moved / hbm.bandwidth;
  resources.push_back({"chip0.hbm", std::clamp(busy.value() * kTicksPerSecond / total, 0.0, 1.0), 0,
                       moved.value()});
  return resources;
}

}  // namespace

RunRecord run_program(const ProgramRequest& request) {
  if (&family_of(request.system) != &neuron_family()) {
    throw UserError(request.system + ": programs are written for NeuronCores; name one of " +
                    join(neuron_family().systems(), ", "));
  }
  LoadOptions options;
  options.set = request.set;
  options.factors = request.factors;
  const LoadedSystem system = Catalog().load(request.system, options);
  ProgramFileOptions file_options;
  file_options.parameters = parse_parameters(request.parameters);
  file_options.limits = limits_of(system.spec.device);
  const Program program = load_program(request.file, file_options);
  RunSettings settings;
  settings.sdk_engine_time = sdk_engine_time(system.factors, request.sdk);
  const ChipExecution execution = simulate(system.spec, system.factors, settings, program);
  TraceDetails details;
  details.memory_peak = system.spec.device.hbm.bandwidth;
  write_trace_file(request.trace_file, {{"", program, execution, details}});

  RunRecord record;
  record.context = context_of(request, system, program);
  const double device_s = to_seconds(execution.end - execution.call_begin).value();
  record.context.notes.push_back("on the device: " + si_format(device_s, "s") +
                                 "; the rest of the call is the host's overhead");
  RunSummary& summary = record.summary;
  summary.call_s = to_seconds(execution.end).value();
  summary.latency_s = summary.call_s;
  summary.throughput = summary.call_s > 0 ? 1 / summary.call_s : 0;
  summary.throughput_unit = "calls/s";
  set_costs(prices_as_set(system.spec.price_usd_per_hour, request.set), summary);
  summary.memory_used_bytes = memory_of(program);
  summary.memory_capacity_bytes = system.spec.device.hbm.capacity.value();
  summary.bottleneck = to_string(largest(critical_path(program, execution.cores.front()).total));
  record.resources = resources_of(execution, system.spec.device.hbm);
  check_record(record);
  return record;
}

}  // namespace foretell

#include "model/app/request/program_run.hpp"

#include <algorithm>
#include <foretell/version.hpp>

#include "model/app/request/family/device_family.hpp"
#include "model/app/request/record/make_record.hpp"
#include "model/app/request/resolve/refuse_option.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/request/trace_file.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/predict/call_metrics.hpp"
#include "model/predict/program_metrics.hpp"
#include "model/program/file/program_file.hpp"
#include "model/system/critical_path.hpp"
#include "reports/record/hardware_change.hpp"
#include "reports/render/si_format.hpp"
#include "workloads/import/workload_set.hpp"

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

// Grids and loops are written with the times of their parts.
bool states_times(const Program& program) {
  const bool exchanges =
      !program.collectives().empty() && program.collectives()[0].exchange.ranks > 0;
  return exchanges ||
         std::any_of(program.streams.begin(), program.streams.end(), [](const Stream& stream) {
           return stream.kind() == StreamKind::kGrids || stream.kind() == StreamKind::kLoops;
         });
}

RunContext context_of(const ProgramRequest& asked, const SystemFacts& facts,
                      const Program& program) {
  RunContext context;
  context.version = kVersion;
  context.commit = kCommit;
  context.system = facts.system;
  context.workload = program.name;
  context.dtype = "program";
  context.scenario.batch = 1;
  context.scenario.dp = 1;
  context.scenario.cores = 1;
  context.scenario.sdk = asked.request.sdk;
  context.set = asked.request.set;
  context.factors = states_times(program) ? "none" : facts.factors;
  context.assumed_values = facts.assumed_values;
  if (!asked.parameters.empty()) {
    context.notes.push_back("parameters of the program: " + join(asked.parameters, ", "));
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

ResourceRecord hbm_of(const Execution& execution, BytesPerSecond rate) {
  const Seconds whole = to_seconds(std::max<Ticks>(1, execution.end - execution.call_begin));
  const Bytes moved(static_cast<double>(execution.hbm_read + execution.hbm_written));
  return {"chip0.hbm", std::clamp(moved / rate / whole, 0.0, 1.0), 0, moved.value()};
}

// What bounds a program: where it states its times itself, the host if it waits for it most of the
// time, else the part of the device that it keeps busy longest.
std::string bound_of(const Program& program, const Execution& execution) {
  const ProgramExecution& ran = execution.cores.front();
  if (!states_times(program))
    return std::string(to_string(largest(critical_path(program, ran).total)));
  UnitTimes busy;
  for (const OperatorActivity& op : ran.operators) busy += op.busy;
  Ticks waited = 0;
  for (std::size_t s = 0; s < ran.stalled.size(); ++s) {
    const StreamKind kind = program.streams[s].kind();
    if (kind == StreamKind::kGrids || kind == StreamKind::kLoops) waited += ran.stalled[s];
  }
  if (waited > execution.end / 2) return "host that launches";
  return std::string(to_string(busy.longest()));
}

void check_options(const ProgramRequest& asked, const DeviceFamily& family) {
  refuse_fields(asked.request, family.name());
  for (const std::string& assignment : asked.request.set) {
    if (is_workload_setting(assignment))
      throw UserError("--set " + assignment + ": a program has no network; leave it out");
  }
}

// A program of grids or loops has no factors to read.
void check_factors(const ProgramRequest& asked, const Program& program) {
  const std::string& factors = asked.request.factors;
  if (!states_times(program) || factors.empty() || factors == "none") return;
  throw UserError("--factors: a program of grids or loops states its times itself; leave it out");
}

void write_timeline(const std::string& path, const SystemSheet& sheet, const Program& program,
                    const Execution& execution) {
  if (path.empty()) return;
  ShownCall call{program, execution, {}, {}};
  call.details.memory_peak = sheet.memory_rate;
  if (!sheet.words.device.empty()) call.kernels = kernel_runs(program, execution.cores.front());
  write_shown(path, sheet.words, {{"", &call}});
}

}  // namespace

RunRecord run_program(const ProgramRequest& asked) {
  const DeviceFamily& family = family_of(asked.request.system);
  check_options(asked, family);
  const SystemSheet sheet = family.sheet(asked.request);
  ProgramFileOptions options;
  options.parameters = parse_parameters(asked.parameters);
  options.limits = sheet.limits;
  options.stated = sheet.stated;
  const Program program = load_program(asked.file, options);
  check_factors(asked, program);
  const Execution execution = sheet.execute(program);
  write_timeline(asked.request.trace_file, sheet, program, execution);
  RunRecord record;
  record.context = context_of(asked, sheet.facts, program);
  if (execution.call_begin > 0) {
    const double device_s = to_seconds(execution.end - execution.call_begin).value();
    record.context.notes.push_back("on the device: " + si_format(device_s, "s") +
                                   "; the rest of the call is the host's overhead");
  }
  record.resources = resources_of(execution);
  if (sheet.memory_rate > BytesPerSecond(0))
    record.resources.push_back(hbm_of(execution, sheet.memory_rate));
  for (const OperatorMetrics& op : operators_of(program, execution.cores.front())) {
    record.operators.push_back({op.name, op.op, op.engine, op.start.value(), op.duration.value(), 0,
                                op.bytes.value(), op.critical, "", 0, 0});
  }
  RunSummary& summary = record.summary;
  CallFigures figures;
  figures.call = to_seconds(execution.end);
  figures.latency = figures.call;
  if (figures.call > Seconds(0)) figures.throughput = PerSecond(1 / figures.call.value());
  set_costs(prices_as_set(sheet.facts.prices, changing(asked.request, sheet.facts.parameters)),
            figures);
  figures.memory_used = Bytes(memory_of(program));
  figures.memory_capacity = sheet.device_memory;
  put_figures(figures, summary);
  summary.throughput_unit = "calls/s";
  summary.bottleneck = bound_of(program, execution);
  check_record(record);
  return record;
}

}  // namespace foretell

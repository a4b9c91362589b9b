#include "model/predict/calls/cpu_call.hpp"

#include <utility>

#include "model/mapping/cpu/map_graph.hpp"
#include "model/predict/call_metrics.hpp"
#include "model/predict/calls/kernel_dependencies.hpp"
#include "model/program/device_streams.hpp"
#include "model/system/machine.hpp"

namespace foretell {

CpuCallResult run_cpu_call(const CpuCall& call) {
  const CpuTiming timing(call.system, call.factors, call.threads);
  const std::vector<MappedCpuOp> ops = map_to_cpu({call.graph, call.precision, timing});
  ProgramBuilder builder("call", cpu_streams());
  std::vector<OperatorMetrics> operators;
  std::vector<std::size_t> counts;
  for (const MappedCpuOp& op : ops) {
    const Op& main = call.graph.op(op.main);
    builder.begin_operator(main.name);
    for (Loop loop : op.loops) {
      loop.unit = op.engine;
      builder.emit_to(kLoopStream, std::move(loop), {});
    }
    counts.push_back(op.loops.size());
    OperatorMetrics& metrics = operators.emplace_back();
    metrics.name = main.name;
    metrics.op = main.kind;
    metrics.engine = op.engine;
    metrics.flops = op.flops;
  }
  const Program program = std::move(builder).finish();
  const Execution execution = simulate(CpuMachine{call.system, call.exact}, program);
  CpuCallResult result;
  result.metrics = metrics_of_call(program, execution, std::move(operators));
  result.metrics.memory_capacity = call.system.memory;
  result.loops = kernel_runs(program, execution.cores.front());
  const auto& loops = program.entries<Loop>(kLoopStream);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    result.parts.push_back({loops[i].name, loops[i].op_class, result.loops[i].duration});
  }
  if (call.for_timeline) fill_dependencies(call.graph, counts, result.loops);
  return result;
}

}  // namespace foretell

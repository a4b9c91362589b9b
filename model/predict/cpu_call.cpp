#include "model/predict/cpu_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/mapping/cpu/map_graph.hpp"
#include "model/predict/distinct_times.hpp"
#include "model/predict/kernel_dependencies.hpp"
#include "model/system/cpu_run.hpp"

namespace foretell {
namespace {

// Everything that the time of a loop depends on.
std::string key_of(const CpuLoop& loop) {
  std::string key =
      fmt::format("{} {} {} {} {} {}", loop.threads, loop.overlap, loop.core_dram.value(),
                  loop.dram.value(), loop.call.value(), loop.fork_join.value());
  for (const CpuChunkRun& run : loop.chunks) {
    key += fmt::format(" {}x{}/{}/{}", run.count, run.compute.value(), run.feed.value(),
                       run.dram.value());
  }
  return key;
}

// The time of every loop of the operations, in order.
std::vector<Seconds> loop_times(const CpuCall& call, const std::vector<MappedCpuOp>& ops) {
  std::vector<CpuLoop> all;
  for (const MappedCpuOp& op : ops) {
    all.insert(all.end(), op.program.loops.begin(), op.program.loops.end());
  }
  return distinct_times(all, call.exact, key_of, [&](const std::vector<CpuLoop>& distinct) {
    std::vector<CpuProgram> programs;
    programs.reserve(distinct.size());
    for (const CpuLoop& loop : distinct) programs.push_back({{loop}});
    return simulate_cpu(call.system, programs);
  });
}

std::string longest(const std::map<std::string, Seconds>& times) {
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? "" : most->first;
}

class CpuCallRunner {
 public:
  explicit CpuCallRunner(const CpuCall& call) : call_(call) {}

  CpuCallResult run() {
    const CpuTiming timing(call_.system, call_.factors, call_.threads);
    const std::vector<MappedCpuOp> ops = map_to_cpu({call_.graph, call_.precision, timing});
    const std::vector<Seconds> times = loop_times(call_, ops);
    std::size_t next = 0;
    for (const MappedCpuOp& op : ops) {
      const Seconds start = end_;
      for (const CpuLoop& loop : op.program.loops) {
        const Seconds time = times[next++];
        result_.parts.push_back({loop.name, loop.op_class, time});
        KernelRun run{call_.graph.op(op.main).name, loop.name, op.engine, end_, time};
        run.launch = loop.call;
        for (const CpuChunkRun& chunks : loop.chunks)
          run.dram += static_cast<double>(chunks.count) * chunks.dram;
        result_.loops.push_back(std::move(run));
        end_ += time;
      }
      add_operator(op, start);
    }
    if (call_.for_timeline) {
      std::vector<std::size_t> counts;
      for (const MappedCpuOp& op : ops) counts.push_back(op.program.loops.size());
      fill_dependencies(call_.graph, counts, result_.loops);
    }
    fill(ops);
    return std::move(result_);
  }

 private:
  void add_operator(const MappedCpuOp& op, Seconds start) {
    const Op& main = call_.graph.op(op.main);
    OperatorMetrics metrics;
    metrics.name = main.name;
    metrics.op = main.kind;
    metrics.engine = op.engine;
    metrics.start = start;
    metrics.duration = end_ - start;
    metrics.flops = op.flops;
    metrics.bytes = op.dram;
    metrics.critical = longest(op.bounds);
    critical_[metrics.critical] += metrics.duration;
    result_.metrics.operators.push_back(std::move(metrics));
  }

  void fill(const std::vector<MappedCpuOp>& ops) {
    Metrics& metrics = result_.metrics;
    metrics.device = end_;
    metrics.call = end_;
    metrics.bottleneck = longest(critical_);
    metrics.instructions = result_.loops.size();
    metrics.memory_capacity = call_.system.memory;
    std::map<std::string, Seconds> busy;
    for (const MappedCpuOp& op : ops) {
      for (const auto& [name, time] : op.bounds) busy[name] += time;
      metrics.hbm_read += op.dram;
    }
    for (const auto& [name, time] : busy) {
      ResourceMetrics resource;
      resource.path = "cpu0." + name;
      std::replace(resource.path.begin(), resource.path.end(), ' ', '_');
      resource.busy = std::clamp(time / end_, 0.0, 1.0);
      if (name == "DRAM") resource.bytes = metrics.hbm_read;
      metrics.resources.push_back(std::move(resource));
    }
  }

  const CpuCall& call_;
  Seconds end_;
  std::map<std::string, Seconds> critical_;
  CpuCallResult result_;
};

}  // namespace

CpuCallResult run_cpu_call(const CpuCall& call) { return CpuCallRunner(call).run(); }

}  // namespace foretell

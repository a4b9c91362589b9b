#include "model/predict/gpu_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/mapping/gpu/map_graph.hpp"
#include "model/predict/distinct_times.hpp"
#include "model/predict/kernel_dependencies.hpp"
#include "model/system/gpu_run.hpp"

namespace foretell {
namespace {

// Everything that the time of a kernel depends on.
std::string kernel_key(const GpuKernel& kernel) {
  std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {}", kernel.ctas_per_sm,
                  kernel.memory_latency.value(), kernel.dram_bytes.value(),
                  kernel.dram_rate.value(), kernel.l2_bytes.value(), kernel.l2_rate.value(),
                  kernel.overlap, kernel.launch.value(), kernel.tail.value(), kernel.stretch);
  for (const CtaRun& run : kernel.ctas) {
    key += fmt::format(" {}x{}", run.count, run.duration.value());
  }
  for (const LinkRound& round : kernel.exchange.rounds) {
    key += fmt::format(" {}:{} {} {} {} {} {} {}", kernel.exchange.ranks, round.times,
                       round.latency.value(), round.local.value(), round.local_rate.value(),
                       round.peers, round.message.value(), round.link_rate.value());
  }
  return key;
}

// The time of every kernel of the operations, in order.
std::vector<Seconds> kernel_times(const GpuCall& call, const std::vector<MappedOp>& ops) {
  std::vector<GpuKernel> all;
  for (const MappedOp& op : ops) {
    all.insert(all.end(), op.program.kernels.begin(), op.program.kernels.end());
  }
  return distinct_times(all, call.exact, kernel_key, [&](const std::vector<GpuKernel>& distinct) {
    std::vector<GpuProgram> programs;
    programs.reserve(distinct.size());
    for (const GpuKernel& kernel : distinct) programs.push_back({{kernel}});
    return simulate_gpu(call.system.device, programs, call.exact);
  });
}

class CallRunner {
 public:
  explicit CallRunner(const GpuCall& call) : call_(call) {}

  GpuCallResult run() {
    GpuMapping mapping{call_.graph, call_.precision, call_.system, call_.factors};
    mapping.rotated_copies = call_.rotated_copies;
    mapping.heads_share_keys = call_.heads_share_keys;
    if (call_.sustained_clock) mapping.clock_share = call_.system.device.sustained_rate;
    const std::vector<MappedOp> ops = map_to_gpu(mapping);
    const std::vector<Seconds> times = kernel_times(call_, ops);
    std::size_t kernel = 0;
    for (const MappedOp& op : ops) {
      const Seconds start = end_;
      for (std::size_t i = 0; i < op.program.kernels.size(); ++i) {
        const GpuKernel& part = op.program.kernels[i];
        add_kernel(op, part, times[kernel]);
        // Equal kernels of a network take the same time, to the femtosecond.
        result_.parts.push_back({fmt::format("{} {}", op.kernel, times[kernel].value()),
                                 times[kernel], op.intervals80.at(i)});
        ++kernel;
      }
      add_operator(op, start);
    }
    if (call_.for_timeline) {
      std::vector<std::size_t> counts;
      for (const MappedOp& op : ops) counts.push_back(op.program.kernels.size());
      fill_dependencies(call_.graph, counts, result_.kernels);
    }
    fill(ops);
    return std::move(result_);
  }

 private:
  bool streams() const { return call_.launch == LaunchKind::kStream; }

  // A kernel begins when the one before has ended, and in a stream not before the host, which
  // launches one after the other, has come to it.
  void add_kernel(const MappedOp& op, const GpuKernel& kernel, Seconds time) {
    if (streams()) {
      issued_ += call_.system.device.stream_floor;
      if (issued_ > end_) {
        waited_ += issued_ - end_;
        end_ = issued_;
      }
    }
    KernelRun run{call_.graph.op(op.main).name, kernel.name, op.engine, end_, time};
    run.launch = kernel.stretch * kernel.launch;
    run.dram = kernel.dram_bytes;
    run.l2 = kernel.l2_bytes;
    run.link = sent_bytes(kernel.exchange);
    result_.kernels.push_back(std::move(run));
    end_ += time;
  }

  void add_operator(const MappedOp& op, Seconds start) {
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
    metrics.kernel = op.kernel;
    metrics.waves = op.waves;
    metrics.occupancy = op.occupancy;
    critical_[metrics.critical] += metrics.duration;
    std::vector<std::string>& notes = result_.notes;
    const bool is_known = std::find(notes.begin(), notes.end(), op.note) != notes.end();
    if (!op.note.empty() && !is_known) notes.push_back(op.note);
    result_.metrics.operators.push_back(std::move(metrics));
  }

  static std::string longest(const std::map<std::string, Seconds>& times) {
    const auto most =
        std::max_element(times.begin(), times.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == times.end() ? "" : most->first;
  }

  void fill(const std::vector<MappedOp>& ops) {
    Metrics& metrics = result_.metrics;
    metrics.device = end_;
    metrics.call = end_;
    if (waited_ > end_ / 2) critical_["host that launches"] = waited_;
    metrics.bottleneck = longest(critical_);
    metrics.instructions = result_.kernels.size();
    metrics.memory_capacity = call_.system.device.hbm.capacity;
    std::map<std::string, Seconds> busy;
    Bytes l2;
    Bytes link;
    for (const MappedOp& op : ops) {
      for (const auto& [name, time] : op.bounds) busy[name] += time;
      for (const GpuKernel& kernel : op.program.kernels) l2 += kernel.l2_bytes;
      metrics.hbm_read += op.dram;
      link += op.link;
    }
    const auto add = [&](const char* path, const char* bound, Bytes bytes) {
      ResourceMetrics resource;
      resource.path = std::string("gpu0.") + path;
      resource.busy = std::clamp(busy[bound] / end_, 0.0, 1.0);
      resource.bytes = bytes;
      metrics.resources.push_back(std::move(resource));
    };
    add("tensor", "tensor pipe", Bytes(0));
    add("vector", "vector pipe", Bytes(0));
    add("l2", "L2", l2);
    add("dram", "DRAM", metrics.hbm_read);
    busy["launch"] += waited_;
    add("launch", "launch", Bytes(0));
    add("link", "link", link);
  }

  const GpuCall& call_;
  Seconds end_;
  Seconds issued_;  // the host has launched so far
  Seconds waited_;  // for the host
  std::map<std::string, Seconds> critical_;
  GpuCallResult result_;
};

}  // namespace

GpuCallResult run_gpu_call(const GpuCall& call) { return CallRunner(call).run(); }

}  // namespace foretell

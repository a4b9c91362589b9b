#include "model/predict/calls/gpu_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/mapping/gpu/collective_kernels.hpp"
#include "model/mapping/gpu/map_graph.hpp"
#include "model/mapping/gpu/second_stream.hpp"
#include "model/predict/call_metrics.hpp"
#include "model/predict/calls/kernel_dependencies.hpp"
#include "model/program/device_streams.hpp"
#include "model/system/machine.hpp"
#include "workloads/ir/two_batches.hpp"

namespace foretell {
namespace {

// The same device at a share of its boost clock: SMs, pipes and L2 follow; memory, links and the
// host do not.
GpuDeviceSpec at_clock(const GpuDeviceSpec& device, double share) {
  GpuDeviceSpec slower = device;
  if (share == 1) return slower;
  slower.clock.boost = device.clock.boost * share;
  for (auto& [type, rate] : slower.matrix_rate) rate *= share;
  for (auto& [type, rate] : slower.vector_rate) rate *= share;
  return slower;
}

class CallRunner {
 public:
  explicit CallRunner(const GpuCall& call) : call_(call), fusion_(call.fusion) {
    fusion_.exchanges_beside = is_in_turns(call.graph);
    if (!fusion_.exchanges_beside)
      fusion_.beside = branches_beside(call.graph, call.factors.library(), call.launch);
  }

  GpuCallResult run() {
    const Program program = mapped();
    const std::vector<double>& clocks = call_.clocks;
    const double fastest = clocks.empty() ? 1 : *std::max_element(clocks.begin(), clocks.end());
    const GpuDeviceSpec device = at_clock(call_.system.device, fastest);
    const Execution execution = simulate(GpuMachine{device, call_.exact, call_.exact}, program);
    result_.metrics = metrics_of_call(program, execution, operators());
    result_.metrics.memory_capacity = call_.system.device.hbm.capacity;
    result_.kernels = kernel_runs(program, execution.cores.front());
    find_kernels(work_in_order(program, execution.cores.front()));
    fill_parts();
    note_streams();
    if (call_.for_timeline) fill_reads();
    return std::move(result_);
  }

 private:
  Program mapped() {
    const std::vector<double>& clocks = call_.clocks;
    if (clocks.empty()) {
      ops_ = mapped_at(1);
      return build();
    }
    std::map<double, std::vector<MappedOp>> known;  // by clock
    for (const double clock : clocks) {
      if (known.count(clock) == 0) known[clock] = mapped_at(clock);
    }
    ops_ = known.at(clocks.back());
    for (std::size_t i = 0; i < std::min(clocks.size(), ops_.size()); ++i) {
      std::vector<MappedOp>& ops = known.at(clocks[i]);
      FORETELL_CHECK(ops.size() == ops_.size(), "a mapping whose operations change with the clock");
      ops_[i] = ops[i];
    }
    return build();
  }

  std::vector<MappedOp> mapped_at(double clock) const {
    GpuSystemSpec system = call_.system;
    system.device = at_clock(call_.system.device, clock);
    GpuMapping mapping{call_, call_.graph, call_.precision, system, call_.factors};
    mapping.fusion = fusion_;
    if (call_.sustained_clock) mapping.clock_share = system.device.sustained_rate;
    return map_to_gpu(mapping);
  }

  // A kernel begins when the one before it in its stream has ended, and what it needs of the other
  // one; where the host launches one after the other, not before it has come to it.
  Program build() {
    const bool host = call_.launch == LaunchKind::kStream;
    ProgramBuilder builder("call", gpu_streams(host));
    HostCall launch;
    launch.name = "launch";
    std::array<Deps, 2> last;  // of the first stream and the one beside
    std::vector<Deps> ends;    // of each operation
    for (MappedOp& op : ops_) {
      builder.begin_operator(call_.graph.op(op.main).name);
      const bool beside = op.beside && !call_.one_stream;
      Deps before = last[beside ? 1 : 0];
      for (const std::size_t need : op.needs) before.merge(ends[need]);
      launch.time = call_.system.device.stream_floor * longer_launch(op);
      for (Grid& kernel : op.program.kernels) {
        if (host) before.merge(builder.emit_to(kGpuHost, launch, {}));
        kernel.unit = op.engine;
        const std::size_t grids = beside ? kBesideStream : kGridStream;
        const std::size_t stream = kernel.exchange.ranks > 0 ? kGpuCollectives : grids;
        places_.push_back(
            {static_cast<std::int32_t>(stream), builder.queue_length(static_cast<int>(stream))});
        before = emit_grid(builder, std::move(kernel), before, grids);
        launch.time = call_.system.device.stream_floor;
      }
      last[beside ? 1 : 0] = before;
      ends.push_back(before);
    }
    return std::move(builder).finish();
  }

  // The extra time of the first kernel of an operation, against any other: what its library does
  // for it on the host.
  double longer_launch(const MappedOp& op) const {
    const std::map<std::string, double>& longer = call_.factors.library().longer_launch;
    const auto found = longer.find(call_.graph.op(op.main).kind);
    return found == longer.end() ? 1 : found->second;
  }

  // Where the kernels of operations, in their order, are among those of the result.
  void find_kernels(const std::vector<EntryRef>& order) {
    std::map<std::pair<std::int32_t, std::uint32_t>, std::size_t> known;
    for (std::size_t i = 0; i < order.size(); ++i) known[{order[i].queue, order[i].index}] = i;
    for (const EntryRef place : places_) kernels_.push_back(known.at({place.queue, place.index}));
  }

  void fill_reads() {
    std::vector<std::size_t> counts;
    for (const MappedOp& op : ops_) counts.push_back(op.intervals80.size());
    std::vector<KernelRun> in_order(kernels_.size());
    fill_dependencies(call_.graph, counts, in_order, fusion_);
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      std::vector<std::size_t>& reads = result_.kernels[kernels_[k]].reads;
      for (const std::size_t source : in_order[k].reads) reads.push_back(kernels_[source]);
    }
  }

  void note_streams() {
    if (fusion_.exchanges_beside && !call_.one_stream) {
      result_.notes.emplace_back(
          "two halves of a batch take turns: one exchanges while the other computes");
    }
    if (fusion_.beside.empty() || call_.one_stream) return;
    std::vector<std::string> branches;
    for (const auto& [part, branch] : fusion_.beside) {
      if (branch != kSendsBranch) branches.push_back(branch);
    }
    if (branches.size() < fusion_.beside.size()) {
      result_.notes.emplace_back(
          "ring attention: keys and values go to the next GPU on a second stream, beside "
          "attention");
    }
    if (branches.empty()) return;
    result_.notes.push_back(fmt::format("{} runs {} on a second stream, beside the rest of a block",
                                        call_.factors.library().name, join(branches, " and ")));
  }

  std::vector<OperatorMetrics> operators() {
    std::vector<OperatorMetrics> operators;
    for (const MappedOp& op : ops_) {
      OperatorMetrics& metrics = operators.emplace_back();
      metrics.name = call_.graph.op(op.main).name;
      metrics.op = call_.graph.op(op.main).kind;
      metrics.engine = op.engine;
      metrics.flops = op.flops;
      metrics.kernel = op.kernel;
      metrics.waves = op.waves;
      metrics.occupancy = op.occupancy;
      std::vector<std::string>& notes = result_.notes;
      const bool is_known = std::find(notes.begin(), notes.end(), op.note) != notes.end();
      if (!op.note.empty() && !is_known) notes.push_back(op.note);
    }
    return operators;
  }

  // Equal kernels of a network take the same time, to the femtosecond.
  void fill_parts() {
    std::size_t next = 0;
    for (const MappedOp& op : ops_) {
      for (const auto& interval : op.intervals80) {
        const KernelRun& kernel = result_.kernels[kernels_[next++]];
        result_.parts.push_back(
            {fmt::format("{} {}", op.kernel, kernel.duration.value()), kernel.exposed, interval});
      }
    }
  }

  const GpuCall& call_;
  FusionRules fusion_;
  std::vector<MappedOp> ops_;
  std::vector<EntryRef> places_;      // of the kernels of operations, in their order
  std::vector<std::size_t> kernels_;  // … in the result
  GpuCallResult result_;
};

}  // namespace

GpuCallResult run_gpu_call(const GpuCall& call) { return CallRunner(call).run(); }

Seconds handover_time(const GpuSystemSpec& system, const GpuFactors& factors,
                      const StageLayout& layout, Bytes bytes) {
  const CollectiveKernels collectives(system, factors, system.device.launch_floor);
  const auto message = [&](int stride) {
    const Program send =
        grids_in_order({collectives.kernel("Send", {GpuCollective::kSend, 2, bytes, stride})});
    return to_seconds(simulate(GpuMachine{system.device}, send).end);
  };
  const Seconds near = message(1);
  const double far = share_leaving(layout, gpus_of_node(system));
  if (system.nodes == 1 || far <= 0) return near;
  return near * (1 - far) + message(gpus_of_node(system)) * far;
}

}  // namespace foretell

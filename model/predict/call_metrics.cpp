#include "model/predict/call_metrics.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace foretell {
namespace {

constexpr const char* kLaunchModule = ".launch";
constexpr const char* kHostBound = "host that launches";

bool is_device_work(StreamKind kind) { return kind != StreamKind::kHostCalls; }

std::string longest_of(const std::map<std::string, Seconds>& times) {
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? "" : most->first;
}

bool ends_with_launch(const std::string& path) {
  const std::string suffix = kLaunchModule;
  return path.size() >= suffix.size() &&
         path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

// What a grid, loop or collective is on a timeline; its times are filled in by the caller.
KernelRun shown_as(const Grid& grid) {
  KernelRun run;
  run.engine = grid.unit;
  run.launch = grid.stretch * grid.launch;
  run.dram = grid.dram_bytes;
  run.l2 = grid.l2_bytes;
  return run;
}

KernelRun shown_as(const Loop& loop) {
  KernelRun run;
  run.engine = loop.unit;
  run.launch = loop.call;
  run.dram = dram_of(loop);
  return run;
}

KernelRun shown_as(const Collective& collective) {
  KernelRun run;
  run.engine = "link";
  run.launch = collective.launch;
  run.link = sent_bytes(collective.exchange);
  return run;
}

template <class Entry>
KernelRun shown_as(const Entry& /*entry*/) {
  return {};
}

}  // namespace

std::vector<EntryRef> work_in_order(const Program& program, const ProgramExecution& execution) {
  std::vector<EntryRef> order;
  for (std::size_t s = 0; s < program.streams.size(); ++s) {
    if (!is_device_work(program.streams[s].kind())) continue;
    for (std::uint32_t i = 0; i < execution.entries[s].size(); ++i) {
      order.push_back({static_cast<std::int32_t>(s), i});
    }
  }
  const auto place = [&](EntryRef ref) {
    const EntryTimes& entry = execution.at(ref);
    return std::make_tuple(entry.begin, entry.end,
                           program.links(static_cast<std::size_t>(ref.queue), ref.index).op,
                           ref.queue, ref.index);
  };
  std::sort(order.begin(), order.end(),
            [&](EntryRef a, EntryRef b) { return place(a) < place(b); });
  return order;
}

std::vector<KernelRun> kernel_runs(const Program& program, const ProgramExecution& execution) {
  std::vector<KernelRun> runs;
  for (const EntryRef ref : work_in_order(program, execution)) {
    const auto stream = static_cast<std::size_t>(ref.queue);
    KernelRun run = std::visit([&](const auto& entries) { return shown_as(entries[ref.index]); },
                               program.streams[stream].work);
    const std::int32_t op = program.links(stream, ref.index).op;
    if (op >= 0) run.op = program.operators[static_cast<std::size_t>(op)];
    run.kernel = program.label(stream, ref.index);
    const EntryTimes& entry = execution.at(ref);
    run.start = to_seconds(entry.begin);
    run.duration = to_seconds(entry.end - entry.begin);
    runs.push_back(std::move(run));
  }
  return runs;
}

Metrics metrics_of_call(const Program& program, const Execution& execution,
                        std::vector<OperatorMetrics> operators) {
  const ProgramExecution& ran = execution.cores.front();
  std::vector<Ticks> ends(operators.size(), -1);  // of operators that did something
  Ticks running = 0;
  Ticks waited = 0;  // for the host
  Metrics metrics;
  for (const EntryRef ref : work_in_order(program, ran)) {
    const EntryTimes& entry = ran.at(ref);
    waited += std::max<Ticks>(0, entry.begin - running);
    running = std::max(running, entry.end);
    const std::int32_t op = program.links(static_cast<std::size_t>(ref.queue), ref.index).op;
    if (op >= 0) ends[static_cast<std::size_t>(op)] = running;
    ++metrics.instructions;
  }
  metrics.device = to_seconds(running);
  metrics.call = metrics.device;
  std::map<std::string, Seconds> critical;
  Ticks start = 0;
  for (std::size_t op = 0; op < operators.size(); ++op) {
    OperatorMetrics& made = operators[op];
    const OperatorActivity& activity = ran.operators[op];
    const Ticks end = std::max(start, ends[op]);
    made.start = to_seconds(start);
    made.duration = to_seconds(end - start);
    made.bytes = activity.dram;
    made.work = activity.work;
    if (ends[op] >= 0) made.critical = to_string(activity.busy.longest());
    critical[made.critical] += made.duration;
    start = end;
    metrics.hbm_read += activity.dram;
  }
  if (waited > running / 2) critical[kHostBound] = to_seconds(waited);
  metrics.bottleneck = longest_of(critical);
  metrics.operators = std::move(operators);
  for (const ModuleActivity& module : execution.modules) {
    ResourceMetrics resource;
    resource.path = module.path;
    const Seconds idle = ends_with_launch(module.path) ? to_seconds(waited) : Seconds(0);
    const bool ran_at_all = metrics.device > Seconds(0);
    resource.busy = ran_at_all ? std::clamp((module.busy + idle) / metrics.device, 0.0, 1.0) : 0;
    resource.bytes = Bytes(module.bytes);
    metrics.resources.push_back(std::move(resource));
  }
  return metrics;
}

}  // namespace foretell

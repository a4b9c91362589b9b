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

struct TickSpan {
  Ticks begin = 0;
  Ticks end = 0;
};

// The part of [begin, end) that no span covers; spans are disjoint and ascending, and `from`, where
// to look first, rises with begin.
Ticks uncovered(const std::vector<TickSpan>& spans, TickSpan asked, std::size_t& from) {
  while (from < spans.size() && spans[from].end <= asked.begin) ++from;
  Ticks left = asked.end - asked.begin;
  for (std::size_t s = from; s < spans.size() && spans[s].begin < asked.end; ++s) {
    left -= std::min(asked.end, spans[s].end) - std::max(asked.begin, spans[s].begin);
  }
  return left;
}

std::vector<TickSpan> united(std::vector<TickSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const TickSpan& a, const TickSpan& b) { return a.begin < b.begin; });
  std::vector<TickSpan> whole;
  for (const TickSpan& span : spans) {
    if (!whole.empty() && span.begin <= whole.back().end) {
      whole.back().end = std::max(whole.back().end, span.end);
    } else {
      whole.push_back(span);
    }
  }
  return whole;
}

// By stream and entry: the part of its time in which no stream before it ran.
std::vector<std::vector<Ticks>> exposed_times(const Program& program,
                                              const ProgramExecution& execution) {
  std::vector<std::vector<Ticks>> exposed(program.streams.size());
  std::vector<TickSpan> covered;
  for (std::size_t s = 0; s < program.streams.size(); ++s) {
    const std::vector<EntryTimes>& entries = execution.entries[s];
    if (entries.empty() || !is_device_work(program.streams[s].kind())) continue;
    std::size_t from = 0;
    for (const EntryTimes& entry : entries) {
      exposed[s].push_back(uncovered(covered, {entry.begin, entry.end}, from));
    }
    for (const EntryTimes& entry : entries) covered.push_back({entry.begin, entry.end});
    covered = united(std::move(covered));
  }
  return exposed;
}

// Grids of a stream that is not the first one.
bool is_beside(const Program& program, std::size_t stream) {
  if (program.streams[stream].kind() != StreamKind::kGrids) return false;
  return std::any_of(program.streams.begin(),
                     program.streams.begin() + static_cast<std::ptrdiff_t>(stream),
                     [](const Stream& before) {
                       return before.kind() == StreamKind::kGrids && before.size() > 0;
                     });
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
  const std::vector<std::vector<Ticks>> exposed = exposed_times(program, execution);
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
    run.exposed = to_seconds(exposed[stream][ref.index]);
    if (is_beside(program, stream)) run.stream = program.streams[stream].name;
    runs.push_back(std::move(run));
  }
  return runs;
}

Metrics metrics_of_call(const Program& program, const Execution& execution,
                        std::vector<OperatorMetrics> operators) {
  const ProgramExecution& ran = execution.cores.front();
  const std::vector<std::vector<Ticks>> exposed = exposed_times(program, ran);
  struct Spent {
    Ticks begin = -1;  // below 0: it did nothing
    Ticks time = 0;
  };
  std::vector<Spent> spent(operators.size());
  Ticks running = 0;
  Ticks waited = 0;  // for the host
  Metrics metrics;
  for (const EntryRef ref : work_in_order(program, ran)) {
    const EntryTimes& entry = ran.at(ref);
    const auto stream = static_cast<std::size_t>(ref.queue);
    const Ticks gap = std::max<Ticks>(0, entry.begin - running);
    waited += gap;
    running = std::max(running, entry.end);
    const std::int32_t op = program.links(stream, ref.index).op;
    if (op >= 0) {
      Spent& of_operator = spent[static_cast<std::size_t>(op)];
      if (of_operator.begin < 0) of_operator.begin = entry.begin - gap;
      of_operator.time += gap + exposed[stream][ref.index];
    }
    ++metrics.instructions;
  }
  metrics.device = to_seconds(running);
  metrics.call = metrics.device;
  std::map<std::string, Seconds> critical;
  Ticks start = 0;
  for (std::size_t op = 0; op < operators.size(); ++op) {
    OperatorMetrics& made = operators[op];
    const OperatorActivity& activity = ran.operators[op];
    if (spent[op].begin >= 0) start = spent[op].begin;
    made.start = to_seconds(start);
    made.duration = to_seconds(spent[op].time);
    made.bytes = activity.dram;
    made.work = activity.work;
    if (spent[op].begin >= 0) made.critical = to_string(activity.busy.longest());
    critical[made.critical] += made.duration;
    start += spent[op].time;
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
    resource.stalled =
        ran_at_all ? std::clamp(module.stalled / metrics.device, 0.0, 1 - resource.busy) : 0;
    resource.bytes = Bytes(module.bytes);
    metrics.resources.push_back(std::move(resource));
  }
  return metrics;
}

}  // namespace foretell

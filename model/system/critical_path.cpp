#include "model/system/critical_path.hpp"

#include <algorithm>

namespace foretell {
namespace {

EntryRef last_entry(const ProgramExecution& execution) {
  EntryRef last;
  Ticks end = -1;
  for (std::size_t stream = 0; stream < execution.entries.size(); ++stream) {
    const std::vector<EntryTimes>& entries = execution.entries[stream];
    if (entries.empty() || entries.back().end <= end) continue;
    end = entries.back().end;
    last = {static_cast<std::int32_t>(stream), static_cast<std::uint32_t>(entries.size() - 1)};
  }
  return last;
}

std::int32_t operator_of(const Program& program, EntryRef ref) {
  return program.links(static_cast<std::size_t>(ref.queue), ref.index).op;
}

Critical resource_of(const Program& program, EntryRef ref) {
  switch (program.streams[static_cast<std::size_t>(ref.queue)].kind()) {
    case StreamKind::kInstructions:
      return static_cast<Critical>(ref.queue);
    case StreamKind::kTransfers:
      return Critical::kDma;
    case StreamKind::kCollectives:
      return Critical::kCollectives;
    case StreamKind::kGrids:
      return Critical::kGrids;
    case StreamKind::kLoops:
      return Critical::kLoops;
    case StreamKind::kHostCalls:
      break;
  }
  return Critical::kHost;
}

}  // namespace

std::string to_string(Critical critical) {
  switch (critical) {
    case Critical::kTensor:
      return "tensor engine";
    case Critical::kVector:
      return "vector engine";
    case Critical::kScalar:
      return "scalar engine";
    case Critical::kGpSimd:
      return "gpsimd engine";
    case Critical::kSync:
      return "sync engine";
    case Critical::kDma:
      return "dma";
    case Critical::kCollectives:
      return "collectives";
    case Critical::kGrids:
      return "kernels";
    case Critical::kLoops:
      return "loops";
    case Critical::kHost:
      return "host that launches";
    case Critical::kSynchronisation:
      break;
  }
  return "synchronisation";
}

Critical largest(const CriticalTimes& times) {
  return static_cast<Critical>(std::max_element(times.begin(), times.end()) - times.begin());
}

CriticalPath critical_path(const Program& program, const ProgramExecution& execution) {
  CriticalPath path;
  path.by_operator.resize(program.operators.size());
  const auto add = [&](EntryRef ref, Critical critical, Ticks time) {
    if (time <= 0) return;
    path.total[static_cast<std::size_t>(critical)] += time;
    const std::int32_t op = operator_of(program, ref);
    if (op >= 0)
      path.by_operator[static_cast<std::size_t>(op)][static_cast<std::size_t>(critical)] += time;
  };
  EntryRef ref = last_entry(execution);
  Ticks until = execution.end;  // the path is explained from here on
  while (ref.queue >= 0) {
    const EntryTimes& entry = execution.at(ref);
    add(ref, resource_of(program, ref), std::min(until, entry.end) - entry.begin);
    until = std::min(until, entry.begin);
    if (entry.cause.queue < 0) break;
    const EntryTimes& cause = execution.at(entry.cause);
    // Between the end of the cause and the begin: a semaphore, or the start latency of a transfer.
    const Critical resource = resource_of(program, ref);
    add(ref, resource == Critical::kDma ? Critical::kDma : Critical::kSynchronisation,
        until - cause.end);
    until = std::min(until, cause.end);
    if (entry.cause.queue == ref.queue && entry.cause.index >= ref.index) break;
    ref = entry.cause;
  }
  return path;
}

}  // namespace foretell

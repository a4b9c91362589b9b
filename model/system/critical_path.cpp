#include "model/system/critical_path.hpp"

#include <algorithm>

namespace foretell {
namespace {

EntryRef last_entry(const CoreExecution& execution) {
  EntryRef last;
  Ticks end = -1;
  const auto look = [&](std::size_t queue, const std::vector<Execution>& entries) {
    if (entries.empty() || entries.back().end <= end) return;
    end = entries.back().end;
    last = {static_cast<std::int32_t>(queue), static_cast<std::uint32_t>(entries.size() - 1)};
  };
  for (std::size_t e = 0; e < execution.engines.size(); ++e) look(e, execution.engines[e]);
  for (std::size_t r = 0; r < execution.rings.size(); ++r)
    look(kEngineCount + r, execution.rings[r]);
  look(kEngineCount + execution.rings.size(), execution.collectives);
  return last;
}

std::int32_t operator_of(const Program& program, EntryRef ref) {
  const auto queue = static_cast<std::size_t>(ref.queue);
  if (queue < kEngineCount) return program.engines[queue][ref.index].op;
  if (queue == program.collective_queue()) return program.collectives[ref.index].op;
  return program.rings[queue - kEngineCount].transfers[ref.index].op;
}

Critical resource_of(const Program& program, EntryRef ref) {
  const auto queue = static_cast<std::size_t>(ref.queue);
  if (queue < kEngineCount) return static_cast<Critical>(ref.queue);
  return queue == program.collective_queue() ? Critical::kCollectives : Critical::kDma;
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
    case Critical::kSynchronisation:
      break;
  }
  return "synchronisation";
}

Critical largest(const CriticalTimes& times) {
  return static_cast<Critical>(std::max_element(times.begin(), times.end()) - times.begin());
}

CriticalPath critical_path(const Program& program, const CoreExecution& execution) {
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
    const Execution& entry = execution.at(ref);
    add(ref, resource_of(program, ref), std::min(until, entry.end) - entry.begin);
    until = std::min(until, entry.begin);
    if (entry.cause.queue < 0) break;
    const Execution& cause = execution.at(entry.cause);
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

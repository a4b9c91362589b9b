#include "model/program/program_builder.hpp"

#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::array<std::string_view, kRingCount> kRingNames = {"weights", "inputs", "outputs",
                                                                 "spill", "reload"};

// Per queue and entry: how many waited-for entries there are up to and including it.
using Ordinals = std::vector<std::vector<std::uint32_t>>;

// Writes the waits and the signals of all entries, whatever their work.
template <class Change>
void change_entries(Stream& stream, const Change& change) {
  std::visit(
      [&](auto& entries) {
        for (std::size_t i = 0; i < entries.size(); ++i) change(entries[i], i);
      },
      stream.work);
}

}  // namespace

ProgramBuilder::ProgramBuilder(std::string name) {
  program_.name = std::move(name);
  for (const std::string_view ring : kRingNames) program_.add_ring(std::string(ring), {});
  program_.streams.push_back({"collectives", std::vector<Collective>{}});
  queues_.resize(program_.streams.size());
}

ProgramBuilder::ProgramBuilder(std::string name, std::vector<Stream> streams)
    : queues_(streams.size()) {
  FORETELL_CHECK(streams.size() <= kQueueCount, "more streams than a builder has clocks");
  program_.name = std::move(name);
  program_.streams = std::move(streams);
}

std::int32_t ProgramBuilder::begin_operator(std::string name) {
  program_.operators.push_back(std::move(name));
  current_op_ = static_cast<std::int32_t>(program_.operators.size()) - 1;
  return current_op_;
}

std::uint32_t ProgramBuilder::queue_length(int queue) const {
  return static_cast<std::uint32_t>(queues_.at(static_cast<std::size_t>(queue)).signals.size());
}

Deps ProgramBuilder::emit(Engine engine, Instruction instruction, const Deps& deps) {
  const int queue = static_cast<int>(engine);
  const std::uint32_t index = queue_length(queue);
  if (index > 0 && deps.count(queue) == index) instruction.flags |= kDependsOnPrevious;
  return emit_to(static_cast<std::size_t>(queue), instruction, deps);
}

Deps ProgramBuilder::emit(Ring ring, Transfer transfer, const Deps& deps) {
  return emit_to(kEngineCount + static_cast<std::size_t>(ring), transfer, deps);
}

Deps ProgramBuilder::emit(Collective collective, const Deps& deps) {
  return emit_to(kCollectiveQueue, std::move(collective), deps);
}

// Keeps only waits that the queue has not passed already, and marks who is waited for.
ProgramBuilder::Waits ProgramBuilder::append(std::size_t stream, const Deps& deps) {
  Queue& queue = queues_[stream];
  Waits waits;
  waits.first = static_cast<std::uint32_t>(queue.waits.size());
  for (std::size_t other = 0; other < queues_.size(); ++other) {
    const std::uint32_t needed = deps.count(static_cast<int>(other));
    if (other == stream || needed <= queue.passed.count(static_cast<int>(other))) continue;
    std::vector<std::uint8_t>& signals = queues_[other].signals;
    FORETELL_CHECK(needed <= signals.size(), "dependency on an entry that does not exist");
    signals[needed - 1] = 1;
    queue.waits.push_back({static_cast<std::uint16_t>(other), needed});
    ++waits.count;
  }
  queue.passed.merge(deps);
  queue.signals.push_back(0);
  return waits;
}

Program ProgramBuilder::finish() && {
  // 1. Number the waited-for entries of each queue: that is the count its semaphore reaches.
  Ordinals ordinal(queues_.size());
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const std::vector<std::uint8_t>& signals = queues_[q].signals;
    ordinal[q].resize(signals.size());
    std::uint32_t count = 0;
    change_entries(program_.streams[q],
                   [&, signal = static_cast<std::uint16_t>(q)](auto& entry, std::size_t i) {
                     if (signals[i] != 0) {
                       ++count;
                       entry.signal = signal;
                     }
                     ordinal[q][i] = count;
                   });
    program_.semaphores.push_back(program_.streams[q].name);
  }
  // 2. Put the waits of all queues together.
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const auto first = static_cast<std::uint32_t>(program_.waits.size());
    change_entries(program_.streams[q],
                   [&](auto& entry, std::size_t /*i*/) { entry.first_wait += first; });
    for (const Wait& wait : queues_[q].waits) {
      program_.waits.push_back({wait.semaphore, ordinal[wait.semaphore][wait.threshold - 1]});
    }
  }
  return std::move(program_);
}

}  // namespace foretell

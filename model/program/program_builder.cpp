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

std::string_view to_string(Ring ring) { return kRingNames.at(static_cast<std::size_t>(ring)); }

ProgramBuilder::ProgramBuilder(std::string name) {
  program_.name = std::move(name);
  for (const std::string_view ring : kRingNames) program_.add_ring(std::string(ring), {});
  program_.streams.push_back({"collectives", std::vector<Collective>{}});
  deps_.resize(program_.streams.size());
}

ProgramBuilder::ProgramBuilder(std::string name, std::vector<Stream> streams)
    : deps_(streams.size()) {
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
  return static_cast<std::uint32_t>(deps_.at(static_cast<std::size_t>(queue)).size());
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

Deps ProgramBuilder::append(int queue, const Deps& deps) {
  const std::uint32_t index = queue_length(queue);
  deps_[static_cast<std::size_t>(queue)].push_back(deps);
  Deps done;
  done.add(queue, index);
  return done;
}

Program ProgramBuilder::finish() && {
  // 1. Keep only waits that the queue has not passed already, and mark who is waited for.
  const std::size_t count_of_queues = deps_.size();
  const auto queues = static_cast<int>(count_of_queues);
  Ordinals ordinal(count_of_queues);
  for (std::size_t q = 0; q < count_of_queues; ++q) ordinal[q].assign(deps_[q].size(), 0);
  for (int q = 0; q < queues; ++q) {
    Deps passed;
    for (Deps& entry : deps_[static_cast<std::size_t>(q)]) {
      Deps kept;
      for (int other = 0; other < queues; ++other) {
        const std::uint32_t needed = entry.count(other);
        if (other == q || needed <= passed.count(other)) continue;
        FORETELL_CHECK(needed <= queue_length(other), "dependency on an entry that does not exist");
        kept.add(other, needed - 1);
        ordinal[static_cast<std::size_t>(other)][needed - 1] = 1;
      }
      passed.merge(kept);
      entry = kept;
    }
  }
  // 2. Number the waited-for entries of each queue: that is the count its semaphore reaches.
  for (std::size_t q = 0; q < count_of_queues; ++q) {
    std::uint32_t count = 0;
    change_entries(program_.streams[q],
                   [&, signal = static_cast<std::uint16_t>(q)](auto& entry, std::size_t i) {
                     if (ordinal[q][i] != 0) {
                       ++count;
                       entry.signal = signal;
                     }
                     ordinal[q][i] = count;
                   });
    program_.semaphores.push_back(program_.streams[q].name);
  }
  // 3. Write the waits.
  for (std::size_t q = 0; q < count_of_queues; ++q) {
    change_entries(program_.streams[q], [&](auto& entry, std::size_t i) {
      const auto first = static_cast<std::uint32_t>(program_.waits.size());
      for (int other = 0; other < queues; ++other) {
        const std::uint32_t needed = deps_[q][i].count(other);
        if (needed == 0) continue;
        program_.waits.push_back({static_cast<std::uint16_t>(other),
                                  ordinal[static_cast<std::size_t>(other)][needed - 1]});
      }
      entry.first_wait = first;
      entry.wait_count = static_cast<std::uint16_t>(program_.waits.size() - first);
    });
  }
  return std::move(program_);
}

}  // namespace foretell

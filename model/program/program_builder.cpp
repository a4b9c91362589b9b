#include "model/program/program_builder.hpp"

#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::array<std::string_view, kRingCount> kRingNames = {"weights", "inputs", "outputs",
                                                                 "spill", "reload"};

// Per queue and entry: how many waited-for entries there are up to and including it.
using Ordinals = std::array<std::vector<std::uint32_t>, kQueueCount>;

}  // namespace

std::string_view to_string(Ring ring) { return kRingNames.at(static_cast<std::size_t>(ring)); }

ProgramBuilder::ProgramBuilder(std::string name) {
  program_.name = std::move(name);
  for (int r = 0; r < kRingCount; ++r) {
    program_.rings.push_back({std::string(kRingNames[static_cast<std::size_t>(r)]), {}});
  }
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
  instruction.op = current_op_;
  program_.engines[static_cast<std::size_t>(queue)].push_back(instruction);
  return append(queue, deps);
}

Deps ProgramBuilder::emit(Ring ring, Transfer transfer, const Deps& deps) {
  transfer.op = current_op_;
  program_.rings[static_cast<std::size_t>(ring)].transfers.push_back(transfer);
  return append(kEngineCount + static_cast<int>(ring), deps);
}

Deps ProgramBuilder::emit(Collective collective, const Deps& deps) {
  collective.op = current_op_;
  program_.collectives.push_back(collective);
  return append(kCollectiveQueue, deps);
}

Deps ProgramBuilder::append(int queue, const Deps& deps) {
  const std::uint32_t index = queue_length(queue);
  deps_[static_cast<std::size_t>(queue)].push_back(deps);
  Deps done;
  done.add(queue, index);
  return done;
}

void ProgramBuilder::set_signal(std::size_t queue, std::size_t index, std::uint16_t semaphore) {
  if (queue < kEngineCount) {
    program_.engines[queue][index].signal = semaphore;
  } else if (queue < kCollectiveQueue) {
    program_.rings[queue - kEngineCount].transfers[index].signal = semaphore;
  } else {
    program_.collectives[index].signal = semaphore;
  }
}

void ProgramBuilder::set_waits(std::size_t queue, std::size_t index, std::uint32_t first,
                               std::uint16_t count) {
  const auto set = [&](auto& entry) {
    entry.first_wait = first;
    entry.wait_count = count;
  };
  if (queue < kEngineCount) {
    set(program_.engines[queue][index]);
  } else if (queue < kCollectiveQueue) {
    set(program_.rings[queue - kEngineCount].transfers[index]);
  } else {
    set(program_.collectives[index]);
  }
}

std::string ProgramBuilder::queue_name(std::size_t queue) const {
  if (queue < kEngineCount) return std::string(to_string(static_cast<Engine>(queue)));
  return queue < kCollectiveQueue ? program_.rings[queue - kEngineCount].name : "collectives";
}

Program ProgramBuilder::finish() && {
  // 1. Keep only waits that the queue has not passed already, and mark who is waited for.
  Ordinals ordinal;
  for (std::size_t q = 0; q < kQueueCount; ++q) ordinal[q].assign(deps_[q].size(), 0);
  for (int q = 0; q < kQueueCount; ++q) {
    Deps passed;
    for (Deps& entry : deps_[static_cast<std::size_t>(q)]) {
      Deps kept;
      for (int other = 0; other < kQueueCount; ++other) {
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
  for (std::size_t q = 0; q < kQueueCount; ++q) {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < ordinal[q].size(); ++i) {
      const bool signals = ordinal[q][i] != 0;
      if (signals) {
        ++count;
        set_signal(q, i, static_cast<std::uint16_t>(q));
      }
      ordinal[q][i] = count;
    }
    program_.semaphores.push_back(queue_name(q));
  }
  // 3. Write the waits.
  for (std::size_t q = 0; q < kQueueCount; ++q) {
    for (std::size_t i = 0; i < deps_[q].size(); ++i) {
      const auto first = static_cast<std::uint32_t>(program_.waits.size());
      for (int other = 0; other < kQueueCount; ++other) {
        const std::uint32_t needed = deps_[q][i].count(other);
        if (needed == 0) continue;
        program_.waits.push_back({static_cast<std::uint16_t>(other),
                                  ordinal[static_cast<std::size_t>(other)][needed - 1]});
      }
      set_waits(q, i, first, static_cast<std::uint16_t>(program_.waits.size() - first));
    }
  }
  return std::move(program_);
}

}  // namespace foretell

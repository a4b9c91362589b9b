#include "model/program/program_builder.hpp"

#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::array<std::string_view, kRingCount> kRingNames = {"weights", "inputs", "outputs",
                                                                 "spill"};

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
  deps_[static_cast<std::size_t>(queue)].push_back(deps);
  Deps done;
  done.add(queue, index);
  return done;
}

Deps ProgramBuilder::emit(Ring ring, Transfer transfer, const Deps& deps) {
  const int queue = kEngineCount + static_cast<int>(ring);
  const std::uint32_t index = queue_length(queue);
  transfer.op = current_op_;
  program_.rings[static_cast<std::size_t>(ring)].transfers.push_back(transfer);
  deps_[static_cast<std::size_t>(queue)].push_back(deps);
  Deps done;
  done.add(queue, index);
  return done;
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
        const auto semaphore = static_cast<std::uint16_t>(q);
        if (q < kEngineCount) {
          program_.engines[q][i].signal = semaphore;
        } else {
          program_.rings[q - kEngineCount].transfers[i].signal = semaphore;
        }
      }
      ordinal[q][i] = count;
    }
    program_.semaphores.push_back(q < kEngineCount ? std::string(to_string(static_cast<Engine>(q)))
                                                   : program_.rings[q - kEngineCount].name);
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
      const auto count = static_cast<std::uint16_t>(program_.waits.size() - first);
      if (q < kEngineCount) {
        program_.engines[q][i].first_wait = first;
        program_.engines[q][i].wait_count = count;
      } else {
        Transfer& transfer = program_.rings[q - kEngineCount].transfers[i];
        transfer.first_wait = first;
        transfer.wait_count = count;
      }
    }
  }
  return std::move(program_);
}

}  // namespace foretell

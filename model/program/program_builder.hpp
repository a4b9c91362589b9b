// Builds a Program from instructions with dependencies; semaphores come out by themselves.
//
// A dependency set (Deps) is a vector clock: per queue, how many of its entries must have ended.
// Because queues are in order, that is all there ever is to know. finish() gives every queue one
// semaphore and numbers only the entries that are waited for. A wait that an earlier one of the
// same queue already implies is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/program/program.hpp"

namespace foretell {

inline constexpr int kRingCount = 5;
inline constexpr int kCollectiveQueue = kEngineCount + kRingCount;
inline constexpr int kQueueCount = kCollectiveQueue + 1;  // the most streams of a built program

// DMA rings of a mapped program.
enum class Ring : std::uint8_t { kWeights, kInputs, kOutputs, kSpill, kReload };

class Deps {
 public:
  // Position `index` of `queue` must have ended.
  void add(int queue, std::uint32_t index) {
    auto& slot = ends_[static_cast<std::size_t>(queue)];
    if (index + 1 > slot) slot = index + 1;
  }
  void merge(const Deps& other) {
    for (std::size_t q = 0; q < ends_.size(); ++q) {
      if (other.ends_[q] > ends_[q]) ends_[q] = other.ends_[q];
    }
  }
  bool empty() const { return ends_ == decltype(ends_){}; }
  // How many entries of `queue` must have ended; 0: none.
  std::uint32_t count(int queue) const { return ends_[static_cast<std::size_t>(queue)]; }

 private:
  std::array<std::uint32_t, kQueueCount> ends_{};
};

class ProgramBuilder {
 public:
  // The streams of a NeuronCore: its engines, rings and collectives.
  explicit ProgramBuilder(std::string name);
  // A program of streams that are given, without entries.
  ProgramBuilder(std::string name, std::vector<Stream> streams);

  // Index of a new operator that following entries are attributed to.
  std::int32_t begin_operator(std::string name);
  // Returns to an operator begun earlier (fused operators interleave).
  void resume_operator(std::int32_t op) { current_op_ = op; }

  // Appends to an engine queue, a ring or the collectives; the result depends on the new entry
  // alone.
  Deps emit(Engine engine, Instruction instruction, const Deps& deps);
  Deps emit(Ring ring, Transfer transfer, const Deps& deps);
  Deps emit(Collective collective, const Deps& deps);
  // To the stream of this number, which is one of such entries.
  template <class Entry>
  Deps emit_to(std::size_t stream, Entry entry, const Deps& deps) {
    const Waits waits = append(stream, deps);
    entry.op = current_op_;
    entry.first_wait = waits.first;
    entry.wait_count = waits.count;
    program_.entries<Entry>(stream).push_back(std::move(entry));
    Deps done;
    done.add(static_cast<int>(stream), queue_length(static_cast<int>(stream)) - 1);
    return done;
  }

  std::uint32_t queue_length(int queue) const;

  Program finish() &&;

 private:
  // What the entries of a stream wait for, and which of them are waited for.
  struct Queue {
    std::vector<Wait> waits;  // for this many entries of the stream in place of a semaphore
    std::vector<std::uint8_t> signals;  // 1 for an entry that is waited for
    Deps passed;                        // by all that the last entry waits for
  };
  struct Waits {
    std::uint32_t first = 0;  // of those of the stream
    std::uint16_t count = 0;
  };
  Waits append(std::size_t stream, const Deps& deps);

  Program program_;
  std::vector<Queue> queues_;  // by stream
  std::int32_t current_op_ = -1;
};

}  // namespace foretell

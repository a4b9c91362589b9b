// The command stream of one NeuronCore: five in-order engine queues, the DMA rings and the queue of
// collectives, tied together by semaphores.
//
// A semaphore counts up from 0 and never down. An instruction starts when it is at the head of
// its queue and every semaphore it waits for has reached the threshold; it raises its own
// semaphore by one when it ends. Transfers of a ring are issued in order and complete in order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/program/collective.hpp"
#include "model/program/instruction.hpp"

namespace foretell {

struct Wait {
  std::uint16_t semaphore = 0;
  std::uint32_t threshold = 0;  // starts when the count is >= threshold
};

enum class TransferDirection : std::uint8_t {
  kLoad,
  kStore,
  kOnChip
};  // HBM->SBUF, SBUF->HBM, SBUF->SBUF
enum TransferFlag : std::uint8_t { kTransposes = 1U << 0U, kCasts = 1U << 1U };

// One DMA transfer: `descriptors` pieces of `descriptor_bytes` each, at least one per partition
// row.
struct Transfer {
  TransferDirection direction = TransferDirection::kLoad;
  std::uint8_t flags = 0;
  std::uint16_t signal = kNoSemaphore;
  std::uint32_t descriptors = 0;
  std::uint32_t descriptor_bytes = 0;
  std::int32_t op = -1;
  std::uint32_t first_wait = 0;
  std::uint16_t wait_count = 0;
  std::uint64_t hbm_address = 0;

  std::uint64_t bytes() const { return std::uint64_t{descriptors} * descriptor_bytes; }
};

struct DmaRing {
  std::string name;
  std::vector<Transfer> transfers;
};

struct Program {
  std::string name;
  std::array<std::vector<Instruction>, kEngineCount> engines;
  std::vector<DmaRing> rings;
  std::vector<Collective> collectives;  // in order, one at a time
  std::vector<Wait> waits;
  std::vector<std::string> semaphores;  // names, for messages
  std::vector<std::string> operators;   // names, indexed by Instruction::op

  std::size_t instruction_count() const;
  std::size_t transfer_count() const;
  // Number of the queue of collectives: it follows the rings, as those follow the engines.
  std::size_t collective_queue() const { return kEngineCount + rings.size(); }
};

// Checks the limits of the instruction set that do not depend on timing: at most 128 partitions,
// 512 moving columns, known semaphores and banks, transfers inside the memory of
// `hbm_bytes`. Throws EntryError naming the first offending instruction ("tensor[12]
// multiply_moving").
struct ProgramLimits {
  std::uint32_t partitions = 128;
  std::uint32_t stationary_columns = 128;
  std::uint32_t moving_columns = 512;
  std::uint32_t psum_banks = 8;
  std::uint32_t psum_bank_columns = 512;
  std::uint32_t sbuf_free_elements = 65536;  // free size of a lane instruction on SBUF
  std::uint32_t psum_free_elements = 4096;   // and on PSUM
  std::uint32_t bn_stats_elements = 512;
  std::uint64_t hbm_bytes = 0;
};
void validate(const Program& program, const ProgramLimits& limits);

// A UserError about one entry of a program.
class EntryError : public UserError {
 public:
  EntryError(std::size_t queue, std::size_t index, const std::string& what)
      : UserError(what), queue_(queue), index_(index) {}
  // An engine, kEngineCount + number of the ring, or Program::collective_queue().
  std::size_t queue() const { return queue_; }
  std::size_t index() const { return index_; }  // in its queue

 private:
  std::size_t queue_;
  std::size_t index_;
};

}  // namespace foretell

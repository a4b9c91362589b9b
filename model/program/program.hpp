// What a machine executes: in-order streams of work, tied together by semaphores.
//
// A stream holds work of one kind: instructions of an engine, transfers of a DMA ring, collectives,
// grids of thread blocks, parallel loops, calls of the host. A program for a NeuronCore has a
// stream for each engine, then its DMA rings, then its collectives; one for a GPU its grids, its
// collectives and, where the host launches one by one, the calls of the host; one for a CPU its
// loops.
//
// A semaphore counts up from 0 and never down. An entry starts when it is at the head of its stream
// and every semaphore it waits for has reached the threshold; it raises its own semaphore by one
// when it ends. Transfers of a ring are issued in order and complete in order.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/base/errors.hpp"
#include "model/program/collective.hpp"
#include "model/program/grid.hpp"
#include "model/program/host_call.hpp"
#include "model/program/instruction.hpp"
#include "model/program/loop.hpp"
#include "model/program/transfer.hpp"

namespace foretell {

struct Wait {
  std::uint16_t semaphore = 0;
  std::uint32_t threshold = 0;  // starts when the count is >= threshold
};

// In the order of the alternatives of Work.
enum class StreamKind : std::uint8_t {
  kInstructions,
  kTransfers,
  kCollectives,
  kGrids,
  kLoops,
  kHostCalls
};
std::string_view to_string(StreamKind kind);  // "instructions", "transfers", …

using Work = std::variant<std::vector<Instruction>, std::vector<Transfer>, std::vector<Collective>,
                          std::vector<Grid>, std::vector<Loop>, std::vector<HostCall>>;

struct Stream {
  std::string name;  // "tensor"; of a ring "weights"
  Work work;

  StreamKind kind() const { return static_cast<StreamKind>(work.index()); }
  std::size_t size() const {
    return std::visit([](const auto& entries) { return entries.size(); }, work);
  }
};

// What every entry has, whatever its work.
struct EntryLinks {
  std::int32_t op = -1;  // operator it belongs to; -1: none
  std::uint32_t first_wait = 0;
  std::uint16_t wait_count = 0;
  std::uint16_t signal = kNoSemaphore;
};

struct Program {
  std::string name;
  std::vector<Stream> streams;
  std::vector<Wait> waits;
  std::vector<std::string> semaphores;  // names, for messages
  std::vector<std::string> operators;   // names, indexed by the `op` of entries

  std::size_t entry_count() const;  // of all streams
  EntryLinks links(std::size_t stream, std::size_t index) const;
  // By semaphore: the entries that raise it are of one stream, so that they raise it in order.
  std::vector<bool> raised_in_order() const;
  // "multiply_moving", "load", "gemm 128x256": what the entry does.
  std::string label(std::size_t stream, std::size_t index) const;
  // "tensor[3] multiply_moving", "dma weights[0]": for messages.
  std::string place(std::size_t stream, std::size_t index) const;

  template <class Entry>
  const std::vector<Entry>& entries(std::size_t stream) const {
    return std::get<std::vector<Entry>>(streams[stream].work);
  }
  template <class Entry>
  std::vector<Entry>& entries(std::size_t stream) {
    return std::get<std::vector<Entry>>(streams[stream].work);
  }

  // --- Of a NeuronCore: engines are streams 0..4, then rings, then collectives. ---
  // Makes the streams of the engines where there are none.
  std::vector<Instruction>& engine(std::size_t engine);
  std::vector<Instruction>& engine(Engine which) { return engine(static_cast<std::size_t>(which)); }
  // Without streams of engines, none.
  const std::vector<Instruction>& engine(std::size_t engine) const;
  const std::vector<Instruction>& engine(Engine which) const {
    return engine(static_cast<std::size_t>(which));
  }
  // After those that there are; the streams of the engines are made where there are none.
  void add_ring(std::string ring, std::vector<Transfer> transfers);
  std::size_t ring_count() const;
  const std::vector<Transfer>& ring(std::size_t ring) const {
    return entries<Transfer>(kEngineCount + ring);
  }
  // The transfers of all rings.
  std::vector<Transfer> transfers() const;
  // The stream of collectives; the number of streams when there is none.
  std::size_t collective_queue() const;
  const std::vector<Collective>& collectives() const;
};

// Checks the limits of the instruction set that do not depend on timing: partitions,
// rows and columns of operands, known semaphores and banks, transfers inside the memory of
// `hbm_bytes`; of grids and loops that rates are there for their bytes and counts are positive.
// Throws EntryError naming the first offending entry ("tensor[12] multiply_moving").
struct ProgramLimits {
  std::uint32_t partitions = 128;        // rows of a tile, on which the lane engines work
  std::uint32_t contraction_rows = 128;  // of the tensor engine
  std::uint32_t stationary_columns = 128;
  std::uint32_t moving_columns = 512;
  std::uint32_t psum_banks = 8;
  std::uint32_t psum_bank_columns = 512;
  std::uint32_t sbuf_free_elements = 65536;  // free size of a lane instruction on SBUF
  std::uint32_t psum_free_elements = 4096;   // and on PSUM
  std::uint32_t bn_stats_elements = 512;
  std::uint64_t hbm_bytes = 0;
  std::int64_t threads = 0;  // of a loop; 0: any number
  std::int64_t ranks = 0;    // GPUs of a group that exchanges data; 0: any number
};
void validate(const Program& program, const ProgramLimits& limits);

// A UserError about one entry of a program.
class EntryError : public UserError {
 public:
  EntryError(std::size_t queue, std::size_t index, const std::string& what)
      : UserError(what), queue_(queue), index_(index) {}
  std::size_t queue() const { return queue_; }  // number of the stream
  std::size_t index() const { return index_; }  // in its stream

 private:
  std::size_t queue_;
  std::size_t index_;
};

}  // namespace foretell

// The cores of a CPU system that run parallel loops, and the memory that they share.
//
// A core works through its chunks in a few pieces. At the beginning of a piece it asks the memory
// (TLM-2.0, base protocol) for the bytes of the piece; when they have passed, it is known how long
// computing and moving overlapped take.
// The dispatcher forks a loop over the cores and joins when the last of them is done.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/components/fair_memory.hpp"
#include "model/components/ticks.hpp"
#include "model/program/cpu_loop.hpp"

namespace foretell {

class CpuCore : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(CpuCore);
  // `peak`: of the memory behind the socket.
  CpuCore(const sc_core::sc_module_name& name, BytesPerSecond peak);

  tlm_utils::simple_initiator_socket<CpuCore> memory;
  sc_core::sc_event done;

  // Starts its part of a loop now; the loop outlives it. `done` follows at once without chunks.
  void start(const CpuLoop& loop, int thread);

  Ticks busy() const { return busy_; }

 private:
  void step();  // SC_METHOD: the next piece, or the end
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  const CpuChunkRun& piece() const { return pieces_[next_]; }
  void request();    // the bytes that are left of the piece
  void end_piece();  // all bytes have passed

  BytesPerSecond peak_;
  const CpuLoop* loop_ = nullptr;
  std::vector<CpuChunkRun> pieces_;
  std::size_t next_ = 0;
  Ticks piece_begin_ = 0;
  double left_ = 0;  // bytes of the piece that were not asked for yet
  tlm::tlm_generic_payload payload_;
  sc_core::sc_event step_;
  Ticks busy_ = 0;
};

// What became of one program. Times count from the start of the simulation.
struct CpuProgramExecution {
  Ticks begin = 0;
  Ticks end = 0;
};

class CpuChip : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(CpuChip);
  // `bandwidth`: of the memory, all cores together.
  CpuChip(const sc_core::sc_module_name& name, int cores, BytesPerSecond bandwidth);

  // Programs that run one after another from the start; they outlive the simulation.
  void run(const std::vector<CpuProgram>& programs);

  const std::vector<CpuProgramExecution>& executions() const { return executions_; }
  const FairMemory& memory() const { return memory_; }
  Ticks busy() const;  // cores x time with work

 private:
  void fork();  // SC_METHOD: the call is prepared, cores start
  void join();  // SC_METHOD: a core is done
  void next();  // SC_METHOD: the loop is over
  void begin_loop();
  const CpuLoop& loop() const { return (*programs_)[program_].loops[loop_]; }

  FairMemory memory_;
  std::vector<std::unique_ptr<CpuCore>> cores_;
  const std::vector<CpuProgram>* programs_ = nullptr;
  std::size_t program_ = 0;
  std::size_t loop_ = 0;
  int working_ = 0;
  sc_core::sc_event fork_;
  sc_core::sc_event joined_;
  std::vector<CpuProgramExecution> executions_;
};

}  // namespace foretell

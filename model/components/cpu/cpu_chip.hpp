// The cores of a CPU system that run parallel loops, and the memory that they share.
//
// A core works through its chunks in a few pieces. At the beginning of a piece it asks the memory
// (TLM-2.0, base protocol) for the bytes of the piece; when they have passed, it is known how long
// computing and moving take together (model/timing/shared/closed_network.hpp).
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/components/shared/executor.hpp"
#include "model/components/shared/in_order_stream.hpp"
#include "model/components/shared/known_times.hpp"
#include "model/components/shared/memory.hpp"
#include "model/components/shared/memory_access.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/program/loop.hpp"

namespace foretell {

class CpuCore : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  SC_HAS_PROCESS(CpuCore);
  // `peak`: of the memory at the end of the socket.
  CpuCore(const sc_core::sc_module_name& name, BytesPerSecond peak);
  ~CpuCore() override;

  tlm_utils::simple_initiator_socket<CpuCore> memory;
  sc_core::sc_event done;

  // Starts its part of a loop now; the loop outlives it. `done` follows at once without chunks.
  // `speaker`: who asks the memory.
  void start(const Loop& loop, int thread, const Speaker& speaker);
  bool waits_for_memory() const { return asked_; }

  Ticks busy() const { return busy_; }

 private:
  void step();  // SC_METHOD: the next piece, or the end
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  const CpuChunkRun& piece() const { return pieces_[next_]; }
  void request();    // the bytes that are left of the piece
  void answered();   // SC_METHOD: the memory has answered
  void end_piece();  // all bytes have passed
  void free(tlm::tlm_generic_payload* /*payload*/) override {}  // it is a member

  BytesPerSecond peak_;
  const Loop* loop_ = nullptr;
  std::vector<CpuChunkRun> pieces_;
  std::size_t next_ = 0;
  Ticks piece_begin_ = 0;
  std::uint64_t left_ = 0;  // bytes of the piece that were not asked for yet
  double per_byte_ = 1;     // that they occupy the memory for, see OccupiedBytes
  std::uint64_t address_ = 0;
  bool asked_ = false;  // and not answered
  Speaker speaker_;
  OccupiedBytes occupied_;
  tlm::tlm_generic_payload payload_;
  sc_core::sc_event step_;
  sc_core::sc_event answer_;
  Ticks busy_ = 0;
};

// The cores, their memory, and the stream of loops that they run together.
class CpuChip final : public Executor {
 public:
  // `bandwidth`: of the memory, all cores together. `exact`: equal loops are executed again and
  // again.
  // `memory_model`: CpuDramSpec::model.
  CpuChip(const sc_core::sc_module_name& name, int cores, BytesPerSecond bandwidth,
          const std::string& memory_model, const Program& program, bool exact);

  // The module of a stream of loops, for the registry.
  std::unique_ptr<StreamModule> make_loops(std::size_t stream);

  const char* kind() const override { return "CPU"; }
  void add_activity(const std::string& prefix, std::vector<ModuleActivity>& modules) const override;

 private:
  std::unique_ptr<Memory> memory_;
  std::vector<std::unique_ptr<CpuCore>> cores_;
  bool exact_;
};

// Loops one after another: the dispatcher prepares the call, forks over the cores and joins when
// the last of them is done. A loop like one before takes as long as that and is not executed again.
class LoopStream final : public InOrderStream {
 public:
  SC_HAS_PROCESS(LoopStream);
  LoopStream(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& shared,
             std::vector<std::unique_ptr<CpuCore>>& cores, bool exact);

 private:
  std::string waits_for() const override;
  void begin_entry(std::size_t index) override;
  void fork();    // SC_METHOD: the call is prepared, cores start
  void join();    // SC_METHOD: a core is done
  void finish();  // SC_METHOD: the loop is over
  const Loop& loop() const { return queue_[position()]; }

  const std::vector<Loop>& queue_;
  std::vector<std::unique_ptr<CpuCore>>& cores_;
  int working_ = 0;
  KnownTimes known_;
  KnownTimes::Key key_;  // of the loop at hand
  sc_core::sc_event fork_;
  sc_core::sc_event joined_;
};

}  // namespace foretell

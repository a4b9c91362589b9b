// The SMs of a GPU with their pipes, and the grids that run on them at the same time.
//
// A grid is a few phases of constant demand (model/timing/gpu/grid_phases.hpp). Grids of several
// streams share the places for thread blocks, the pipes, L2 and DRAM max-min fair
// (model/timing/gpu/fluid_share.hpp): there is an event when a phase ends while others run. Alone,
// a grid takes exactly its phases, with an event when its first byte is due and one at its end.
// What thread blocks hold of an SM — places, threads, registers, shared memory — bounds which of
// them are there together, where grids state it.
// When the first byte is due, DRAM and L2 are asked for its bytes, and their answers decide how
// long the phases are and what share of each memory they need.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/base/units.hpp"
#include "model/components/gpu/memory_port.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/program/grid.hpp"
#include "model/timing/gpu/grid_phases.hpp"

namespace foretell {

// Started a grid; notified when it has ended.
class SmClient {
 public:
  virtual ~SmClient() = default;
  // `drained`: from where it left SMs free to its end, were it alone.
  virtual void grid_ended(Ticks drained) = 0;
};

// The peaks of the memories that the SMs are bound to.
struct SmMemories {
  BytesPerSecond dram;
  BytesPerSecond l2;
};

class SmPool : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(SmPool);
  // `exact`: equal thread blocks are placed again and again.
  SmPool(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec, const SmMemories& memories,
         bool exact);

  MemoryPort dram;
  MemoryPort l2;

  // The grid begins now, `launched` after its launch began. It and the client outlive the run;
  // `entry` says which one it is, for messages. `l2_share`: of L2, while its bytes pass; below 1
  // where something else than L2 holds them to their rate.
  void start(const Grid& grid, Ticks launched, std::function<std::string()> entry, SmClient& client,
             double l2_share = 1);
  bool idle() const { return running_.empty(); }
  // This many SMs more, or fewer, have no places for thread blocks; one at least is left.
  void hold(int sms);

  // Integral over what ran so far: all of the resource over this time.
  Seconds served(GridResource resource) const;
  // What grids asked for of it and did not use, because something else held them up.
  Seconds stalled(GridResource resource) const;
  Seconds shared() const { return Seconds(shared_ / kTicksPerSecond); }  // several grids ran
  std::uint64_t activations() const { return activations_; }

 private:
  struct Running {
    const Grid* grid = nullptr;
    GridWaves waves;
    BlockShares shares;
    GridMemory memory;
    Ticks launched = 0;
    std::vector<GridPhase> phases;
    std::size_t phase = 0;
    double phase_left = 0;  // femtoseconds alone
    double left = 0;        // of all phases
    double speed = 1;
    double l2_share = 1;
    bool asked = false;  // the memories, for its bytes
    std::function<std::string()> entry;
    SmClient* client = nullptr;
  };

  void wake();                              // SC_METHOD: a phase has ended
  void advance();                           // all grids, from advanced_to_ to now
  void progress(Running& grid, double by);  // by this much of its time alone
  void count_shared(double passed);         // of a time in which several grids ran
  void plan();                              // speeds, and when the next phase ends
  void ask_if_due(Running& grid);           // for the first byte
  void ask(Running& grid);
  GridDemand demand_of(const Running& grid) const;  // in its phase, beside held SMs
  // Sets its phases, of which `passed` femtoseconds are over.
  static void set_phases(Running& grid, double passed);
  GridWaves waves_of(const Grid& grid);

  int sms_;
  GpuSmSpec sm_;
  bool exact_;
  std::map<std::vector<double>, GridWaves> known_;
  std::vector<std::unique_ptr<Running>> running_;  // in the order in which they started
  Ticks advanced_to_ = 0;
  int held_sms_ = 0;
  GridDemand held_{};
  GridDemand served_{};   // femtoseconds
  GridDemand stalled_{};  // femtoseconds
  double shared_ = 0;
  sc_core::sc_event wake_;
  std::uint64_t activations_ = 0;
};

}  // namespace foretell

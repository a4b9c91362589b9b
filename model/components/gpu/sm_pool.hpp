// The SMs of a GPU with their pipes, and the grids that run on them at the same time.
//
// A grid is a few phases of constant demand (model/timing/gpu/grid_phases.hpp). Grids of several
// streams share the places for thread blocks, the pipes, L2 and DRAM max-min fair
// (model/timing/gpu/fluid_share.hpp): there is an event when a phase ends while others run, and one
// per grid that runs alone, which takes exactly its phases.
#pragma once

#include <map>
#include <memory>
#include <systemc>
#include <vector>

#include "model/base/units.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/program/grid.hpp"
#include "model/timing/gpu/grid_phases.hpp"

namespace foretell {

// Who started a grid; told when it has ended.
class SmClient {
 public:
  virtual ~SmClient() = default;
  virtual void grid_ended() = 0;
};

class SmPool : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(SmPool);
  // `exact`: equal thread blocks are placed again and again.
  SmPool(const sc_core::sc_module_name& name, int sms, bool exact);

  // How the thread blocks of a grid fill the SMs.
  GridWaves waves(const Grid& grid);
  // Starts these phases now, which take `alone` together; the client outlives them.
  void start(std::vector<GridPhase> phases, Ticks alone, SmClient& client);
  bool idle() const { return running_.empty(); }

  // Integral over what ran so far: all of the resource over this time.
  Seconds served(GridResource resource) const;
  // Places for thread blocks that were held while others slowed their grid down.
  Seconds stalled() const { return Seconds(stalled_ / kTicksPerSecond); }
  Seconds shared() const { return Seconds(shared_ / kTicksPerSecond); }  // several grids ran
  std::uint64_t activations() const { return activations_; }

 private:
  struct Running {
    std::vector<GridPhase> phases;
    std::size_t phase = 0;
    double phase_left = 0;  // femtoseconds alone
    double left = 0;        // of all phases
    double speed = 1;
    SmClient* client = nullptr;
  };

  void wake();                              // SC_METHOD: a phase has ended
  void advance();                           // all grids, from advanced_to_ to now
  void progress(Running& grid, double by);  // by so much of its time alone
  void plan();                              // speeds, and when the next phase ends

  int sms_;
  bool exact_;
  std::map<std::vector<double>, GridWaves> known_;
  std::vector<std::unique_ptr<Running>> running_;  // in the order in which they started
  Ticks advanced_to_ = 0;
  GridDemand served_{};  // femtoseconds
  double stalled_ = 0;
  double shared_ = 0;
  sc_core::sc_event wake_;
  std::uint64_t activations_ = 0;
};

}  // namespace foretell

// A SystemC kernel of its own for one simulation.
//
// The kernel keeps one global context per process. This object puts a fresh one in its place, at
// 1 fs resolution, and removes it at the end of its scope, so that simulations can follow one
// another in a process. At most one exists at a time.
#pragma once

#include <memory>
#include <string>
#include <systemc>

namespace foretell {

class SimulationContext {
 public:
  SimulationContext();
  ~SimulationContext();
  SimulationContext(const SimulationContext&) = delete;
  SimulationContext& operator=(const SimulationContext&) = delete;

  // Runs until no event is left. The kernel turns whatever a process throws into its own report;
  // what can be the user's fault is found before, by validate() or while modules are built, or ends
  // the run by fail_simulation(), whose UserError comes out here.
  void run();

 private:
  sc_core::sc_simcontext* previous_;
  std::unique_ptr<sc_core::sc_simcontext> context_;
};

// From a process: ends the simulation with this UserError.
[[noreturn]] void fail_simulation(const std::string& what);

}  // namespace foretell

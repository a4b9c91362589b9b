#include "model/components/shared/simulation_context.hpp"

// The library asks for this entry point; the program has its own main.
int sc_main(int /*argc*/, char** /*argv*/) { return 0; }

namespace foretell {

SimulationContext::SimulationContext()
    : previous_(sc_core::sc_curr_simcontext), context_(std::make_unique<sc_core::sc_simcontext>()) {
  sc_core::sc_curr_simcontext = context_.get();
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
}

SimulationContext::~SimulationContext() { sc_core::sc_curr_simcontext = previous_; }

void SimulationContext::run() { sc_core::sc_start(); }

}  // namespace foretell

#include "model/components/shared/simulation_context.hpp"

#include "model/base/errors.hpp"

// The library asks for this entry point; the program has its own main.
int sc_main(int /*argc*/, char** /*argv*/) { return 0; }

namespace foretell {
namespace {

std::string& failure() {
  static std::string text;
  return text;
}

}  // namespace

SimulationContext::SimulationContext()
    : previous_(sc_core::sc_curr_simcontext), context_(std::make_unique<sc_core::sc_simcontext>()) {
  sc_core::sc_curr_simcontext = context_.get();
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
}

SimulationContext::~SimulationContext() { sc_core::sc_curr_simcontext = previous_; }

void SimulationContext::run() {
  failure().clear();
  try {
    sc_core::sc_start();
  } catch (const sc_core::sc_report&) {
    if (failure().empty()) throw;
    throw UserError(failure());
  }
}

void fail_simulation(const std::string& what) {
  failure() = what;
  throw UserError(what);
}

}  // namespace foretell

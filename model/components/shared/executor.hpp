// What runs one program: a core of a NeuronCore device, a GPU, or the cores of a CPU. It has a
// module for each stream of the program; which one, the registry of the machine says
// (model/components/shared/stream_registry.hpp).
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "model/components/shared/stream_module.hpp"

namespace foretell {

class Executor : public sc_core::sc_module {
 public:
  // The program has passed validate() and outlives the executor.
  Executor(const sc_core::sc_module_name& name, const Program& program, Ticks semaphore_latency)
      : sc_module(name), shared_(program, semaphore_latency) {}

  ProgramShared& shared() { return shared_; }
  const Program& program() const { return shared_.program; }
  // The module of the next stream of the program; one for each, before the simulation starts.
  void attach(std::unique_ptr<StreamModule> module) { modules_.push_back(std::move(module)); }

  // Releases all streams: data first, so that it is on its way when it is asked for.
  void start();
  bool finished() const;
  // After an executor stopped before it finished: which stream waits for what, a line per blocked
  // stream.
  std::string describe_blocked() const;
  const ProgramExecution& execution() const { return shared_.execution; }
  // The same, when the executor is no longer asked for it.
  ProgramExecution take_execution() { return std::move(shared_.execution); }
  const char* kind() const override = 0;  // "NeuronCore", for messages and the registry
  // What its modules did, paths after `prefix`; the times of the streams are complete.
  virtual void add_activity(const std::string& prefix,
                            std::vector<ModuleActivity>& modules) const = 0;

 private:
  ProgramShared shared_;
  std::vector<std::unique_ptr<StreamModule>> modules_;  // by stream
};

}  // namespace foretell

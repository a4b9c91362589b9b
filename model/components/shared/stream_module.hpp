// A module that executes the entries of a stream, and what the streams of one program share.
#pragma once

#include <cstddef>
#include <string>

#include "model/components/shared/execution.hpp"
#include "model/components/shared/semaphores.hpp"
#include "model/program/program.hpp"

namespace foretell {

// Outlives the modules.
struct ProgramShared {
  ProgramShared(const Program& of, Ticks semaphore_latency)
      : program(of), semaphores(of.raised_in_order(), semaphore_latency), execution(of) {}

  const Program& program;
  Semaphores semaphores;
  ProgramExecution execution;
};

class StreamModule {
 public:
  virtual ~StreamModule() = default;
  virtual void start() = 0;  // releases the stream at the current time
  virtual bool finished() const = 0;
  // The first entry that has not begun; the head of the stream when it is blocked.
  virtual std::size_t position() const = 0;
  // What the head waits for besides semaphores: "the other cores to join"; empty for nothing.
  virtual std::string waits_for() const { return ""; }
};

}  // namespace foretell

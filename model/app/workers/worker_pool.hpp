// Work in forked processes: a SystemC kernel is one per process, and a task that crashes leaves
// the others running.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace foretell {

struct TaskOutcome {
  bool finished = false;  // false: the process died; `text` says how
  std::string text;       // what the task returned
  bool stopped = false;   // a signal came before it was finished (stop_signals.hpp)
};

// kOnePerTask: nothing of a task is left for the next. kKept: a process goes on with further tasks
// and keeps what they have read; one that dies is replaced.
enum class Processes { kOnePerTask, kKept };

// Runs `task(0)` … `task(count - 1)` in at most `jobs` processes at a time, and returns what they
// returned, in order: the same with any number of jobs. A task must not throw. `progress` is called
// in this process with the number of tasks that are done. After a signal that StopSignals caught
// nothing is waited for. InternalError when a process cannot be started.
std::vector<TaskOutcome> run_forked(std::size_t count, int jobs,
                                    const std::function<std::string(std::size_t)>& task,
                                    const std::function<void(std::size_t)>& progress = {},
                                    Processes processes = Processes::kOnePerTask);

// Processors that this process may use; the default of --jobs.
int default_jobs();

}  // namespace foretell

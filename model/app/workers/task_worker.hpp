// A forked process that does one task after another, so that a task that crashes or hangs costs
// that task alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace foretell {

// Answers a number with bytes; must not throw. Runs in the worker's process.
using NumberedTask = std::function<std::string(std::uint64_t)>;

struct TaskAnswer {
  enum class Kind { kAnswer, kDied, kTimeout };
  std::uint64_t number = 0;
  Kind kind = Kind::kAnswer;
  std::string text;  // the answer; of a death, how it died
};

class TaskWorker {
 public:
  using Clock = std::chrono::steady_clock;

  // Forks. InternalError when no process can be started. `others` are closed in the new process.
  TaskWorker(const NumberedTask& task, const std::vector<int>& others);
  ~TaskWorker();  // kills it
  TaskWorker(const TaskWorker&) = delete;
  TaskWorker& operator=(const TaskWorker&) = delete;

  int socket() const { return socket_; }  // to poll

  void give(std::uint64_t number);  // queued after what it has
  const std::deque<std::uint64_t>& given() const { return given_; }
  double seconds_on_task() const;  // 0 without a task

  // Reads what is there. False when the process is gone; how_it_died() says why.
  bool read(std::vector<TaskAnswer>& answers);
  std::string how_it_died();
  void kill() const;

 private:
  void take_answers(std::vector<TaskAnswer>& answers);

  pid_t process_ = 0;
  int socket_ = -1;
  std::deque<std::uint64_t> given_;  // the first is being worked on
  Clock::time_point started_;        // on the first of given_
  std::string buffer_;
};

}  // namespace foretell

// The workers of one process: keeps them busy, replaces those that die, ends tasks that hang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "model/app/workers/task_worker.hpp"

namespace foretell {

class WorkerGroup {
 public:
  // `limit_s`: what a task may take; 0: as long as it wants. The workers are started here.
  WorkerGroup(NumberedTask task, int jobs, double limit_s);
  ~WorkerGroup();
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;

  // Tasks that can be given now; a worker has one in reserve, so that it need not wait.
  std::size_t room() const;
  std::size_t in_work() const { return in_work_; }
  void give(std::uint64_t number);  // requires room()

  // Waits up to `patience_ms` (0: not at all) for answers. A task whose worker dies is given to a
  // new one once; the second time it is answered with kDied.
  std::vector<TaskAnswer> answers(int patience_ms);

 private:
  std::vector<int> sockets() const;
  void replace(std::size_t index);
  void bury(std::size_t index, std::vector<TaskAnswer>& answers);
  void end_late_tasks(std::vector<TaskAnswer>& answers);

  NumberedTask task_;
  double limit_s_;
  std::vector<std::unique_ptr<TaskWorker>> workers_;
  std::map<std::uint64_t, int> deaths_;  // by task
  std::size_t in_work_ = 0;
};

}  // namespace foretell

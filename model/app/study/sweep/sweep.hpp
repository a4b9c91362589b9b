// Runs the tasks of a sweep in the workers of this process and, when there is a cluster, in those
// of the other ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/app/study/sweep/cluster.hpp"
#include "model/app/workers/worker_group.hpp"

namespace foretell {

// The next up to `most` tasks, fewer when no more can be named before answers arrive.
using TaskSource = std::function<std::vector<std::uint64_t>(std::size_t most)>;
// Called in rank 0 with what has arrived, in any order.
using AnswerSink = std::function<void(std::vector<TaskAnswer>)>;

class OtherRanks;

// Rank 0 of a sweep. The other ranks call serve_sweep() and are released when this is destroyed.
class SweepRunner {
 public:
  // `cluster` may be null; what is given has to outlive this.
  SweepRunner(WorkerGroup& workers, Cluster* cluster);
  ~SweepRunner();
  SweepRunner(const SweepRunner&) = delete;
  SweepRunner& operator=(const SweepRunner&) = delete;

  // Hands out tasks until the source has none and everything is answered, or until `stop` is
  // true. What the source and the sink throw passes through. May be called again.
  void run(const TaskSource& source, const AnswerSink& sink, const std::function<bool()>& stop);

 private:
  WorkerGroup& workers_;
  std::unique_ptr<OtherRanks> others_;
};

// Works for rank 0 until it has no more to do.
void serve_sweep(WorkerGroup& workers, Cluster& cluster);

}  // namespace foretell

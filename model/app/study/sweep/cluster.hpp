// Processes that work on one sweep together, on one machine or many: rank 0 hands out tasks, the
// others answer. Boost.MPI is one implementation (model/app/study/mpi); tests have another.
#pragma once

#include <optional>
#include <string>

namespace foretell {

struct ClusterMessage {
  int from = 0;
  std::string text;
};

class Cluster {
 public:
  Cluster() = default;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  virtual ~Cluster() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void send(int to, const std::string& text) = 0;
  virtual std::optional<ClusterMessage> receive() = 0;  // what has arrived; does not wait
};

}  // namespace foretell

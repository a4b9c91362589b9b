#include "model/app/workers/worker_pool.hpp"

#include <sys/poll.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "model/app/workers/stop_signals.hpp"
#include "model/app/workers/task_worker.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr int kPatienceMs = 200;  // a signal may come just before the wait

using Workers = std::vector<std::unique_ptr<TaskWorker>>;

// A worker holds no socket of the others, so that each of them ends when this process does.
void start_one(const NumberedTask& task, Workers& workers) {
  std::vector<int> others;
  for (const auto& worker : workers) others.push_back(worker->socket());
  workers.push_back(std::make_unique<TaskWorker>(task, others));
}

// Until one has something to say, or a signal comes.
void wait_for_any(const Workers& workers, std::vector<pollfd>& events) {
  events.clear();
  for (const auto& worker : workers) events.push_back({worker->socket(), POLLIN, 0});
  if (poll(events.data(), events.size(), kPatienceMs) < 0) {
    FORETELL_CHECK(errno == EINTR, std::string("cannot wait: ") + std::strerror(errno));
    for (pollfd& event : events) event.revents = 0;
  }
}

}  // namespace

std::vector<TaskOutcome> run_forked(std::size_t count, int jobs,
                                    const std::function<std::string(std::size_t)>& task,
                                    const std::function<void(std::size_t)>& progress,
                                    Processes processes) {
  FORETELL_CHECK(jobs >= 1, "work needs at least one process");
  std::vector<TaskOutcome> outcomes(count, TaskOutcome{false, "", true});
  Workers workers;
  std::vector<pollfd> events;
  std::size_t next = 0;
  std::size_t done = 0;
  while (done < count && StopSignals::received() == 0) {
    while (next < count && workers.size() < static_cast<std::size_t>(jobs)) {
      start_one(task, workers);
      workers.back()->give(next++);
    }
    wait_for_any(workers, events);
    for (std::size_t i = workers.size(); i-- > 0;) {
      if (events[i].revents == 0) continue;
      TaskWorker& worker = *workers[i];
      const std::uint64_t number = worker.given().front();
      std::vector<TaskAnswer> answers;
      const bool is_alive = worker.read(answers);
      if (is_alive && answers.empty()) continue;
      outcomes[number] = answers.empty() ? TaskOutcome{false, worker.how_it_died()}
                                         : TaskOutcome{true, std::move(answers.front().text)};
      if (is_alive && processes == Processes::kKept && next < count) {
        worker.give(next++);
      } else {
        workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(i));
      }
      ++done;
      if (progress) progress(done);
    }
  }
  return outcomes;
}

int default_jobs() {
  const unsigned processors = std::thread::hardware_concurrency();
  return processors > 0 ? static_cast<int>(processors) : 1;
}

}  // namespace foretell

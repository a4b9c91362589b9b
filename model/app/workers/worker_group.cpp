#include "model/app/workers/worker_group.hpp"

#include <sys/poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::size_t kTasksAhead = 2;  // tasks of a worker: one in work, one waiting
constexpr int kTries = 2;               // of a task whose worker dies
constexpr int kMaxPatience = 100;       // ms between looks at the clock when tasks have a limit

}  // namespace

WorkerGroup::WorkerGroup(NumberedTask task, int jobs, double limit_s)
    : task_(std::move(task)), limit_s_(limit_s) {
  FORETELL_CHECK(jobs >= 1, "work needs at least one process");
  workers_.resize(static_cast<std::size_t>(jobs));
  for (std::size_t i = 0; i < workers_.size(); ++i) replace(i);
}

WorkerGroup::~WorkerGroup() = default;

std::vector<int> WorkerGroup::sockets() const {
  std::vector<int> all;
  for (const auto& worker : workers_) {
    if (worker != nullptr) all.push_back(worker->socket());
  }
  return all;
}

void WorkerGroup::replace(std::size_t index) {
  workers_[index].reset();
  workers_[index] = std::make_unique<TaskWorker>(task_, sockets());
}

std::size_t WorkerGroup::room() const {
  const std::size_t capacity = workers_.size() * kTasksAhead;
  return capacity > in_work_ ? capacity - in_work_ : 0;
}

void WorkerGroup::give(std::uint64_t number) {
  const auto idlest = std::min_element(
      workers_.begin(), workers_.end(),
      [](const auto& a, const auto& b) { return a->given().size() < b->given().size(); });
  (*idlest)->give(number);
  ++in_work_;
}

// The worker is gone: its task has failed or gets another try, the waiting ones go to others.
void WorkerGroup::bury(std::size_t index, std::vector<TaskAnswer>& answers) {
  std::deque<std::uint64_t> tasks = workers_[index]->given();
  const std::string reason = workers_[index]->how_it_died();
  replace(index);
  in_work_ -= tasks.size();
  if (!tasks.empty() && ++deaths_[tasks.front()] >= kTries) {
    answers.push_back({tasks.front(), TaskAnswer::Kind::kDied, reason});
    tasks.pop_front();
  }
  for (const std::uint64_t number : tasks) give(number);
}

void WorkerGroup::end_late_tasks(std::vector<TaskAnswer>& answers) {
  if (!(limit_s_ > 0)) return;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i]->seconds_on_task() <= limit_s_) continue;
    std::deque<std::uint64_t> tasks = workers_[i]->given();
    answers.push_back({tasks.front(), TaskAnswer::Kind::kTimeout, ""});
    in_work_ -= tasks.size();
    tasks.pop_front();
    replace(i);
    for (const std::uint64_t number : tasks) give(number);
  }
}

std::vector<TaskAnswer> WorkerGroup::answers(int patience_ms) {
  std::vector<pollfd> events;
  events.reserve(workers_.size());
  for (const auto& worker : workers_) events.push_back({worker->socket(), POLLIN, 0});
  const int patience = limit_s_ > 0 ? std::min(patience_ms, kMaxPatience) : patience_ms;
  std::vector<TaskAnswer> answers;
  if (poll(events.data(), events.size(), patience) < 0) {
    // A signal: the caller looks why.
    FORETELL_CHECK(errno == EINTR, std::string("cannot wait: ") + std::strerror(errno));
    return answers;
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (events[i].revents == 0) continue;
    const std::size_t before = answers.size();
    const bool alive = workers_[i]->read(answers);
    in_work_ -= answers.size() - before;
    if (!alive) bury(i, answers);
  }
  end_late_tasks(answers);
  return answers;
}

}  // namespace foretell

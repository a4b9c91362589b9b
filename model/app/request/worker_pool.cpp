#include "model/app/request/worker_pool.hpp"

#include <sys/poll.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

struct Worker {
  pid_t process = 0;
  int pipe = -1;
  std::size_t task = 0;
  std::string text;
};

[[noreturn]] void run_child(int pipe, std::size_t index,
                            const std::function<std::string(std::size_t)>& task) {
  const std::string text = task(index);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(pipe, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) _exit(EXIT_FAILURE);
    written += static_cast<std::size_t>(count);
  }
  // Not exit(): buffers and destructors belong to the parent.
  _exit(EXIT_SUCCESS);
}

Worker start(std::size_t index, const std::function<std::string(std::size_t)>& task) {
  std::array<int, 2> ends{};
  FORETELL_CHECK(pipe(ends.data()) == 0, std::string("no pipe: ") + std::strerror(errno));
  const pid_t process = fork();
  FORETELL_CHECK(process >= 0, std::string("no process: ") + std::strerror(errno));
  if (process == 0) {
    close(ends[0]);
    run_child(ends[1], index, task);
  }
  close(ends[1]);
  return Worker{process, ends[0], index, ""};
}

TaskOutcome collect(Worker& worker) {
  close(worker.pipe);
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const std::string hint = number == SIGKILL ? " (out of memory?)" : "";
    return {false, std::string("its process was ended: ") + strsignal(number) + hint};
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS) {
    return {false, "its process ended with status " + std::to_string(WEXITSTATUS(status))};
  }
  return {true, std::move(worker.text)};
}

// Reads what is there; false when the worker has closed its end.
bool read_some(Worker& worker) {
  std::array<char, 1 << 16> buffer{};
  const ssize_t count = read(worker.pipe, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  worker.text.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

void wait_for_any(const std::vector<Worker>& workers, std::vector<pollfd>& events) {
  events.clear();
  for (const Worker& worker : workers) events.push_back({worker.pipe, POLLIN, 0});
  while (poll(events.data(), events.size(), -1) < 0) {
    FORETELL_CHECK(errno == EINTR, std::string("cannot wait: ") + std::strerror(errno));
  }
}

}  // namespace

std::vector<TaskOutcome> run_forked(std::size_t count, int jobs,
                                    const std::function<std::string(std::size_t)>& task,
                                    const std::function<void(std::size_t)>& progress) {
  FORETELL_CHECK(jobs >= 1, "work needs at least one process");
  std::vector<TaskOutcome> outcomes(count);
  std::vector<Worker> workers;
  std::vector<pollfd> events;
  std::size_t next = 0;
  std::size_t done = 0;
  while (done < count) {
    while (next < count && workers.size() < static_cast<std::size_t>(jobs)) {
      workers.push_back(start(next++, task));
    }
    wait_for_any(workers, events);
    for (std::size_t i = workers.size(); i-- > 0;) {
      if (events[i].revents == 0 || read_some(workers[i])) continue;
      outcomes[workers[i].task] = collect(workers[i]);
      workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(i));
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

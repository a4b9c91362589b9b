#include "model/app/request/worker_pool.hpp"

#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// An answer is its length and its bytes, a question the number of a task.
using Number = std::uint64_t;

struct Worker {
  pid_t process = 0;
  int socket = -1;
  std::size_t task = 0;
  std::string answer;  // what has come of it
};

bool send_all(int socket, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = send(socket, bytes, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool send_number(int socket, Number number) {
  std::array<char, sizeof number> bytes{};
  std::memcpy(bytes.data(), &number, sizeof number);
  return send_all(socket, bytes.data(), bytes.size());
}

// False when nothing more comes.
bool receive_number(int socket, Number& number) {
  std::array<char, sizeof number> bytes{};
  std::size_t held = 0;
  while (held < bytes.size()) {
    const ssize_t count = recv(socket, bytes.data() + held, bytes.size() - held, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    held += static_cast<std::size_t>(count);
  }
  std::memcpy(&number, bytes.data(), sizeof number);
  return true;
}

[[noreturn]] void run_child(int socket, const std::function<std::string(std::size_t)>& task) {
  Number index = 0;
  while (receive_number(socket, index)) {
    const std::string text = task(static_cast<std::size_t>(index));
    if (!send_number(socket, text.size()) || !send_all(socket, text.data(), text.size()))
      _exit(EXIT_FAILURE);
  }
  // Not exit(): buffers and destructors belong to the parent.
  _exit(EXIT_SUCCESS);
}

// A process that waits for tasks. It holds no socket of the others, so that each of them ends when
// the parent does.
Worker start(const std::vector<Worker>& others,
             const std::function<std::string(std::size_t)>& task) {
  std::array<int, 2> ends{};
  FORETELL_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0,
                 std::string("no socket: ") + std::strerror(errno));
  const pid_t process = fork();
  FORETELL_CHECK(process >= 0, std::string("no process: ") + std::strerror(errno));
  if (process == 0) {
    close(ends[0]);
    for (const Worker& other : others) close(other.socket);
    run_child(ends[1], task);
  }
  close(ends[1]);
  return Worker{process, ends[0], 0, ""};
}

void give(Worker& worker, std::size_t task, bool is_last) {
  worker.task = task;
  worker.answer.clear();
  send_number(worker.socket, task);  // to one that died: its end is seen when its answer is read
  if (is_last) shutdown(worker.socket, SHUT_WR);
}

// Whether the whole answer is there.
bool is_whole(const Worker& worker) {
  Number size = 0;
  if (worker.answer.size() < sizeof size) return false;
  std::memcpy(&size, worker.answer.data(), sizeof size);
  return worker.answer.size() == sizeof size + size;
}

// How a process ended; "" when it did as it should.
std::string end_of(const Worker& worker) {
  close(worker.socket);
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const std::string hint = number == SIGKILL ? " (out of memory?)" : "";
    return std::string("its process was ended: ") + strsignal(number) + hint;
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
    return "its process ended with status " + std::to_string(WEXITSTATUS(status));
  return "";
}

// Reads what is there; false when the worker has closed its end.
bool read_some(Worker& worker) {
  std::array<char, 1 << 16> buffer{};
  const ssize_t count = recv(worker.socket, buffer.data(), buffer.size(), 0);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  worker.answer.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

void wait_for_any(const std::vector<Worker>& workers, std::vector<pollfd>& events) {
  events.clear();
  for (const Worker& worker : workers) events.push_back({worker.socket, POLLIN, 0});
  while (poll(events.data(), events.size(), -1) < 0) {
    FORETELL_CHECK(errno == EINTR, std::string("cannot wait: ") + std::strerror(errno));
  }
}

}  // namespace

std::vector<TaskOutcome> run_forked(std::size_t count, int jobs,
                                    const std::function<std::string(std::size_t)>& task,
                                    const std::function<void(std::size_t)>& progress,
                                    Processes processes) {
  FORETELL_CHECK(jobs >= 1, "work needs at least one process");
  const bool one_each = processes == Processes::kOnePerTask;
  std::vector<TaskOutcome> outcomes(count);
  std::vector<Worker> workers;
  std::vector<pollfd> events;
  std::size_t next = 0;
  std::size_t done = 0;
  while (done < count) {
    while (next < count && workers.size() < static_cast<std::size_t>(jobs)) {
      workers.push_back(start(workers, task));
      give(workers.back(), next++, one_each);
    }
    wait_for_any(workers, events);
    for (std::size_t i = workers.size(); i-- > 0;) {
      Worker& worker = workers[i];
      if (events[i].revents == 0) continue;
      const bool goes_on = read_some(worker);
      if (goes_on && !is_whole(worker)) continue;
      TaskOutcome& outcome = outcomes[worker.task];
      if (is_whole(worker)) outcome = {true, worker.answer.substr(sizeof(Number))};
      if (goes_on && !one_each && next < count) {
        give(worker, next++, false);
      } else {
        shutdown(worker.socket, SHUT_WR);
        const std::string end = end_of(worker);
        if (!outcome.finished)
          outcome.text = end.empty() ? "its process ended without an answer" : end;
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

#include "model/app/workers/task_worker.hpp"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr int kKeptMemory = 1 << 30;  // bytes

// What precedes an answer.
struct AnswerHead {
  std::uint64_t number = 0;
  std::uint64_t size = 0;
};

bool send_all(int socket, const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = send(socket, bytes, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  char* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t count = recv(socket, bytes, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

[[noreturn]] void work(const NumberedTask& task, int socket) {
  // Ctrl-C goes to the whole group: the parent decides when the workers end.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  // Tasks are alike: what one gave back, the next one needs. Handing it to the system and getting
  // it back cost a fifth of a short simulation.
  mallopt(M_TRIM_THRESHOLD, kKeptMemory);
  mallopt(M_MMAP_THRESHOLD, kKeptMemory);
  std::uint64_t number = 0;
  while (receive_all(socket, &number, sizeof number)) {
    const std::string text = task(number);
    const AnswerHead head{number, text.size()};
    std::string answer(reinterpret_cast<const char*>(&head), sizeof head);
    answer += text;
    if (!send_all(socket, answer.data(), answer.size())) break;
  }
  _exit(EXIT_SUCCESS);  // buffers and destructors belong to the parent
}

}  // namespace

TaskWorker::TaskWorker(const NumberedTask& task, const std::vector<int>& others) {
  std::array<int, 2> ends{};
  FORETELL_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0,
                 std::string("no socket: ") + std::strerror(errno));
  const pid_t parent = getpid();
  process_ = fork();
  FORETELL_CHECK(process_ >= 0, std::string("no process: ") + std::strerror(errno));
  if (process_ == 0) {
    // No worker outlives its parent.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    close(ends[0]);
    for (const int descriptor : others) close(descriptor);
    work(task, ends[1]);
  }
  close(ends[1]);
  socket_ = ends[0];
}

TaskWorker::~TaskWorker() {
  if (process_ > 0) kill();
  if (process_ > 0) how_it_died();
}

void TaskWorker::give(std::uint64_t number) {
  if (given_.empty()) started_ = Clock::now();
  given_.push_back(number);
  // A worker that is gone is found when its answers are read.
  send_all(socket_, &number, sizeof number);
}

double TaskWorker::seconds_on_task() const {
  if (given_.empty()) return 0;
  return std::chrono::duration<double>(Clock::now() - started_).count();
}

bool TaskWorker::read(std::vector<TaskAnswer>& answers) {
  std::array<char, 1 << 16> chunk{};
  ssize_t count = 0;
  do {
    count = recv(socket_, chunk.data(), chunk.size(), 0);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  take_answers(answers);
  return true;
}

void TaskWorker::take_answers(std::vector<TaskAnswer>& answers) {
  std::size_t at = 0;
  AnswerHead head;
  while (buffer_.size() - at >= sizeof head) {
    std::memcpy(&head, buffer_.data() + at, sizeof head);
    if (buffer_.size() - at - sizeof head < head.size) break;
    at += sizeof head;
    answers.push_back({head.number, TaskAnswer::Kind::kAnswer, buffer_.substr(at, head.size)});
    at += head.size;
    FORETELL_CHECK(!given_.empty() && given_.front() == head.number, "an answer to nothing");
    given_.pop_front();
    started_ = Clock::now();
  }
  buffer_.erase(0, at);
}

std::string TaskWorker::how_it_died() {
  close(socket_);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  if (WIFEXITED(status)) {
    const int code = WEXITSTATUS(status);
    return code == EXIT_SUCCESS ? "its process ended without an answer"
                                : "its process ended with status " + std::to_string(code);
  }
  const int number = WTERMSIG(status);
  const std::string hint = number == SIGKILL ? " (out of memory?)" : "";
  return std::string("its process was ended: ") + strsignal(number) + hint;
}

void TaskWorker::kill() const { ::kill(process_, SIGKILL); }

}  // namespace foretell

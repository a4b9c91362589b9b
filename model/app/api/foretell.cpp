#include "model/app/api/foretell.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <foretell/version.hpp>
#include <iostream>
#include <mutex>
#include <sstream>

#include "model/app/api/run_request.hpp"
#include "model/app/command/application.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"

namespace foretell::api {
namespace {

constexpr std::size_t kReadAtOnce = 1 << 16;

// A file that is only in memory, for what a command writes.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("foretell-result", MFD_CLOEXEC)) {
    if (descriptor_ < 0)
      throw Error(kOurMistake, std::string("no file in memory: ") + std::strerror(errno));
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  std::string read() const {
    std::string text;
    std::string piece(kReadAtOnce, '\0');
    while (true) {
      const ssize_t count =
          pread(descriptor_, piece.data(), piece.size(), static_cast<off_t>(text.size()));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      text.append(piece, 0, static_cast<std::size_t>(count));
    }
  }

 private:
  int descriptor_;
};

// SystemC has one kernel per process. A process that is forked while another thread predicts waits
// for its end, so that the child finds neither the lock taken nor a prediction half done; workers
// that a command forks itself do not.
std::mutex one_at_a_time;
thread_local bool is_mine = false;

void before_fork() {
  if (!is_mine) one_at_a_time.lock();
}
void after_fork() {
  if (!is_mine) one_at_a_time.unlock();
}

class Turn {
 public:
  Turn() {
    static const int kRegistered = pthread_atfork(before_fork, after_fork, after_fork);
    (void)kRegistered;
    one_at_a_time.lock();
    is_mine = true;
  }
  ~Turn() {
    is_mine = false;
    one_at_a_time.unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

std::string without_name(std::string message) {
  const std::string name = "foretell: ";
  if (message.compare(0, name.size(), name) == 0) message.erase(0, name.size());
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return message;
}

}  // namespace

Record run(const Request& request, const std::function<void(double)>& progress) {
  const Turn turn;
  const Kept kept;
  try {
    return run_request(request, predict, progress);
  } catch (const UserError& error) {
    throw Error(kUserMistake, error.what());
  } catch (const std::exception& error) {
    throw Error(kOurMistake, error.what());
  }
}

Answer command(std::vector<std::string> arguments, bool shows_progress) {
  const MemoryFile file;
  arguments.insert(arguments.end(), {"-o", file.path()});
  std::ostringstream messages;
  Session session;
  session.predict = predict;
  session.messages = &messages;
  if (shows_progress && isatty(STDERR_FILENO) != 0) session.bars = &std::cerr;
  const Turn turn;
  Answer answer;
  answer.code = run_application(std::move(arguments), session);
  answer.result = file.read();
  answer.messages = messages.str();
  return answer;
}

std::string result(std::vector<std::string> arguments, std::string* messages) {
  Answer answer = command(std::move(arguments));
  if (answer.code == kUserMistake || answer.code == kOurMistake)
    throw Error(answer.code, without_name(answer.messages));
  if (messages != nullptr) *messages = std::move(answer.messages);
  return std::move(answer.result);
}

std::string version() { return std::string(kVersion) + " (" + std::string(kCommit) + ")"; }

}  // namespace foretell::api

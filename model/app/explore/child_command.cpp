#include "model/app/explore/child_command.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <csignal>
#include <utility>

namespace foretell {
namespace {

constexpr std::size_t kMaxOutput = 1 << 27;  // bytes; a record has far fewer
constexpr int kNotStarted = 127;

// In the new process: nothing but system calls.
[[noreturn]] void become(const std::string& program, std::vector<char*>& words, int output,
                         int messages) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);  // connections of others, which would stay open
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(program.c_str(), words.data());
  _exit(kNotStarted);
}

}  // namespace

ChildCommand::ChildCommand(boost::asio::io_context& io)
    : output_{boost::asio::posix::stream_descriptor(io), &result_.output},
      messages_{boost::asio::posix::stream_descriptor(io), &result_.messages} {}

ChildCommand::~ChildCommand() { stop(); }

void ChildCommand::start(const std::string& program, const std::vector<std::string>& words,
                         Done done) {
  done_ = std::move(done);
  std::vector<std::string> texts = words;
  texts.insert(texts.begin(), program);
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  std::array<int, 2> output{-1, -1};
  std::array<int, 2> messages{-1, -1};
  if (pipe2(output.data(), O_CLOEXEC) == 0 && pipe2(messages.data(), O_CLOEXEC) == 0) {
    process_ = fork();
    if (process_ == 0) become(program, pointers, output[1], messages[1]);
  }
  for (const int end : {output[1], messages[1]}) {
    if (end >= 0) close(end);
  }
  if (process_ < 0) {
    for (const int end : {output[0], messages[0]}) {
      if (end >= 0) close(end);
    }
    result_.messages = "no process could be started";
    std::exchange(done_, nullptr)(result_);
    return;
  }
  setpgid(process_, process_);  // whichever of the two is first
  output_.descriptor.assign(output[0]);
  messages_.descriptor.assign(messages[0]);
  open_ = 2;
  read(output_);
  read(messages_);
}

void ChildCommand::read(Stream& stream) {
  stream.descriptor.async_read_some(boost::asio::buffer(stream.piece),
                                    [self = shared_from_this(), &stream](
                                        const boost::system::error_code& error, std::size_t count) {
                                      if (self->process_ < 0) return;  // stopped
                                      stream.text->append(stream.piece.data(), count);
                                      if (!error && stream.text->size() <= kMaxOutput)
                                        return self->read(stream);
                                      if (--self->open_ == 0) self->ended();
                                    });
}

int ChildCommand::wait_for_end() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void ChildCommand::ended() {
  result_.code = wait_for_end();
  if (const Done done = std::exchange(done_, nullptr)) done(result_);
}

void ChildCommand::stop() {
  done_ = nullptr;
  if (process_ < 0) return;
  kill(-process_, SIGKILL);
  kill(process_, SIGKILL);
  wait_for_end();
  boost::system::error_code ignored;
  output_.descriptor.close(ignored);
  messages_.descriptor.close(ignored);
}

}  // namespace foretell

// One command of the program in a process of its own, which can be ended at any time.
#pragma once

#include <sys/types.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace foretell {

struct ChildResult {
  int code = -1;         // exit code; -1: it was ended by a signal, or could not be started
  std::string output;    // standard output
  std::string messages;  // standard error
};

class ChildCommand : public std::enable_shared_from_this<ChildCommand> {
 public:
  using Done = std::function<void(const ChildResult&)>;

  explicit ChildCommand(boost::asio::io_context& io);
  // Ends what still runs, with every process that it started.
  ~ChildCommand();
  ChildCommand(const ChildCommand&) = delete;
  ChildCommand& operator=(const ChildCommand&) = delete;

  // `done` is called once, when the command has ended by itself; not after stop().
  void start(const std::string& program, const std::vector<std::string>& words, Done done);
  void stop();

 private:
  struct Stream {
    boost::asio::posix::stream_descriptor descriptor;
    std::string* text;
    std::array<char, 1 << 14> piece{};
  };
  void read(Stream& stream);
  void ended();
  int wait_for_end();

  ChildResult result_;
  Stream output_;
  Stream messages_;
  int open_ = 0;
  pid_t process_ = -1;
  Done done_;
};

}  // namespace foretell

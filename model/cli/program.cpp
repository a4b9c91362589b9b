#include "model/cli/program.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <sstream>

#include "model/cli/application.hpp"

namespace foretell {
namespace {

// Columns of the terminal on standard output; 0 when it is none.
int terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, ClusterFactory join, bool silent) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of `ulimit -f` is a full disk: a message, not a death
  std::ostringstream nowhere;
  Session session;
  session.predict = predict;
  session.messages = silent ? static_cast<std::ostream*>(&nowhere) : &std::cerr;
  session.terminal = !silent && isatty(STDERR_FILENO) != 0;
  session.result_width = terminal_width();
  session.cluster = std::move(join);
  return run_application(arguments, session);
}

}  // namespace foretell

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "model/cli/application.hpp"
#include "model/cli/prediction.hpp"

namespace {

// Columns of the terminal on standard output; 0 when it is none.
int terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

int main(int argc, char** argv) {
  foretell::Session session;
  session.predict = foretell::predict;
  session.messages = &std::cerr;
  session.terminal = isatty(STDERR_FILENO) != 0;
  session.result_width = terminal_width();
  return foretell::run_application(std::vector<std::string>(argv + 1, argv + argc), session);
}

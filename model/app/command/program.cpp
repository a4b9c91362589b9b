#include "model/app/command/program.hpp"

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <sstream>

#include "model/app/command/application.hpp"
#include "model/app/terminal/output.hpp"

namespace foretell {

int run_program(const std::vector<std::string>& arguments, ClusterFactory join, bool silent) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of `ulimit -f` is a full disk: a message, not a death
  std::ostringstream nowhere;
  Session session;
  session.predict = predict;
  session.messages = silent ? static_cast<std::ostream*>(&nowhere) : &std::cerr;
  if (!silent && isatty(STDERR_FILENO) != 0) session.bars = &std::cerr;
  session.result_width = terminal_width();
  session.cluster = std::move(join);
  return run_application(arguments, session);
}

}  // namespace foretell

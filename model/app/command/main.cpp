#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "model/app/command/program.hpp"
#include "model/app/terminal/session.hpp"
#include "model/base/number_text.hpp"

namespace {

// Processes that mpirun or srun started together; 1 without them.
int launched_together() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* size = std::getenv(variable))
      return static_cast<int>(foretell::to_count(size).value_or(1));
  }
  return 1;
}

// A sweep on several ranks is done by the program beside this one, which alone is linked to MPI:
// MPI would cost every other command some ten milliseconds. Returns only when it is not there.
void hand_over(char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string other = (self.parent_path() / "foretell-mpi").string();
  execv(other.c_str(), argv);
}

// Allocation fails wherever it likes, also where nothing can be caught: a limit of `ulimit -v` is a
// message, not a death.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view kMessage =
      "foretell: not enough memory; raise the limit (`ulimit -v`), use fewer processes (--jobs 1), "
      "or ask for a smaller workload\n";
  const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(written < 0 ? foretell::kOurMistake : foretell::kUserMistake);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(end_without_memory);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool sweeps = std::find(arguments.begin(), arguments.end(), "sweep") != arguments.end();
  if (sweeps && launched_together() > 1) {
    hand_over(argv);
    std::cerr << "foretell: built without MPI, but started as several ranks; install "
                 "libboost-mpi-dev and openmpi-bin and build again, or use --jobs\n";
    return foretell::kUserMistake;
  }
  return foretell::run_program(arguments, {}, false);
}

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "model/app/command/calibrate/calibrate_commands.hpp"
#include "model/app/terminal/options.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr int kNotStarted = 127;  // as shells say it

struct MeasureCommandOptions {
  std::string device;
  std::string output;
  std::string ops;
  std::string dtypes;
  bool quick = false;
  std::vector<std::string> more;
};

const std::vector<std::string>& measured_devices() {
  static const std::vector<std::string> kDevices = {"cuda", "cpu"};
  return kDevices;
}

// "" when it is nowhere.
std::string find_program(const std::string& name) {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  std::vector<std::string> folders = {error ? "" : own.parent_path().string()};
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    folders.push_back(folder);
  }
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    const fs::path program = fs::path(folder) / name;
    if (fs::is_regular_file(program, error) && access(program.c_str(), X_OK) == 0) {
      return program.string();
    }
  }
  return "";
}

std::vector<std::string> arguments_of(const MeasureCommandOptions& options) {
  std::vector<std::string> arguments;
  const auto pass = [&arguments](const char* option, const std::string& value) {
    if (value.empty()) return;
    arguments.emplace_back(option);
    arguments.push_back(value);
  };
  pass("--output", options.output);
  pass("--ops", options.ops);
  pass("--dtypes", options.dtypes);
  if (options.quick) arguments.emplace_back("--quick");
  arguments.insert(arguments.end(), options.more.begin(), options.more.end());
  return arguments;
}

// Runs foretell_measure_<device>, from the folder of this program or from PATH, with the arguments
// and returns its exit code. UserError that says how it is built when it is not there.
int run_measuring_program(const std::string& device, const std::vector<std::string>& arguments) {
  const std::vector<std::string>& known = measured_devices();
  if (std::find(known.begin(), known.end(), device) == known.end()) {
    throw unknown_name("kind of machine", device, known);
  }
  const std::string name = "foretell_measure_" + device;
  const std::string program = find_program(name);
  if (program.empty()) {
    throw UserError(fmt::format(
        "{0} is neither beside this program nor in PATH; build it on the machine to measure:\n"
        "  cmake -S calib/measure/{1} -B build-{1} && cmake --build build-{1}\n"
        "docs/calibration.md says what that needs",
        name, device));
  }
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  const pid_t child = fork();
  FORETELL_CHECK(child >= 0, "no process can be started");
  if (child == 0) {
    execv(program.c_str(), raw.data());
    _exit(kNotStarted);
  }
  int status = 0;
  FORETELL_CHECK(waitpid(child, &status, 0) == child, "the process is gone");
  if (!WIFEXITED(status)) throw UserError(program + " was stopped by a signal");
  if (WEXITSTATUS(status) == kNotStarted) throw UserError(program + " cannot be started");
  return WEXITSTATUS(status);
}

}  // namespace

void add_measure_command(CLI::App& calibrate, Session& session) {
  const auto options = std::make_shared<MeasureCommandOptions>();
  CLI::App* command = calibrate.add_subcommand("measure", "Measure operators on this machine");
  command->footer(
      "A program of its own measures, foretell_measure_cuda or foretell_measure_cpu; what stands\n"
      "after -- goes to it as it is (-- --help says what). A file that exists is continued. Then:\n"
      "  foretell calibrate import FILE -o table.csv, foretell validate table.csv, and\n"
      "  foretell calibrate fit --device NAME --measurements table.csv\n"
      "Example:\n"
      "  foretell calibrate measure --device cuda --quick -o h100.jsonl");
  command->add_option("--device", options->device, "what to measure: cuda or cpu")->required();
  add_option(*command, "-o,--output", options->output, "FILE",
             "file of records, a line of JSON each (default: measurements.jsonl)");
  command->add_flag("--quick", options->quick, "about a tenth of the points");
  add_option(*command, "--ops", options->ops, "LIST", "only these operators, with commas between");
  add_option(*command, "--dtypes", options->dtypes, "LIST",
             "only these types, with commas between");
  command->add_option("more", options->more, "after --: options of the program that measures");
  set_action(*command, session,
             [options] { return run_measuring_program(options->device, arguments_of(*options)); });
}

}  // namespace foretell

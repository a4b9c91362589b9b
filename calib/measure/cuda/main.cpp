#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>

#include "calib/measure/cuda/cuda_machine.hpp"
#include "calib/measure/cuda/measure_options.hpp"
#include "calib/measure/cuda/shape_plan.hpp"
#include "calib/measure/harness/measure_run.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr int kGood = 0;
constexpr int kWrongResults = 1;
constexpr int kUserMistake = 2;
constexpr int kOurMistake = 3;
constexpr const char* kSource = "foretell calibrate measure --device cuda";

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

int list(const std::vector<MeasureTask>& plan) {
  for (const MeasureTask& task : plan) std::cout << task_text(task) << "\n";
  return kGood;
}

int check(MeasuredMachine& machine) {
  int code = kGood;
  for (const MeasureTask& task : make_checks()) {
    std::cout << task_text(task) << ": ";
    try {
      const CheckOutcome outcome = machine.check(task);
      const bool right = outcome.error <= 1;
      std::cout << (right ? "right" : "WRONG, " + outcome.detail) << "\n";
      if (!right) code = kWrongResults;
    } catch (const Unavailable& reason) {
      std::cout << "not available: " << reason.what() << "\n";
    }
  }
  return code;
}

int run(const std::vector<std::string>& arguments) {
  const MeasureOptions options = parse_measure_options(arguments);
  if (options.help) {
    std::cout << measure_help();
    return kGood;
  }
  const std::vector<MeasureTask> plan = make_plan(options.plan);
  if (options.list) return list(plan);
  const std::unique_ptr<MeasuredMachine> machine =
      open_cuda_machine(options.gpu, options.device_name, options.repeats);
  if (options.check_only) return check(*machine);
  RecordLog log(options.output);
  MeasureRunOptions run_options;
  run_options.source = kSource;
  run_options.date = today();
  run_options.messages = &std::cerr;
  run_options.terminal = isatty(STDERR_FILENO) != 0;
  const MeasureRunResult result = run_measurements(*machine, make_checks(), plan, log, run_options);
  std::cerr << result_text(result);
  return result.wrong.empty() ? kGood : kWrongResults;
}

}  // namespace
}  // namespace foretell

int main(int argc, char** argv) {
  try {
    return foretell::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const foretell::UserError& error) {
    std::cerr << "foretell_measure_cuda: " << error.what() << "\n";
    return foretell::kUserMistake;
  } catch (const std::exception& error) {
    std::cerr << "foretell_measure_cuda: " << error.what() << "\n";
    return foretell::kOurMistake;
  }
}

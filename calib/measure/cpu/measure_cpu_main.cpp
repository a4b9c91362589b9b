// Measures the CPU that it runs on; see measure_cpu_options.cpp for its command line.
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iostream>

#include "calib/measure/cpu/cpu_machine.hpp"
#include "calib/measure/cpu/measure_cpu_options.hpp"
#include "calib/measure/harness/measure_run.hpp"
#include "calib/measurements/record_log.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

int measure(const std::vector<std::string>& arguments) {
  MeasureCpuOptions options = parse_measure_cpu_options(arguments);
  if (options.help) {
    std::cout << measure_cpu_help();
    return 0;
  }
  if (options.plan.threads == 0) options.plan.threads = usable_threads();
  const std::vector<MeasureTask> tasks = cpu_plan(options.plan);
  if (options.list) {
    for (const MeasureTask& task : tasks) std::cout << task_text(task) << '\n';
    return 0;
  }
  CpuMachineOptions machine_options;
  machine_options.device = options.device_name;
  machine_options.threads = options.plan.threads;
  machine_options.repeats = options.repeats;
  machine_options.most_foreign = options.most_foreign;
  machine_options.patience = options.patience;
  CpuMachine machine(machine_options);
  RecordLog log(options.output);
  MeasureRunOptions run;
  run.source = "foretell calibrate measure --device cpu";
  run.date = today();
  run.noisy = 0.1;  // cold points depend on where in memory their operands lie
  run.attempts = 2;
  run.most_rounds = options.rounds;
  run.rounds = std::min(2, options.rounds);
  run.messages = &std::cerr;
  run.terminal = isatty(STDERR_FILENO) == 1;
  const MeasureRunResult result = run_measurements(machine, cpu_checks(tasks), tasks, log, run);
  std::cerr << result_text(result);
  return result.wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace foretell

int main(int argc, char** argv) {
  try {
    return foretell::measure({argv + 1, argv + argc});
  } catch (const foretell::UserError& error) {
    std::cerr << "foretell_measure_cpu: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "foretell_measure_cpu: " << error.what() << '\n';
    return 3;
  }
}

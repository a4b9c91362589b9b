#include "calib/measure/cpu/cpu_machine.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "calib/measure/cpu/package_energy.hpp"
#include "calib/measure/cpu/system_load.hpp"
#include "calib/measure/harness/benchmark_timer.hpp"
#include "hw/spec/cpu/cpu_host.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBatchSeconds = 100e-6;   // that calls are timed together for
constexpr double kRepeatSeconds = 1.5e-3;  // of work in one repeat
constexpr double kMinSweep = 64e6;         // bytes
constexpr double kMinTicks = 5;            // below, the share of others cannot be resolved
constexpr int kAtOnce = 5;                 // attempts under load before there are pauses

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Processors that this process may use, one for each core.
std::vector<std::size_t> find_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  const HostFacts facts = read_host_facts();
  const auto wanted = static_cast<std::size_t>(std::max(1, facts.cores));
  std::vector<std::size_t> all;
  for (std::size_t processor = 0; processor < CPU_SETSIZE && all.size() < wanted; ++processor) {
    if (CPU_ISSET(processor, &allowed)) all.push_back(processor);
  }
  return all;
}

// As found before any thread was pinned: a pinned one may use only its own.
const std::vector<std::size_t>& processors() {
  static const std::vector<std::size_t> kAll = find_processors();
  return kAll;
}

// Thread i of OpenMP stays on the i-th processor. OpenMP makes threads anew when their number
// changes, and those begin where the first one is, so this is done before every point.
void pin_threads(int threads) {
  omp_set_num_threads(threads);
  const std::vector<std::size_t>& all = processors();
#pragma omp parallel num_threads(threads)
  {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(all[static_cast<std::size_t>(omp_get_thread_num()) % all.size()], &own);
    sched_setaffinity(0, sizeof(own), &own);
  }
}

std::string device_name(const std::string& name) {
  std::string id;
  for (const char c : to_lower(name)) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    if (good) {
      id += c;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "cpu" : id;
}

}  // namespace

int usable_threads() { return static_cast<int>(processors().size()); }

CpuMachine::CpuMachine(const CpuMachineOptions& options) : options_(options) {
  const HostFacts facts = read_host_facts();
  sweep_.assign(static_cast<std::size_t>(std::max(kMinSweep, 2 * facts.l3.bytes)), 1);
  pin_threads(options_.threads);
}

MachineFacts CpuMachine::facts() const {
  const HostFacts host = read_host_facts();
  MachineFacts facts;
  facts.device = options_.device.empty() ? device_name(host.name) : options_.device;
  std::string flags;
  for (const char* flag : {"avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "sve"}) {
    if (host.flags.count(flag) > 0) flags += std::string(" ") + flag;
  }
  facts.machine = host.name + " (" + architecture_of(host) + "), " + std::to_string(host.cores) +
                  " cores," + flags + ", frequency governor " + frequency_governor();
  facts.software = library_version();
  return facts;
}

CheckOutcome CpuMachine::check(const MeasureTask& task) {
  omp_set_num_threads(1);
  const std::unique_ptr<CpuWork> work = prepare_work(task);
  CheckOutcome outcome;
  outcome.error = work->error();
  outcome.detail = "a result is " + std::to_string(outcome.error) +
                   " times as far from the reference as rounding explains";
  return outcome;
}

void CpuMachine::sweep_caches() {
  char* data = sweep_.data();
  const auto size = static_cast<std::int64_t>(sweep_.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < size; i += 64) data[i] = static_cast<char>(data[i] + 1);
}

std::vector<double> CpuMachine::samples(const MeasureTask& task, CpuWork& work) {
  RepeatOptions repeat;
  repeat.repeats = options_.repeats;
  double calls = 1;
  if (task.state("cache") == "cold") {
    repeat.least_seconds = 1e-9;  // one call in each repeat
    const auto once = [&] {
      sweep_caches();
      const auto start = Clock::now();
      work.run();
      return seconds_since(start);
    };
    return repeat_timed("point", once, repeat);
  }
  const auto start = Clock::now();
  work.run();
  calls = std::max(1.0, std::ceil(kBatchSeconds / std::max(1e-9, seconds_since(start))));
  repeat.least_seconds = kRepeatSeconds;
  const auto batch = [&] {
    const auto begin = Clock::now();
    for (double call = 0; call < calls; ++call) work.run();
    return seconds_since(begin);
  };
  std::vector<double> times = repeat_timed("point", batch, repeat);
  for (double& time : times) time /= calls;
  return times;
}

TimedTask CpuMachine::time(const MeasureTask& task) {
  pin_threads(static_cast<int>(written_number(task.state("threads"))));
  const std::unique_ptr<CpuWork> work = prepare_work(task);
  for (int i = 0; i < 3; ++i) work->run();
  double foreign = 0;
  for (int attempt = 0; attempt < options_.patience; ++attempt) {
    const LoadWatch watch;
    const PackageEnergy energy;
    const auto begin = Clock::now();
    std::vector<double> times = samples(task, *work);
    // What is shorter than the kernel's clock of loads goes on until that says something.
    while (watch.elapsed_ticks() < kMinTicks) work->run();
    foreign = watch.foreign();
    const std::optional<double> joules = energy.joules();
    const double seconds_of_all = seconds_since(begin);
    if (foreign > options_.most_foreign) {
      // Others may be gone at once; if not, they are left some time.
      if (attempt >= kAtOnce) std::this_thread::sleep_for(std::chrono::milliseconds(500));
      continue;
    }
    TimedTask timed;
    for (const double seconds : times) timed.samples_us.push_back(seconds * 1e6);
    timed.readings = {{"clock_mhz", measured_clock_mhz()},
                      {"foreign_load", foreign},
                      {"load_average", load_average()}};
    if (joules) timed.readings["power_w"] = *joules / seconds_of_all;  // of the packages
    return timed;
  }
  throw UserError(std::to_string(static_cast<int>(100 * foreign)) +
                  " % of the processors work for others, and have for " +
                  std::to_string(options_.patience) + " attempts at " + task_text(task) +
                  "; stop what else runs and start again: the measurement goes on where it is");
}

}  // namespace foretell

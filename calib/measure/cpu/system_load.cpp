#include "calib/measure/cpu/system_load.hpp"

#include <sys/times.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"

namespace foretell {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

double own_ticks() {
  tms used{};
  times(&used);
  return static_cast<double>(used.tms_utime + used.tms_stime);
}

}  // namespace

ProcessorTimes parse_processor_times(const std::string& stat) {
  std::istringstream stream(stat);
  std::string name;
  stream >> name;
  if (name != "cpu") throw UserError("/proc/stat does not begin with the times of all processors");
  // user nice system idle iowait irq softirq steal
  double value = 0;
  ProcessorTimes sum;
  int column = 0;
  for (; column < 8 && stream >> value; ++column) {
    sum.all += value;
    if (column != 3 && column != 4) sum.busy += value;
  }
  if (column < 4) throw UserError("/proc/stat lacks the idle time");
  return sum;
}

double foreign_share(const ProcessorTimes& before, const ProcessorTimes& after, double own) {
  const double all = after.all - before.all;
  if (!(all > 0)) return 0;
  return std::clamp((after.busy - before.busy - own) / all, 0.0, 1.0);
}

LoadWatch::LoadWatch()
    : before_(parse_processor_times(first_line("/proc/stat"))), own_before_(own_ticks()) {}

double LoadWatch::foreign() const {
  return foreign_share(before_, parse_processor_times(first_line("/proc/stat")),
                       own_ticks() - own_before_);
}

double LoadWatch::elapsed_ticks() const {
  return parse_processor_times(first_line("/proc/stat")).all - before_.all;
}

std::optional<double> measured_clock_mhz() {
#if defined(__x86_64__) || defined(__aarch64__)
  constexpr int kTurns = 2000;
  constexpr double kAdds = 100;
  unsigned long value = 0;
  const unsigned long step = 1;  // in a register: some processors add constants while they rename
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTurns; ++i) {
#if defined(__x86_64__)
    __asm__ volatile(".rept 100\n\tadd %1, %0\n\t.endr" : "+r"(value) : "r"(step));
#else
    __asm__ volatile(".rept 100\n\tadd %0, %0, %1\n\t.endr" : "+r"(value) : "r"(step));
#endif
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return kTurns * kAdds / time.count() * 1e-6;
#else
  return std::nullopt;
#endif
}

std::string frequency_governor() {
  const std::string name = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return name.empty() ? "not visible" : name;
}

double load_average() {
  const double processors = std::max(1.0, static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
  return leading_number(first_line("/proc/loadavg")).value / processors;
}

}  // namespace foretell

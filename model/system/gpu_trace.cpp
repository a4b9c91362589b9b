#include "model/system/gpu_trace.hpp"

#include <fmt/format.h>

#include <map>
#include <ostream>

#include "model/base/errors.hpp"
#include "model/system/trace_text.hpp"

namespace foretell {
namespace {

constexpr double kMicroseconds = 1e6;
constexpr double kGiga = 1e-9;

std::string name_event(const char* what, int thread, const std::string& name) {
  return fmt::format(R"({{"ph":"M","pid":0,"tid":{},"name":"{}","args":{{"name":{}}}}})", thread,
                     what, quoted(name));
}

std::string link_event(Seconds at, double rate) {
  return fmt::format(
      R"({{"ph":"C","pid":0,"ts":{:.6f},"name":"links, sent","args":{{"GB/s":{:.3f}}}}})",
      at.value() * kMicroseconds, rate * kGiga);
}

}  // namespace

void write_gpu_trace(std::ostream& out, const std::string& gpu,
                     const std::vector<KernelRun>& kernels) {
  std::map<std::string, int> threads;
  for (const KernelRun& run : kernels) {
    threads.try_emplace(run.engine, static_cast<int>(threads.size()));
  }
  out << R"({"displayTimeUnit":"ns","traceEvents":[)" << '\n' << name_event("process_name", 0, gpu);
  for (const auto& [engine, thread] : threads) {
    out << ",\n" << name_event("thread_name", thread, engine);
  }
  for (const KernelRun& run : kernels) {
    out << ",\n"
        << fmt::format(
               R"({{"ph":"X","pid":0,"tid":{},"ts":{:.6f},"dur":{:.6f},"name":{},"args":{{"operator":{}}}}})",
               threads.at(run.engine), run.start.value() * kMicroseconds,
               run.duration.value() * kMicroseconds, quoted(run.kernel), quoted(run.op));
    if (!(run.link > Bytes(0))) continue;
    out << ",\n" << link_event(run.start, (run.link / run.duration).value());
    out << ",\n" << link_event(run.start + run.duration, 0);
  }
  out << "\n]}\n";
  out.flush();
  if (!out) throw UserError("the timeline cannot be written; is the disk full?");
}

}  // namespace foretell

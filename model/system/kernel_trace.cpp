#include "model/system/kernel_trace.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "model/base/errors.hpp"
#include "model/base/replaced_file.hpp"
#include "model/system/trace_events.hpp"

namespace foretell {
namespace {

Picoseconds picoseconds_of(Seconds time) {
  constexpr double kPerSecond = 1e12;
  return std::llround(time.value() * kPerSecond);
}

class KernelTraceWriter {
 public:
  KernelTraceWriter(TraceEvents& events, const KernelTraceWords& words)
      : events_(events), words_(words) {}

  void write(const KernelCall& call) {
    ++process_;
    kernels_ = &call.kernels;
    events_.name_process(process_,
                         call.name.empty() ? words_.device : call.name + ": " + words_.device);
    name_threads();
    for (std::size_t index = 0; index < call.kernels.size(); ++index) write_kernel(index);
    write_counters();
    if (!call.kernels.empty()) begin_ += end_of(call.kernels.back());
  }

 private:
  static Picoseconds start_of(const KernelRun& run) { return picoseconds_of(run.start); }
  static Picoseconds work_of(const KernelRun& run) {
    return picoseconds_of(run.start + run.launch);
  }
  static Picoseconds end_of(const KernelRun& run) {
    return picoseconds_of(run.start + run.duration);
  }

  void name_threads() {
    engines_.clear();
    for (const KernelRun& run : *kernels_) {
      if (std::find(engines_.begin(), engines_.end(), run.engine) == engines_.end())
        engines_.push_back(run.engine);
    }
    const bool launches = std::any_of(kernels_->begin(), kernels_->end(), [](const KernelRun& run) {
      return work_of(run) > start_of(run);
    });
    if (launches) events_.name_thread({process_, kLaunchThread}, words_.launch);
    for (const std::string& engine : engines_) events_.name_thread(thread_of(engine), engine);
  }

  TraceThread thread_of(const std::string& engine) const {
    const auto found = std::find(engines_.begin(), engines_.end(), engine);
    return {process_, kLaunchThread + 1 + static_cast<std::size_t>(found - engines_.begin())};
  }

  void write_kernel(std::size_t index) {
    const KernelRun& run = (*kernels_)[index];
    const std::string op = R"("operator":)" + quoted(run.op);
    const TraceThread thread = thread_of(run.engine);
    if (work_of(run) > start_of(run)) {
      const TraceThread launch{process_, kLaunchThread};
      events_.slice(launch, begin_ + start_of(run), begin_ + work_of(run),
                    {words_.launch + " " + run.kernel, "launch", op});
      events_.arrow("launched", launch, begin_ + start_of(run), thread, begin_ + work_of(run));
    }
    events_.slice(thread, begin_ + work_of(run), begin_ + end_of(run),
                  {run.kernel, "kernel",
                   op + fmt::format(R"(,"dram_bytes":{:.0f},"l2_bytes":{:.0f},"link_bytes":{:.0f})",
                                    run.dram.value(), run.l2.value(), run.link.value())});
    for (const std::size_t source : run.reads) {
      const KernelRun& from = (*kernels_)[source];
      events_.arrow("reads", thread_of(from.engine), begin_ + work_of(from), thread,
                    begin_ + work_of(run));
    }
  }

  void write_counter(const std::string& name, const char* series, Bytes KernelRun::*bytes) {
    CounterChanges<1> changes;
    for (const KernelRun& run : *kernels_)
      add_rate(changes, 0, work_of(run), end_of(run), (run.*bytes).value());
    events_.counter<1>(process_, name, {series}, changes, kGigabytesPerSecond, begin_);
  }

  void write_counters() {
    write_counter("DRAM GB/s", "moved", &KernelRun::dram);
    write_counter("L2 GB/s", "moved", &KernelRun::l2);
    write_counter("links GB/s", "sent", &KernelRun::link);
  }

  static constexpr std::size_t kLaunchThread = 1;
  TraceEvents& events_;
  const KernelTraceWords& words_;
  std::size_t process_ = 0;
  Picoseconds begin_ = 0;  // of the call
  const std::vector<KernelRun>* kernels_ = nullptr;
  std::vector<std::string> engines_;  // by thread
};

}  // namespace

void write_kernel_trace(std::ostream& out, const KernelTraceWords& words,
                        const std::vector<KernelCall>& calls) {
  TraceEvents events(out, R"("device":)" + quoted(words.device));
  KernelTraceWriter writer(events, words);
  for (const KernelCall& call : calls) writer.write(call);
  events.finish();
}

void write_kernel_trace_file(const std::string& path, const KernelTraceWords& words,
                             const std::vector<KernelCall>& calls) {
  if (path.empty()) return;
  ReplacedFile whole(path);
  std::ofstream file(whole.writing_to(), std::ios::binary);
  if (file) write_kernel_trace(file, words, calls);
  file.close();
  if (!file || !whole.commit())
    throw UserError(path + ": the timeline cannot be written; is the disk full?");
}

}  // namespace foretell

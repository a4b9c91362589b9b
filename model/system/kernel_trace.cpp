#include "model/system/kernel_trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>

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
    assign_lanes();
    events_.name_process(process_,
                         call.name.empty() ? words_.device : call.name + ": " + words_.device);
    name_threads();
    for (std::size_t index = 0; index < call.kernels.size(); ++index) write_kernel(index);
    write_counters();
    Picoseconds end = 0;
    for (const KernelRun& run : call.kernels) end = std::max(end, end_of(run));
    begin_ += end;
  }

 private:
  static Picoseconds start_of(const KernelRun& run) { return picoseconds_of(run.start); }
  static Picoseconds work_of(const KernelRun& run) {
    return picoseconds_of(run.start + run.launch);
  }
  static Picoseconds end_of(const KernelRun& run) {
    return picoseconds_of(run.start + run.duration);
  }

  // Kernels of one engine that run at the same time, of several streams, are on lanes of their own;
  // so are launches.
  void assign_lanes() {
    lanes_.clear();
    threads_.clear();
    std::map<std::string, TraceLanes> lanes;  // by engine
    const auto lane_of = [&](const std::string& engine, Picoseconds begin, Picoseconds end) {
      const std::size_t lane = lanes[engine].place(begin, end);
      return lane == 0 ? engine : fmt::format("{} ({})", engine, lane + 1);
    };
    for (const KernelRun& run : *kernels_) {
      const bool launches = work_of(run) > start_of(run);
      lanes_.push_back({launches ? lane_of(words_.launch, start_of(run), work_of(run)) : "",
                        lane_of(run.engine, work_of(run), end_of(run))});
    }
  }

  void name_threads() {
    const auto add = [&](const std::string& thread) {
      if (thread.empty() || std::find(threads_.begin(), threads_.end(), thread) != threads_.end())
        return;
      threads_.push_back(thread);
    };
    for (const Lanes& lanes : lanes_) add(lanes.launch);
    for (const Lanes& lanes : lanes_) add(lanes.work);
    if (threads_.empty() || threads_.front() != words_.launch) {
      threads_.insert(threads_.begin(), "");  // numbers stay the same without launches
    }
    for (const std::string& thread : threads_) {
      if (!thread.empty()) events_.name_thread(thread_of(thread), thread);
    }
  }

  TraceThread thread_of(const std::string& thread) const {
    const auto found = std::find(threads_.begin(), threads_.end(), thread);
    return {process_, kFirstThread + static_cast<std::size_t>(found - threads_.begin())};
  }

  void write_kernel(std::size_t index) {
    const KernelRun& run = (*kernels_)[index];
    std::string op = R"("operator":)" + quoted(run.op);
    if (!run.stream.empty()) op += R"(,"stream":)" + quoted(run.stream);
    const TraceThread thread = thread_of(lanes_[index].work);
    if (work_of(run) > start_of(run)) {
      const TraceThread launch = thread_of(lanes_[index].launch);
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
      events_.arrow("reads", thread_of(lanes_[source].work), begin_ + work_of(from), thread,
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
    write_power();
  }

  // The power of the board: kernels that run at the same time add up.
  void write_power() {
    if (kernels_->empty() || !(kernels_->front().idle_power > Watts(0))) return;
    CounterChanges<1> changes;
    Picoseconds end = 0;
    for (const KernelRun& run : *kernels_) {
      end = std::max(end, end_of(run));
      if (end_of(run) <= work_of(run)) continue;
      changes[work_of(run)][0] += run.power.value();
      changes[end_of(run)][0] -= run.power.value();
    }
    changes[0][0] += kernels_->front().idle_power.value();
    changes[end][0] -= kernels_->front().idle_power.value();  // counters end at zero
    events_.counter<1>(process_, "board W", {"drawn"}, changes, 1, begin_);
  }

  struct Lanes {
    std::string launch;  // empty: it has none
    std::string work;
  };

  static constexpr std::size_t kFirstThread = 1;
  TraceEvents& events_;
  const KernelTraceWords& words_;
  std::size_t process_ = 0;
  Picoseconds begin_ = 0;  // of the call
  const std::vector<KernelRun>* kernels_ = nullptr;
  std::vector<Lanes> lanes_;          // of each kernel
  std::vector<std::string> threads_;  // by number
};

}  // namespace

void write_kernel_trace(std::ostream& out, const KernelTraceWords& words,
                        const std::vector<KernelCall>& calls) {
  TraceEvents events(out, R"("device":)" + quoted(words.device));
  KernelTraceWriter writer(events, words);
  for (const KernelCall& call : calls) writer.write(call);
  events.finish();
}

}  // namespace foretell

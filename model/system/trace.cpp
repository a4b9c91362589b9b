#include "model/system/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr Ticks kTicksPerPicosecond = 1000;
constexpr double kGigabytesPerSecond = 1e3;  // per byte per picosecond
constexpr Ticks kPicosecondsPerMicrosecond = 1'000'000;

// A JSON string; bytes that are not UTF-8 are replaced.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Ticks picoseconds(Ticks ticks) { return ticks / kTicksPerPicosecond; }

// Microseconds with picoseconds behind the point, without rounding.
std::string microseconds(Ticks ps) {
  return fmt::format("{}.{:06}", ps / kPicosecondsPerMicrosecond, ps % kPicosecondsPerMicrosecond);
}

std::string_view name_of(TransferDirection direction) {
  switch (direction) {
    case TransferDirection::kLoad:
      return "load";
    case TransferDirection::kStore:
      return "store";
    case TransferDirection::kOnChip:
      return "copy";
  }
  throw InternalError(__FILE__, __LINE__, "a transfer direction without name");
}

class TraceWriter {
 public:
  TraceWriter(std::ostream& out, const Program& program, const ChipExecution& execution)
      : out_(out), program_(program), execution_(execution) {
    for (const std::string& name : program.operators) operators_.push_back(quoted(name));
  }

  void write() {
    out_ << R"({"displayTimeUnit":"ns","otherData":{"program":)" << quoted(program_.name)
         << R"(},"traceEvents":[)";
    for (std::size_t core = 0; core < execution_.cores.size(); ++core) {
      write_core(core);
      write_loaded(core);
      write_collective_rate(core);
    }
    write_chip();
    out_ << "\n]}\n";
    out_.flush();
    if (!out_) throw UserError("the trace cannot be written; is the disk full?");
  }

 private:
  // The threads of one queue: entries that overlap are on different ones.
  struct Lanes {
    std::vector<Ticks> free_at;     // per lane
    std::vector<std::size_t> lane;  // of each entry
  };

  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    out_ << (first_ ? "\n" : ",\n") << fmt::format(format, std::forward<Args>(args)...);
    first_ = false;
  }

  std::size_t queue_count() const { return program_.collective_queue() + 1; }

  std::string queue_name(std::size_t queue) const {
    if (queue < kEngineCount) return std::string(to_string(static_cast<Engine>(queue)));
    if (queue == program_.collective_queue()) return "collectives";
    return "dma " + program_.rings[queue - kEngineCount].name;
  }

  const std::vector<Execution>& executions(const CoreExecution& core, std::size_t queue) const {
    if (queue < kEngineCount) return core.engines[queue];
    return queue == program_.collective_queue() ? core.collectives
                                                : core.rings[queue - kEngineCount];
  }

  static Lanes assign_lanes(const std::vector<Execution>& entries) {
    Lanes lanes;
    for (const Execution& entry : entries) {
      const auto free = std::find_if(lanes.free_at.begin(), lanes.free_at.end(),
                                     [&](Ticks end) { return end <= entry.begin; });
      const auto lane = static_cast<std::size_t>(free - lanes.free_at.begin());
      if (free == lanes.free_at.end()) lanes.free_at.push_back(0);
      lanes.free_at[lane] = entry.end;
      lanes.lane.push_back(lane);
    }
    return lanes;
  }

  void write_core(std::size_t core) {
    lanes_.clear();
    first_thread_.clear();
    std::size_t thread = 1;
    for (std::size_t queue = 0; queue < queue_count(); ++queue) {
      lanes_.push_back(assign_lanes(executions(execution_.cores[core], queue)));
      first_thread_.push_back(thread);
      thread += lanes_.back().free_at.size();
    }
    write_names(core);
    for (std::size_t queue = 0; queue < queue_count(); ++queue) {
      const auto& entries = executions(execution_.cores[core], queue);
      for (std::size_t index = 0; index < entries.size(); ++index) {
        write_entry(core, queue, index, entries[index]);
        write_flow(core, queue, index, entries[index]);
      }
    }
  }

  void write_process(std::size_t process, const std::string& name) {
    event(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process,
          quoted(name));
    event(R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
          process);
  }

  void write_names(std::size_t core) {
    write_process(core, fmt::format("core {}", core));
    for (std::size_t queue = 0; queue < queue_count(); ++queue) {
      for (std::size_t lane = 0; lane < lanes_[queue].free_at.size(); ++lane) {
        const std::size_t thread = first_thread_[queue] + lane;
        event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", core,
              thread, quoted(queue_name(queue)));
        event(
            R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
            core, thread, thread);
      }
    }
  }

  std::size_t thread_of(std::size_t queue, std::size_t index) const {
    return first_thread_[queue] + lanes_[queue].lane[index];
  }

  // `,"operator":"…"`, or nothing for an entry that belongs to none.
  std::string operator_of(std::int32_t op) const {
    return op < 0 ? "" : ",\"operator\":" + operators_[static_cast<std::size_t>(op)];
  }

  // What an event shows about an entry; details are members of a JSON object.
  struct Label {
    std::string_view name;
    std::string_view category;
    std::string details;
  };

  Label label(std::size_t queue, std::size_t index) const {
    if (queue < kEngineCount) {
      const Instruction& i = program_.engines[queue][index];
      return {to_string(i.opcode), "instruction",
              fmt::format(R"("n":{},"partitions":{},"type":"{}"{})", i.n, i.partitions,
                          to_string(i.type), operator_of(i.op))};
    }
    if (queue == program_.collective_queue()) {
      const Collective& c = program_.collectives[index];
      return {to_string(c.kind), "collective",
              fmt::format(R"("bytes":{}{})", c.bytes, operator_of(c.op))};
    }
    const Transfer& t = program_.rings[queue - kEngineCount].transfers[index];
    return {name_of(t.direction), "transfer",
            fmt::format(R"("bytes":{},"descriptors":{},"descriptor_bytes":{}{})", t.bytes(),
                        t.descriptors, t.descriptor_bytes, operator_of(t.op))};
  }

  void write_entry(std::size_t core, std::size_t queue, std::size_t index, const Execution& entry) {
    const Ticks begin = picoseconds(entry.begin);
    const Ticks end = picoseconds(entry.end);
    const Label shown = label(queue, index);
    event(
        R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"index":{},{}}}}})",
        shown.name, shown.category, core, thread_of(queue, index), microseconds(begin),
        microseconds(end - begin), index, shown.details);
  }

  // An arrow from the entry whose end this one waited for; it is bound to that one's slice.
  void write_flow(std::size_t core, std::size_t queue, std::size_t index, const Execution& entry) {
    const EntryRef cause = entry.cause;
    if (cause.queue < 0 || static_cast<std::size_t>(cause.queue) == queue) return;
    const auto from = static_cast<std::size_t>(cause.queue);
    const Execution& source = execution_.cores[core].at(cause);
    ++flow_;
    event(R"({{"ph":"s","name":"waited for","cat":"wait","id":{},"pid":{},"tid":{},"ts":{}}})",
          flow_, core, thread_of(from, cause.index), microseconds(picoseconds(source.begin)));
    event(
        R"({{"ph":"f","bp":"e","name":"waited for","cat":"wait","id":{},"pid":{},"tid":{},"ts":{}}})",
        flow_, core, thread_of(queue, index), microseconds(picoseconds(entry.begin)));
  }

  void write_chip() {
    const std::size_t process = execution_.cores.size();
    write_process(process, "chip");
    event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":1,"args":{{"name":"host"}}}})",
          process);
    const Ticks overhead = picoseconds(execution_.call_begin);
    if (overhead > 0) {
      event(
          R"({{"ph":"X","name":"call overhead","cat":"host","pid":{},"tid":1,"ts":0.000000,"dur":{},"args":{{}}}})",
          process, microseconds(overhead));
    }
    write_memory_rate(process);
  }

  // Bytes that were loaded into SBUF for operators and are not used up: from the begin of their
  // transfer until the last instruction of their operator ends.
  void write_loaded(std::size_t core_number) {
    const CoreExecution& core = execution_.cores[core_number];
    std::vector<Ticks> used_until(operators_.size(), 0);
    for (std::size_t engine = 0; engine < kEngineCount; ++engine) {
      for (std::size_t index = 0; index < core.engines[engine].size(); ++index) {
        const std::int32_t op = program_.engines[engine][index].op;
        if (op < 0) continue;
        Ticks& until = used_until[static_cast<std::size_t>(op)];
        until = std::max(until, picoseconds(core.engines[engine][index].end));
      }
    }
    std::map<Ticks, double> changes;
    for (std::size_t ring = 0; ring < core.rings.size(); ++ring) {
      for (std::size_t index = 0; index < core.rings[ring].size(); ++index) {
        const Transfer& transfer = program_.rings[ring].transfers[index];
        if (transfer.direction != TransferDirection::kLoad || transfer.op < 0) continue;
        const Execution& entry = core.rings[ring][index];
        const auto bytes = static_cast<double>(transfer.bytes());
        const Ticks until =
            std::max(used_until[static_cast<std::size_t>(transfer.op)], picoseconds(entry.end));
        changes[picoseconds(entry.begin)] += bytes;
        changes[until] -= bytes;
      }
    }
    constexpr double kMebibyte = 1024.0 * 1024;
    write_counter("SBUF loaded MiB", "loaded", core_number, changes, 1 / kMebibyte);
  }

  // What collectives move, as their payload over their time.
  void write_collective_rate(std::size_t core_number) {
    const CoreExecution& core = execution_.cores[core_number];
    std::map<Ticks, double> changes;  // bytes per picosecond
    for (std::size_t index = 0; index < core.collectives.size(); ++index) {
      const Ticks begin = picoseconds(core.collectives[index].begin);
      const Ticks end = picoseconds(core.collectives[index].end);
      if (end <= begin) continue;
      const double rate =
          static_cast<double>(program_.collectives[index].bytes) / static_cast<double>(end - begin);
      changes[begin] += rate;
      changes[end] -= rate;
    }
    write_counter("links GB/s", "payload", core_number, changes, kGigabytesPerSecond);
  }

  void write_counter(std::string_view name, std::string_view series, std::size_t process,
                     const std::map<Ticks, double>& changes, double scale) {
    double now = 0;
    for (const auto& [time, change] : changes) {
      now += change;
      event(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"{}":{:.3f}}}}})", name, process,
            microseconds(time), series, std::max(0.0, now * scale));
    }
  }

  // Every transfer is taken to move its bytes evenly between its begin and its end.
  void write_memory_rate(std::size_t process) {
    struct Rates {
      double read = 0;  // bytes per picosecond
      double written = 0;
    };
    std::map<Ticks, Rates> changes;
    for (const CoreExecution& core : execution_.cores) {
      for (std::size_t r = 0; r < core.rings.size(); ++r) {
        for (std::size_t index = 0; index < core.rings[r].size(); ++index) {
          const Transfer& transfer = program_.rings[r].transfers[index];
          const Ticks begin = picoseconds(core.rings[r][index].begin);
          const Ticks end = picoseconds(core.rings[r][index].end);
          if (transfer.direction == TransferDirection::kOnChip || end <= begin) continue;
          const double rate =
              static_cast<double>(transfer.bytes()) / static_cast<double>(end - begin);
          const bool load = transfer.direction == TransferDirection::kLoad;
          (load ? changes[begin].read : changes[begin].written) += rate;
          (load ? changes[end].read : changes[end].written) -= rate;
        }
      }
    }
    Rates now;
    for (const auto& [time, change] : changes) {
      now.read += change.read;
      now.written += change.written;
      // What is left of zero after adding and subtracting is rounding.
      event(
          R"({{"ph":"C","name":"HBM GB/s","pid":{},"ts":{},"args":{{"read":{:.3f},"written":{:.3f}}}}})",
          process, microseconds(time), std::max(0.0, now.read * kGigabytesPerSecond),
          std::max(0.0, now.written * kGigabytesPerSecond));
    }
  }

  std::ostream& out_;
  const Program& program_;
  const ChipExecution& execution_;
  std::vector<std::string> operators_;  // quoted
  bool first_ = true;
  std::uint64_t flow_ = 0;
  std::vector<Lanes> lanes_;               // of the core being written, per queue
  std::vector<std::size_t> first_thread_;  // per queue
};

}  // namespace

void write_trace(std::ostream& out, const Program& program, const ChipExecution& execution) {
  TraceWriter(out, program, execution).write();
}

}  // namespace foretell

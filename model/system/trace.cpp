#include "model/system/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/program/program_builder.hpp"
#include "model/system/trace_text.hpp"

namespace foretell {
namespace {

constexpr Ticks kTicksPerPicosecond = 1000;
constexpr double kGigabytesPerSecond = 1e3;  // per byte per picosecond
constexpr double kMebibyte = 1024.0 * 1024;
constexpr Ticks kPicosecondsPerMicrosecond = 1'000'000;

// A JSON string; bytes that are not UTF-8 are replaced.
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

// Where the events of one call stand among those of the others.
struct TracePlace {
  std::size_t process = 0;  // the first one
  std::uint64_t flow = 0;   // the last arrow
  Ticks begin = 0;          // ps
  bool first = true;        // no event has been written
};

class TraceWriter {
 public:
  TraceWriter(std::ostream& out, const TracedCall& call, TracePlace& place)
      : out_(out), call_(call), program_(call.program), execution_(call.execution), place_(place) {
    for (const std::string& name : program_.operators) operators_.push_back(quoted(name));
  }

  void write() {
    for (std::size_t core = 0; core < execution_.cores.size(); ++core) {
      write_core(core);
      write_sbuf(core);
      write_collective_rate(core);
    }
    write_chip();
    write_links();
    place_.process += execution_.cores.size() + 1;
    place_.begin += picoseconds(execution_.end);
  }

 private:
  // The threads of one queue: entries that overlap are on different ones.
  struct Lanes {
    std::vector<Ticks> free_at;     // per lane
    std::vector<std::size_t> lane;  // of each entry
  };

  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    out_ << (place_.first ? "\n" : ",\n") << fmt::format(format, std::forward<Args>(args)...);
    place_.first = false;
  }

  // Of a time within the call, since the first call.
  std::string at(Ticks ps) const { return microseconds(place_.begin + ps); }

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

  void write_process(std::size_t process, const std::string& what) {
    const std::string name = call_.name.empty() ? what : call_.name + ": " + what;
    event(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process,
          quoted(name));
    event(R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
          process);
  }

  void write_names(std::size_t core) {
    write_process(place_.process + core, fmt::format("core {}", core));
    for (std::size_t queue = 0; queue < queue_count(); ++queue) {
      for (std::size_t lane = 0; lane < lanes_[queue].free_at.size(); ++lane) {
        const std::size_t thread = first_thread_[queue] + lane;
        event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
              place_.process + core, thread, quoted(queue_name(queue)));
        event(
            R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
            place_.process + core, thread, thread);
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
        shown.name, shown.category, place_.process + core, thread_of(queue, index), at(begin),
        microseconds(end - begin), index, shown.details);
  }

  // An arrow from the entry whose end this one waited for; it is bound to that one's slice.
  void write_flow(std::size_t core, std::size_t queue, std::size_t index, const Execution& entry) {
    const EntryRef cause = entry.cause;
    if (cause.queue < 0 || static_cast<std::size_t>(cause.queue) == queue) return;
    const auto from = static_cast<std::size_t>(cause.queue);
    const Execution& source = execution_.cores[core].at(cause);
    const std::size_t process = place_.process + core;
    ++place_.flow;
    event(R"({{"ph":"s","name":"waited for","cat":"wait","id":{},"pid":{},"tid":{},"ts":{}}})",
          place_.flow, process, thread_of(from, cause.index), at(picoseconds(source.begin)));
    event(
        R"({{"ph":"f","bp":"e","name":"waited for","cat":"wait","id":{},"pid":{},"tid":{},"ts":{}}})",
        place_.flow, process, thread_of(queue, index), at(picoseconds(entry.begin)));
  }

  void write_chip() {
    const std::size_t process = chip_process();
    write_process(process, "chip");
    event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":1,"args":{{"name":"host"}}}})",
          process);
    const Ticks overhead = picoseconds(execution_.call_begin);
    if (overhead > 0) {
      event(
          R"({{"ph":"X","name":"call overhead","cat":"host","pid":{},"tid":1,"ts":{},"dur":{},"args":{{}}}})",
          process, at(0), microseconds(overhead));
    }
    write_memory_rate(process);
  }

  // Bytes that were loaded into SBUF and are not used up: from the begin of their transfer until
  // their last use where mapping says it, else until the last instruction of their operator ends.
  // Activations: as mapping left them.
  void write_sbuf(std::size_t core_number) {
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
    constexpr auto kWeightRing = static_cast<std::size_t>(Ring::kWeights);
    const std::vector<QueueLengths>& weights_until = call_.details.occupancy.weights_until;
    std::map<Ticks, std::array<double, 2>> changes;
    for (std::size_t ring = 0; ring < core.rings.size(); ++ring) {
      for (std::size_t index = 0; index < core.rings[ring].size(); ++index) {
        const Transfer& transfer = program_.rings[ring].transfers[index];
        if (transfer.direction != TransferDirection::kLoad || transfer.op < 0) continue;
        const Execution& entry = core.rings[ring][index];
        const auto bytes = static_cast<double>(transfer.bytes());
        const Ticks until = std::max(picoseconds(entry.end),
                                     ring == kWeightRing && index < weights_until.size()
                                         ? kept_until(core, weights_until[index])
                                         : used_until[static_cast<std::size_t>(transfer.op)]);
        changes[picoseconds(entry.begin)][0] += bytes;
        changes[until][0] -= bytes;
      }
    }
    for (const Occupant& occupant : call_.details.occupancy.activations) {
      const auto [begin, end] = stay_of(core, occupant);
      if (end <= begin) continue;
      changes[begin][1] += static_cast<double>(occupant.bytes);
      changes[end][1] -= static_cast<double>(occupant.bytes);
    }
    write_counter("SBUF MiB", {"loaded", "activations"}, place_.process + core_number, changes,
                  1 / kMebibyte);
  }

  static Ticks kept_until(const CoreExecution& core, const QueueLengths& until) {
    Ticks end = 0;
    for (std::size_t engine = 0; engine < kEngineCount; ++engine) {
      if (until[engine] > 0)
        end = std::max(end, picoseconds(core.engines[engine][until[engine] - 1].end));
    }
    return end > 0 ? end : picoseconds(core.end);
  }

  // From when until when, in ps.
  static std::pair<Ticks, Ticks> stay_of(const CoreExecution& core, const Occupant& occupant) {
    Ticks begin = std::numeric_limits<Ticks>::max();
    Ticks end = 0;
    for (std::size_t engine = 0; engine < kEngineCount; ++engine) {
      const std::size_t from = occupant.from[engine];
      const std::size_t until = occupant.until[engine];
      if (from >= until) continue;  // the queue had nothing to do meanwhile
      begin = std::min(begin, picoseconds(core.engines[engine][from].begin));
      end = std::max(end, picoseconds(core.engines[engine][until - 1].end));
    }
    return {begin, end};
  }

  // What collectives move, as their payload over their time.
  void write_collective_rate(std::size_t core_number) {
    const CoreExecution& core = execution_.cores[core_number];
    std::map<Ticks, std::array<double, 1>> changes;  // bytes per picosecond
    for (std::size_t index = 0; index < core.collectives.size(); ++index) {
      add_rate(core.collectives[index], static_cast<double>(program_.collectives[index].bytes),
               &changes);
    }
    write_counter("collectives GB/s", {"payload"}, place_.process + core_number, changes,
                  kGigabytesPerSecond);
  }

  // What the collectives of the first core, which are those of all, take of each link.
  void write_links() {
    if (call_.details.links.empty()) return;
    const CoreExecution& core = execution_.cores.front();
    std::map<std::pair<int, int>, std::map<Ticks, std::array<double, 1>>> links;
    for (std::size_t index = 0; index < core.collectives.size(); ++index) {
      const Collective& collective = program_.collectives[index];
      const auto traffic = call_.details.links.find({collective.kind, collective.bytes});
      if (traffic == call_.details.links.end()) continue;
      for (const LinkTraffic& link : traffic->second) {
        if (link.bytes == 0) continue;
        add_rate(core.collectives[index], static_cast<double>(link.bytes),
                 &links[{link.from, link.to}]);
      }
    }
    for (const auto& [ends, changes] : links) {
      write_counter(fmt::format("link {} to {} GB/s", ends.first, ends.second), {"carried"},
                    chip_process(), changes, kGigabytesPerSecond);
    }
  }

  std::size_t chip_process() const { return place_.process + execution_.cores.size(); }

  // Bytes spread evenly over an entry.
  static void add_rate(const Execution& entry, double bytes,
                       std::map<Ticks, std::array<double, 1>>* changes) {
    const Ticks begin = picoseconds(entry.begin);
    const Ticks end = picoseconds(entry.end);
    if (end <= begin) return;
    const double rate = bytes / static_cast<double>(end - begin);
    (*changes)[begin][0] += rate;
    (*changes)[end][0] -= rate;
  }

  // What is left of zero after adding and subtracting is rounding.
  template <std::size_t N>
  void write_counter(const std::string& name, const std::array<const char*, N>& series,
                     std::size_t process, const std::map<Ticks, std::array<double, N>>& changes,
                     double scale) {
    std::array<double, N> now{};
    for (const auto& [time, change] : changes) {
      std::string values;
      for (std::size_t i = 0; i < N; ++i) {
        now[i] += change[i];
        values += fmt::format(R"({}"{}":{:.3f})", i == 0 ? "" : ",", series[i],
                              std::max(0.0, now[i] * scale));
      }
      event(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{{}}}}})", name, process, at(time),
            values);
    }
  }

  // Every transfer is taken to move its bytes evenly between its begin and its end.
  void write_memory_rate(std::size_t process) {
    std::map<Ticks, std::array<double, 2>> changes;  // bytes per picosecond
    for (const CoreExecution& core : execution_.cores) {
      for (std::size_t r = 0; r < core.rings.size(); ++r) {
        for (std::size_t index = 0; index < core.rings[r].size(); ++index) {
          const Transfer& transfer = program_.rings[r].transfers[index];
          const Ticks begin = picoseconds(core.rings[r][index].begin);
          const Ticks end = picoseconds(core.rings[r][index].end);
          if (transfer.direction == TransferDirection::kOnChip || end <= begin) continue;
          const double rate =
              static_cast<double>(transfer.bytes()) / static_cast<double>(end - begin);
          const std::size_t way = transfer.direction == TransferDirection::kLoad ? 0 : 1;
          changes[begin][way] += rate;
          changes[end][way] -= rate;
        }
      }
    }
    write_counter("HBM GB/s", {"read", "written"}, process, changes, kGigabytesPerSecond);
  }

  std::ostream& out_;
  const TracedCall& call_;
  const Program& program_;
  const ChipExecution& execution_;
  TracePlace& place_;
  std::vector<std::string> operators_;     // quoted
  std::vector<Lanes> lanes_;               // of the core being written, per queue
  std::vector<std::size_t> first_thread_;  // per queue
};

}  // namespace

void write_trace(std::ostream& out, const std::vector<TracedCall>& calls) {
  FORETELL_CHECK(!calls.empty(), "a timeline of nothing");
  out << R"({"displayTimeUnit":"ns","otherData":{"program":)" << quoted(calls.front().program.name)
      << R"(},"traceEvents":[)";
  TracePlace place;
  for (const TracedCall& call : calls) TraceWriter(out, call, place).write();
  out << "\n]}\n";
  out.flush();
  if (!out) throw UserError("the trace cannot be written; is the disk full?");
}

}  // namespace foretell

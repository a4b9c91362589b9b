#include "model/system/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/program/program_builder.hpp"
#include "model/system/trace_events.hpp"

namespace foretell {
namespace {

constexpr Ticks kTicksPerPicosecond = 1000;
constexpr double kPicosecondsPerSecond = 1e12;
constexpr double kMebibyte = 1024.0 * 1024;

Picoseconds picoseconds(Ticks ticks) { return ticks / kTicksPerPicosecond; }

// Where the events of one call stand among those of the others.
struct TracePlace {
  std::size_t process = 1;  // the first one
  Picoseconds begin = 0;
};

class TraceWriter {
 public:
  TraceWriter(TraceEvents& events, const TracedCall& call, TracePlace& place)
      : events_(events),
        call_(call),
        program_(call.program),
        execution_(call.execution),
        place_(place) {
    for (const std::string& name : program_.operators) operators_.push_back(quoted(name));
  }

  void write() {
    for (std::size_t core = 0; core < execution_.cores.size(); ++core) {
      write_core(core);
      if (has_engines()) write_sbuf(core);
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
    TraceLanes all;
    std::vector<std::size_t> lane;  // of each entry
  };

  // A time within the call, counted since the first call.
  Picoseconds at(Ticks ticks) const { return place_.begin + picoseconds(ticks); }

  // The program is one of a NeuronCore.
  bool has_engines() const {
    const auto is_engine = [](const Stream& stream) {
      return stream.kind() == StreamKind::kInstructions;
    };
    return queue_count() >= kEngineCount &&
           std::all_of(program_.streams.begin(), program_.streams.begin() + kEngineCount,
                       is_engine);
  }

  std::size_t queue_count() const { return program_.streams.size(); }

  std::string queue_name(std::size_t queue) const {
    const Stream& stream = program_.streams[queue];
    return stream.kind() == StreamKind::kTransfers ? "dma " + stream.name : stream.name;
  }

  static Lanes assign_lanes(const std::vector<EntryTimes>& entries) {
    Lanes lanes;
    for (const EntryTimes& entry : entries)
      lanes.lane.push_back(lanes.all.place(entry.begin, entry.end));
    return lanes;
  }

  void write_core(std::size_t core) {
    lanes_.clear();
    first_thread_.clear();
    std::size_t thread = 1;
    for (std::size_t queue = 0; queue < queue_count(); ++queue) {
      lanes_.push_back(assign_lanes(execution_.cores[core].entries[queue]));
      first_thread_.push_back(thread);
      thread += lanes_.back().all.size();
    }
    write_names(core);
    for (std::size_t queue = 0; queue < queue_count(); ++queue) {
      const auto& entries = execution_.cores[core].entries[queue];
      for (std::size_t index = 0; index < entries.size(); ++index) {
        write_entry(core, queue, index, entries[index]);
        write_flow(core, queue, index, entries[index]);
      }
    }
  }

  void write_process(std::size_t process, const std::string& what) {
    events_.name_process(process, call_.name.empty() ? what : call_.name + ": " + what);
  }

  void write_names(std::size_t core) {
    write_process(place_.process + core, fmt::format("core {}", core));
    for (std::size_t queue = 0; queue < queue_count(); ++queue) {
      for (std::size_t lane = 0; lane < lanes_[queue].all.size(); ++lane) {
        events_.name_thread({place_.process + core, first_thread_[queue] + lane},
                            queue_name(queue));
      }
    }
  }

  TraceThread thread_of(std::size_t core, std::size_t queue, std::size_t index) const {
    return {place_.process + core, first_thread_[queue] + lanes_[queue].lane[index]};
  }

  // `,"operator":"…"`, or nothing for an entry that belongs to none.
  std::string operator_of(std::int32_t op) const {
    return op < 0 ? "" : ",\"operator\":" + operators_[static_cast<std::size_t>(op)];
  }

  TraceLabel label(std::size_t queue, std::size_t index) const {
    const StreamKind kind = program_.streams[queue].kind();
    if (kind == StreamKind::kInstructions) {
      const Instruction& i = program_.entries<Instruction>(queue)[index];
      return {std::string(to_string(i.opcode)), "instruction",
              fmt::format(R"("index":{},"n":{},"partitions":{},"type":"{}"{})", index, i.n,
                          i.partitions, to_string(i.type), operator_of(i.op))};
    }
    if (kind == StreamKind::kCollectives) {
      const Collective& c = program_.entries<Collective>(queue)[index];
      return {std::string(to_string(c.kind)), "collective",
              fmt::format(R"("index":{},"bytes":{}{})", index, c.bytes, operator_of(c.op))};
    }
    const Transfer& t = program_.entries<Transfer>(queue)[index];
    return {std::string(to_string(t.direction)), "transfer",
            fmt::format(R"("index":{},"bytes":{},"descriptors":{},"descriptor_bytes":{}{})", index,
                        t.bytes(), t.descriptors, t.descriptor_bytes, operator_of(t.op))};
  }

  void write_entry(std::size_t core, std::size_t queue, std::size_t index,
                   const EntryTimes& entry) {
    events_.slice(thread_of(core, queue, index), at(entry.begin), at(entry.end),
                  label(queue, index));
  }

  // From the entry whose end this one waited for.
  void write_flow(std::size_t core, std::size_t queue, std::size_t index, const EntryTimes& entry) {
    const EntryRef cause = entry.cause;
    if (cause.queue < 0 || static_cast<std::size_t>(cause.queue) == queue) return;
    const auto from = static_cast<std::size_t>(cause.queue);
    const EntryTimes& source = execution_.cores[core].at(cause);
    events_.arrow("waited for", thread_of(core, from, cause.index), at(source.begin),
                  thread_of(core, queue, index), at(entry.begin));
  }

  void write_chip() {
    write_process(chip_process(), "chip");
    const TraceThread host{chip_process(), 1};
    events_.name_thread(host, "host");
    if (picoseconds(execution_.call_begin) > 0)
      events_.slice(host, at(0), at(execution_.call_begin), {"call overhead", "host", ""});
    write_memory_rate();
    write_power();
  }

  // Bytes that were loaded into SBUF and are not used up: from the begin of their transfer until
  // their last use where mapping says it, else until the last instruction of their operator ends.
  // Activations: as mapping left them.
  void write_sbuf(std::size_t core_number) {
    const ProgramExecution& core = execution_.cores[core_number];
    std::vector<Ticks> used_until(operators_.size(), 0);
    for (std::size_t engine = 0; engine < kEngineCount; ++engine) {
      for (std::size_t index = 0; index < core.entries[engine].size(); ++index) {
        const std::int32_t op = program_.engine(engine)[index].op;
        if (op < 0) continue;
        Ticks& until = used_until[static_cast<std::size_t>(op)];
        until = std::max(until, picoseconds(core.entries[engine][index].end));
      }
    }
    constexpr auto kWeightRing = static_cast<std::size_t>(Ring::kWeights);
    const std::vector<QueueLengths>& weights_until = call_.details.occupancy.weights_until;
    CounterChanges<2> changes;
    for (std::size_t ring = 0; ring < program_.ring_count(); ++ring) {
      for (std::size_t index = 0; index < program_.ring(ring).size(); ++index) {
        const Transfer& transfer = program_.ring(ring)[index];
        if (transfer.direction != TransferDirection::kLoad || transfer.op < 0) continue;
        const EntryTimes& entry = core.entries[kEngineCount + ring][index];
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

  static Ticks kept_until(const ProgramExecution& core, const QueueLengths& until) {
    Ticks end = 0;
    for (std::size_t engine = 0; engine < kEngineCount; ++engine) {
      if (until[engine] > 0)
        end = std::max(end, picoseconds(core.entries[engine][until[engine] - 1].end));
    }
    return end > 0 ? end : picoseconds(core.end);
  }

  // From when until when, in ps.
  static std::pair<Ticks, Ticks> stay_of(const ProgramExecution& core, const Occupant& occupant) {
    Ticks begin = std::numeric_limits<Ticks>::max();
    Ticks end = 0;
    for (std::size_t engine = 0; engine < kEngineCount; ++engine) {
      const std::size_t from = occupant.from[engine];
      const std::size_t until = occupant.until[engine];
      if (from >= until) continue;  // the queue had nothing to do meanwhile
      begin = std::min(begin, picoseconds(core.entries[engine][from].begin));
      end = std::max(end, picoseconds(core.entries[engine][until - 1].end));
    }
    return {begin, end};
  }

  // What collectives move, as their payload over their time.
  void write_collective_rate(std::size_t core_number) {
    const ProgramExecution& core = execution_.cores[core_number];
    CounterChanges<1> changes;
    const std::vector<Collective>& collectives = program_.collectives();
    for (std::size_t index = 0; index < collectives.size(); ++index) {
      add_entry(collective_times(core)[index], collectives[index].bytes, changes);
    }
    write_counter("collectives GB/s", {"payload"}, place_.process + core_number, changes,
                  kGigabytesPerSecond);
  }

  // What the collectives of the first core, which are those of all, take of each link.
  void write_links() {
    if (call_.details.links.empty()) return;
    const ProgramExecution& core = execution_.cores.front();
    std::map<std::pair<int, int>, CounterChanges<1>> links;
    for (std::size_t index = 0; index < program_.collectives().size(); ++index) {
      const Collective& collective = program_.collectives()[index];
      const auto traffic = call_.details.links.find(collective);
      if (traffic == call_.details.links.end()) continue;
      for (const LinkTraffic& link : traffic->second) {
        if (link.bytes == 0) continue;
        add_entry(collective_times(core)[index], link.bytes, links[{link.from, link.to}]);
      }
    }
    for (const auto& [ends, changes] : links) {
      const auto place = [](int end) { return end < 0 ? "network" : std::to_string(end); };
      write_counter(fmt::format("link {} to {} GB/s", place(ends.first), place(ends.second)),
                    {"carried"}, chip_process(), changes, kGigabytesPerSecond);
    }
  }

  const std::vector<EntryTimes>& collective_times(const ProgramExecution& core) const {
    return core.entries[program_.collective_queue()];
  }

  std::size_t chip_process() const { return place_.process + execution_.cores.size(); }

  // Bytes spread evenly over an entry.
  static void add_entry(const EntryTimes& entry, std::uint64_t bytes, CounterChanges<1>& changes) {
    add_rate(changes, 0, picoseconds(entry.begin), picoseconds(entry.end),
             static_cast<double>(bytes));
  }

  template <std::size_t N>
  void write_counter(const std::string& name, const std::array<const char*, N>& series,
                     std::size_t process, const CounterChanges<N>& changes, double scale) {
    events_.counter(process, name, series, changes, scale, place_.begin);
  }

  // Means of windows of equal length: there are as many spans as entries.
  void write_power() {
    const TracePower& power = call_.details.power;
    const Picoseconds end = picoseconds(execution_.end);
    if (!(power.idle > Watts(0)) || end <= 0) return;
    const Picoseconds width = (end + kPowerWindows - 1) / kPowerWindows;
    std::vector<double> joules(static_cast<std::size_t>((end + width - 1) / width));
    const auto window_of = [&](Picoseconds time) {
      return std::clamp<Picoseconds>(time / width, 0, static_cast<Picoseconds>(joules.size()) - 1);
    };
    for (const PowerSpan& span : power.spans) {
      const Picoseconds from = picoseconds(span.begin);
      const Picoseconds until = picoseconds(span.end);
      for (Picoseconds at = window_of(from); at <= window_of(until); ++at) {
        const Picoseconds inside = std::min(until, (at + 1) * width) - std::max(from, at * width);
        const double share =
            until > from ? static_cast<double>(inside) / static_cast<double>(until - from) : 1;
        joules[static_cast<std::size_t>(at)] += span.energy.value() * share;
      }
    }
    CounterChanges<1> changes;
    double before = 0;
    for (std::size_t at = 0; at < joules.size(); ++at) {
      const Picoseconds begin = static_cast<Picoseconds>(at) * width;
      const Picoseconds length = std::min(width, end - begin);
      const double watts =
          power.idle.value() + joules[at] * kPicosecondsPerSecond / static_cast<double>(length);
      changes[begin][0] += watts - before;
      before = watts;
    }
    changes[end][0] -= before;  // counters end at zero
    write_counter("board W", {"drawn"}, chip_process(), changes, 1);
  }

  // Every transfer is taken to move its bytes evenly between its begin and its end, as far as the
  // memory can.
  void write_memory_rate() {
    CounterChanges<2> changes;
    for (const ProgramExecution& core : execution_.cores) {
      for (std::size_t s = 0; s < queue_count(); ++s) {
        if (program_.streams[s].kind() != StreamKind::kTransfers) continue;
        for (std::size_t index = 0; index < program_.streams[s].size(); ++index) {
          const Transfer& transfer = program_.entries<Transfer>(s)[index];
          const EntryTimes& entry = core.entries[s][index];
          if (transfer.direction == TransferDirection::kOnChip) continue;
          add_rate(changes, transfer.direction == TransferDirection::kLoad ? 0 : 1,
                   picoseconds(entry.begin), picoseconds(entry.end),
                   static_cast<double>(transfer.bytes()));
        }
      }
    }
    const double most = call_.details.memory_peak.value() / kPicosecondsPerSecond;
    write_counter("HBM GB/s", {"read", "written"}, chip_process(),
                  most > 0 ? served(changes, most) : changes, kGigabytesPerSecond);
  }

  TraceEvents& events_;
  const TracedCall& call_;
  const Program& program_;
  const Execution& execution_;
  TracePlace& place_;
  std::vector<std::string> operators_;     // quoted
  std::vector<Lanes> lanes_;               // of the core being written, per queue
  std::vector<std::size_t> first_thread_;  // per queue
};

}  // namespace

void write_trace(std::ostream& out, const std::vector<TracedCall>& calls) {
  FORETELL_CHECK(!calls.empty(), "a timeline of nothing");
  TraceEvents events(out, R"("program":)" + quoted(calls.front().program.name));
  TracePlace place;
  for (const TracedCall& call : calls) TraceWriter(events, call, place).write();
  events.finish();
}

}  // namespace foretell

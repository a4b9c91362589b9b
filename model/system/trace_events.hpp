// Events of the Chrome trace-event format, one per line of a JSON array, as Perfetto and
// chrome://tracing read them. Processes and threads count from 1: readers take 0 for the idle task.
// Times are picoseconds, written as microseconds without rounding.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

using Picoseconds = std::int64_t;

// As a JSON string; bytes that are not UTF-8 are replaced.
std::string quoted(const std::string& text);

// A row of slices.
struct TraceThread {
  std::size_t process = 1;
  std::size_t thread = 1;
};

// What an event shows; details are members of a JSON object, without braces.
struct TraceLabel {
  std::string name;
  std::string_view category;
  std::string details;
};

// By time: what is added to each series of a counter.
template <std::size_t N>
using CounterChanges = std::map<Picoseconds, std::array<double, N>>;

class TraceEvents {
 public:
  // `about`: members of a JSON object that say what the file is of.
  TraceEvents(std::ostream& out, const std::string& about);

  void name_process(std::size_t process, const std::string& name);  // shown in order of numbers
  void name_thread(TraceThread thread, const std::string& name);
  void slice(TraceThread thread, Picoseconds begin, Picoseconds end, const TraceLabel& label);
  // An arrow between the slices that stand there at these times.
  void arrow(std::string_view name, TraceThread from, Picoseconds from_time, TraceThread to,
             Picoseconds to_time);

  // The values that follow from the changes, times `scale`. What is left of zero after adding and
  // subtracting is rounding. `begin` is added to the times.
  template <std::size_t N>
  void counter(std::size_t process, const std::string& name,
               const std::array<const char*, N>& series, const CounterChanges<N>& changes,
               double scale, Picoseconds begin) {
    std::array<double, N> now{};
    for (const auto& [time, change] : changes) {
      std::string values;
      for (std::size_t i = 0; i < N; ++i) {
        now[i] += change[i];
        values += fmt::format(R"({}"{}":{:.3f})", i == 0 ? "" : ",", series[i],
                              std::max(0.0, now[i] * scale));
      }
      counter_event(process, name, begin + time, values);
    }
  }

  void finish();  // UserError when the stream has failed

 private:
  void event(const std::string& text);
  void counter_event(std::size_t process, const std::string& name, Picoseconds time,
                     const std::string& values);

  std::ostream& out_;
  bool first_ = true;
  std::uint64_t arrows_ = 0;
};

// Rows for slices of one thread some of which overlap: which row each of them goes to, given in the
// order in which they begin.
class TraceLanes {
 public:
  std::size_t place(std::int64_t begin, std::int64_t end) {
    const auto free = std::find_if(free_from_.begin(), free_from_.end(),
                                   [begin](std::int64_t from) { return from <= begin; });
    const auto lane = static_cast<std::size_t>(free - free_from_.begin());
    if (free == free_from_.end()) free_from_.push_back(0);
    free_from_[lane] = end;
    return lane;
  }
  std::size_t size() const { return free_from_.size(); }

 private:
  std::vector<std::int64_t> free_from_;
};

// Bytes spread evenly over a time, as bytes per picosecond; nothing when it has no length.
template <std::size_t N>
void add_rate(CounterChanges<N>& changes, std::size_t series, Picoseconds begin, Picoseconds end,
              double bytes) {
  if (end <= begin || bytes == 0) return;
  const double rate = bytes / static_cast<double>(end - begin);
  changes[begin][series] += rate;
  changes[end][series] -= rate;
}

// What a server of this rate gives of the rates in bytes per picosecond that were demanded: never
// more than that, and what it could not give follows as soon as it can, of each series in
// proportion.
CounterChanges<2> served(const CounterChanges<2>& demanded, double most);

inline constexpr double kGigabytesPerSecond = 1e3;  // per byte per picosecond

}  // namespace foretell

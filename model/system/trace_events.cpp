#include "model/system/trace_events.hpp"

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr Picoseconds kPerMicrosecond = 1'000'000;

std::string microseconds(Picoseconds ps) {
  return fmt::format("{}.{:06}", ps / kPerMicrosecond, ps % kPerMicrosecond);
}

}  // namespace

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

CounterChanges<2> served(const CounterChanges<2>& demanded, double most) {
  constexpr double kNothing = 1e-6;  // bytes, and of a rate: rounding
  CounterChanges<2> changes;
  std::array<double, 2> given{};    // bytes per picosecond
  std::array<double, 2> wanted{};   // the same
  std::array<double, 2> waiting{};  // bytes
  const auto give = [&](Picoseconds time, const std::array<double, 2>& rates) {
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (rates[i] != given[i]) changes[time][i] += rates[i] - given[i];
    }
    given = rates;
  };
  for (auto now = demanded.begin(); now != demanded.end(); ++now) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i] = std::max(0.0, wanted[i] + now->second[i]);
    const double all = wanted[0] + wanted[1];
    const double late = waiting[0] + waiting[1];
    const auto next = std::next(now);
    const bool is_last = next == demanded.end();
    const Picoseconds begin = now->first;
    Picoseconds length = is_last ? 0 : next->first - begin;
    if (all > most * (1 + kNothing)) {  // more than there is: the rest waits
      FORETELL_CHECK(!is_last, "demands end");
      give(begin, {wanted[0] * most / all, wanted[1] * most / all});
      for (std::size_t i = 0; i < wanted.size(); ++i)
        waiting[i] += (wanted[i] - given[i]) * static_cast<double>(length);
    } else if (late > kNothing && most > all * (1 + kNothing)) {
      const double spare = most - all;
      const auto needed = static_cast<Picoseconds>(std::ceil(late / spare));
      const bool enough = is_last || needed <= length;
      if (enough) length = needed;
      const double extra = late / static_cast<double>(needed);  // at most what is spare
      give(begin, {wanted[0] + extra * waiting[0] / late, wanted[1] + extra * waiting[1] / late});
      const double share = static_cast<double>(length) / static_cast<double>(needed);
      for (double& bytes : waiting) bytes *= enough ? 0 : 1 - share;
      if (enough) give(begin + length, wanted);
    } else {
      give(begin, wanted);
    }
  }
  return changes;
}

TraceEvents::TraceEvents(std::ostream& out, const std::string& about) : out_(out) {
  out_ << R"({"displayTimeUnit":"ns","otherData":{)" << about << R"(},"traceEvents":[)";
}

void TraceEvents::event(const std::string& text) {
  out_ << (first_ ? "\n" : ",\n") << text;
  first_ = false;
}

void TraceEvents::name_process(std::size_t process, const std::string& name) {
  event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process,
                    quoted(name)));
  event(fmt::format(
      R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
      process));
}

void TraceEvents::name_thread(TraceThread thread, const std::string& name) {
  event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                    thread.process, thread.thread, quoted(name)));
  event(fmt::format(
      R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
      thread.process, thread.thread, thread.thread));
}

void TraceEvents::slice(TraceThread thread, Picoseconds begin, Picoseconds end,
                        const TraceLabel& label) {
  event(fmt::format(
      R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
      quoted(label.name), label.category, thread.process, thread.thread, microseconds(begin),
      microseconds(end - begin), label.details));
}

void TraceEvents::arrow(std::string_view name, TraceThread from, Picoseconds from_time,
                        TraceThread to, Picoseconds to_time) {
  ++arrows_;
  event(fmt::format(R"({{"ph":"s","name":"{}","cat":"wait","id":{},"pid":{},"tid":{},"ts":{}}})",
                    name, arrows_, from.process, from.thread, microseconds(from_time)));
  event(fmt::format(
      R"({{"ph":"f","bp":"e","name":"{}","cat":"wait","id":{},"pid":{},"tid":{},"ts":{}}})", name,
      arrows_, to.process, to.thread, microseconds(to_time)));
}

void TraceEvents::counter_event(std::size_t process, const std::string& name, Picoseconds time,
                                const std::string& values) {
  event(fmt::format(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{{}}}}})", name, process,
                    microseconds(time), values));
}

void TraceEvents::finish() {
  out_ << "\n]}\n";
  out_.flush();
  if (!out_) throw UserError("the timeline cannot be written; is the disk full?");
}

}  // namespace foretell

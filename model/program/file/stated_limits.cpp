#include "model/program/file/stated_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

constexpr Seconds kLongest(100);
constexpr double kRounding = 1 + 1e-9;

Seconds time_at(Bytes bytes, BytesPerSecond rate) {
  return bytes > Bytes(0) ? bytes / rate : Seconds(0);
}

// One part after another, which is as long as an entry can take.
Seconds longest_time(const Grid& grid, const StatedLimits& limits) {
  Seconds sum = grid.launch + grid.memory_latency + grid.tail;
  const std::int64_t places = std::max(1, limits.sms) * std::int64_t{grid.ctas_per_sm};
  for (const CtaRun& run : grid.ctas) {
    const std::int64_t waves = run.count / places + (run.count % places > 0 ? 1 : 0);
    sum += static_cast<double>(waves) * run.duration;
  }
  return sum + time_at(grid.dram_bytes, grid.dram_rate) + time_at(grid.l2_bytes, grid.l2_rate);
}

Seconds longest_time(const Loop& loop, const StatedLimits& /*limits*/) {
  Seconds sum = loop.call + loop.fork_join;
  for (const CpuChunkRun& run : loop.chunks) {
    const std::int64_t turns = run.count / loop.threads + (run.count % loop.threads > 0 ? 1 : 0);
    sum +=
        static_cast<double>(turns) * (run.compute + run.feed + time_at(run.dram, loop.core_dram));
  }
  return sum + time_at(dram_of(loop), loop.dram);
}

Seconds longest_time(const Collective& collective, const StatedLimits& /*limits*/) {
  Seconds sum = collective.launch;
  for (const LinkRound& round : collective.exchange.rounds) {
    const Seconds once = round.latency + time_at(round.local, round.local_rate) +
                         time_at(round.links.bytes(), round.links.rate);
    sum += static_cast<double>(round.times) * once;
  }
  return sum;
}

Seconds longest_time(const HostCall& call, const StatedLimits& /*limits*/) { return call.time; }

class StatedCheck {
 public:
  StatedCheck(const Program& program, const StatedLimits& limits)
      : program_(program), limits_(limits) {}

  template <class Entry>
  void check(std::size_t stream, const std::vector<Entry>& entries) {
    stream_ = stream;
    for (index_ = 0; index_ < entries.size(); ++index_) {
      const Entry& entry = entries[index_];
      const Seconds time = longest_time(entry, limits_);
      check_entry(entry, time);
      all_ += time;
      if (!(all_ <= kLongest)) {
        refuse(
            fmt::format("the program lasts {} up to here, one entry after another; the most is "
                        "{}: state shorter times, fewer bytes or faster rates",
                        format_quantity(all_), format_quantity(kLongest)));
      }
    }
  }
  // Sizes of these are bounded by the memory, their times by the machine.
  void check(std::size_t /*stream*/, const std::vector<Instruction>& /*entries*/) {}
  void check(std::size_t /*stream*/, const std::vector<Transfer>& /*entries*/) {}

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw EntryError(stream_, index_, program_.place(stream_, index_) + ": " + why);
  }

  void require_rate(const char* key, BytesPerSecond rate, BytesPerSecond most,
                    const char* of) const {
    if (!(most > BytesPerSecond(0)) || rate <= most * kRounding) return;
    refuse(fmt::format("{} is {}; {} of this machine carries {} at most", key,
                       format_quantity(rate), of, format_quantity(most)));
  }

  void check_entry(const Grid& grid, Seconds time) {
    require_rate("dram_rate", grid.dram_rate, limits_.memory_rate, "the memory");
    for (const auto& [key, unit] :
         {std::pair("tensor", WorkUnit::kTensorPipe), std::pair("vector", WorkUnit::kVectorPipe)}) {
      if (grid.busy[unit] <= time * kRounding) continue;
      refuse(fmt::format("{} is {}; a pipe is busy no longer than its grid lasts, {} at most", key,
                         format_quantity(grid.busy[unit]), format_quantity(time)));
    }
  }
  void check_entry(const Loop& loop, Seconds /*time*/) {
    require_rate("core_rate", loop.core_dram, limits_.memory_rate, "the memory");
    require_rate("dram_rate", loop.dram, limits_.memory_rate, "the memory");
  }
  void check_entry(const Collective& collective, Seconds /*time*/) {
    const LinkExchange& exchange = collective.exchange;
    for (const LinkRound& round : exchange.rounds)
      require_rate("rate", round.links.rate, limits_.link_rate, "a GPU");
    require_rate("links", exchange.peak, limits_.link_rate, "a GPU");
    if (links_ > BytesPerSecond(0) && !(exchange.peak == links_)) {
      refuse(
          fmt::format("its links carry {}, those of an exchange before it {}; a GPU has one kind "
                      "of links: leave `links` out, or state the same",
                      format_quantity(exchange.peak), format_quantity(links_)));
    }
    links_ = exchange.peak;
    if (limits_.sms > 0 && exchange.sms > limits_.sms)
      refuse(fmt::format("holds {} SMs; a GPU has {}", exchange.sms, limits_.sms));
  }
  void check_entry(const HostCall& /*call*/, Seconds /*time*/) {}

  const Program& program_;
  const StatedLimits& limits_;
  std::size_t stream_ = 0;
  std::size_t index_ = 0;
  Seconds all_;
  BytesPerSecond links_;  // of the exchanges so far
};

}  // namespace

void check_stated(const Program& program, const StatedLimits& limits) {
  StatedCheck check(program, limits);
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    std::visit([&](const auto& entries) { check.check(stream, entries); },
               program.streams[stream].work);
  }
}

}  // namespace foretell

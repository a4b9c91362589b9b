#include "model/predict/calls/limited_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "calib/fitted/shared/common_factors.hpp"
#include "model/predict/power/call_energy.hpp"
#include "model/predict/power/drawn_power.hpp"
#include "model/predict/power/power_windows.hpp"

namespace foretell {
namespace {

constexpr double kSettled = 0.005;  // of the clock, or of the power below the limit
// Of the clock that power follows: the first guess, and what is believed.
constexpr double kFirstExponent = 2;
constexpr double kLeastExponent = 0.5;
constexpr double kMostExponent = 4;
constexpr int kMaxRuns = 8;
// Clocks that the windows of a long call are tried at lie so far apart, as a share.
constexpr double kStep = 0.002;
constexpr int kMaxSteps = 12;

bool is_above(Watts most, Watts limit, const DeviceEnergy& energy) {
  return most > limit * energy.facts.limit_share * (1 + kSettled);
}

struct WindowClock {
  PowerWindow window;
  double left = 1;   // that the limit of the board left it when its kernels were measured
  double clock = 1;  // that it runs at

  double share() const { return clock / left; }
};

class LimitedRun {
 public:
  LimitedRun(const GpuCall& call, const BoardEnergy& board, const ClockLimits& limits)
      : call_(call), board_(board), energy_(board.asked), limits_(limits) {}

  GpuCallResult run() {
    const GpuCallResult& full = at_share(1);
    if (!(full.metrics.device > Seconds(0)) || !(limits_.board > Watts(0)))
      return std::move(runs_.at(1));
    for (const PowerWindow& window : power_windows(full.metrics, common_factors().power_window)) {
      windows_.push_back({window});
    }
    std::optional<GpuCallResult> sold;
    if (board_.made_from) sold = run_gpu_call(on_board(*board_.made_from));
    for (WindowClock& one : windows_) {
      if (!limits_.less_power) one.left = clock_left(one, sold ? *sold : full);
      one.clock = board_.differs ? limits_.clock : std::min(one.left, limits_.clock);
      if (is_slowed()) lower(one);
    }
    GpuCallResult result = at_clocks();
    note_limit(result);
    for (std::size_t w = 0; w < windows_.size(); ++w) set_clock(w, result.metrics);
    if (call_.for_timeline) {
      set_kernel_power(result.metrics, energy_, idle_power(1, energy_.facts),
                       is_free() ? Watts(0) : limit() * energy_.facts.limit_share, result.kernels);
    }
    return result;
  }

 private:
  GpuCall on_board(const SoldBoard& board) const {
    return {call_, call_.graph, call_.precision, board.system, board.factors};
  }

  // What the limit of the board left the kernels of a window when they were measured. Boards may
  // make other kernels of a call, so that its windows are no longer the same: they share one clock.
  double clock_left(const WindowClock& one, const GpuCallResult& measured) const {
    const bool same = one.window.last <= measured.metrics.operators.size();
    const WindowLoad load = same ? load_in(one, measured)
                                 : WindowLoad{work_of(measured.metrics), measured.metrics.device};
    return clock_within(load.work, load.time, 0, held(), board_.measured);
  }

  // Watts that the limit lets the board draw that is sold.
  Watts held() const {
    const Watts board = board_.made_from ? board_.made_from->system.device.power : limits_.board;
    return board * board_.measured.facts.limit_share;
  }

  // May the clock be another one than kernels were measured at?
  bool is_slowed() const {
    return board_.differs || limits_.less_power || limit() < limits_.board ||
           (board_.made_from && limits_.asked > Watts(0));
  }

  // Does it take the power that it needs?
  bool is_free() const { return board_.made_from && !is_slowed(); }

  Watts limit() const { return limits_.asked > Watts(0) ? limits_.asked : limits_.board; }

  // With one clock throughout.
  const GpuCallResult& at_share(double share) {
    const auto known = runs_.find(share);
    if (known != runs_.end()) return known->second;
    GpuCall slower = call_;
    if (share != 1) slower.clocks = {share};
    return runs_.emplace(share, run_gpu_call(slower)).first->second;
  }

  // Each window with its own.
  GpuCallResult at_clocks() {
    const double first = windows_.front().share();
    const bool one = std::all_of(windows_.begin(), windows_.end(), [&](const WindowClock& window) {
      return window.share() == first;
    });
    if (one) {
      at_share(first);
      return std::move(runs_.at(first));
    }
    GpuCall mixed = call_;
    for (const WindowClock& window : windows_)
      mixed.clocks.resize(window.window.last, window.share());
    return run_gpu_call(mixed);
  }

  WindowLoad load_in(const WindowClock& one, const GpuCallResult& result) const {
    if (windows_.size() > 1) return load_of(one.window, result.metrics);
    return {work_of(result.metrics), result.metrics.device};
  }

  Watts power_of(const WindowClock& one, const GpuCallResult& result) const {
    return load_in(one, result).power_at_clock(one.clock, energy_);
  }

  // Windows look for their clocks among the same ones, so that they share runs: the next below.
  double tried_clock(double clock, const WindowClock& one) const {
    if (windows_.size() == 1) return clock;
    const double steps = std::ceil(std::log(clock / one.left) / std::log1p(-kStep));
    return std::max(energy_.facts.lowest_clock, one.left * std::pow(1 - kStep, steps));
  }

  // A clock, and by how much more than the limit the window draws at it: the logarithm of the
  // ratio.
  struct Tried {
    double clock = 0;
    double excess = 0;
  };

  // To the highest clock at which the window keeps the limit. Power is nearly a power of the clock,
  // whose exponent the last two clocks tell; the next one is a little below where that meets the
  // limit.
  void lower(WindowClock& one) {
    const Watts most = limit() * energy_.facts.limit_share;
    const auto tried = [&](double clock) {
      one.clock = clock;
      return Tried{clock, std::log(power_of(one, at_share(one.share())) / most)};
    };
    Tried high = tried(one.clock);
    if (!(high.excess > 0)) return;
    const double lowest = energy_.facts.lowest_clock;
    const bool alone = windows_.size() == 1;
    const double settled = alone ? kSettled : kStep;
    const int most_runs = alone ? kMaxRuns : kMaxSteps;
    Tried low{lowest, -std::numeric_limits<double>::infinity()};  // without a run
    double exponent = kFirstExponent;
    for (int run = 0; run < most_runs && low.clock < high.clock * (1 - settled); ++run) {
      double next = high.clock * std::exp(-(high.excess + settled / 2) / exponent);
      if (std::isfinite(low.excess) && next <= low.clock) next = (low.clock + high.clock) / 2;
      const Tried found = tried(tried_clock(std::max(next, lowest), one));
      if (found.clock < high.clock) {
        exponent = (high.excess - found.excess) / std::log(high.clock / found.clock);
        exponent = std::clamp(exponent, kLeastExponent, kMostExponent);
      }
      (found.excess > 0 ? high : low) = found;
      if (low.excess > -settled || high.clock <= lowest) break;
    }
    one.clock = low.clock;
  }

  void note_limit(GpuCallResult& result) const {
    if (!is_slowed() && !is_free()) return;
    Watts most;
    for (const WindowClock& one : windows_) {
      if (is_free() || one.clock <= energy_.facts.lowest_clock)
        most = std::max(most, power_of(one, result));
    }
    if (is_free()) {
      result.power_note = free_power_note(most, limit(), energy_, *board_.made_from);
      return;
    }
    if (!is_above(most, limit(), energy_)) return;
    result.power_note = fmt::format(
        "a power limit of {:.0f} W is not kept: at the lowest clock the board draws {:.0f} W",
        limit().value(), most.value());
  }

  void set_clock(std::size_t number, Metrics& metrics) const {
    const WindowClock& one = windows_[number];
    for (std::size_t i = one.window.first; i < one.window.last; ++i) {
      metrics.operators[i].clock = one.clock;
      metrics.operators[i].window = static_cast<int>(number);
    }
  }

  const GpuCall& call_;
  const BoardEnergy& board_;
  const DeviceEnergy& energy_;  // that is asked for
  const ClockLimits& limits_;
  std::vector<WindowClock> windows_;
  std::map<double, GpuCallResult> runs_;  // by share of the clock
};

}  // namespace

std::string free_power_note(Watts most, Watts limit, const DeviceEnergy& energy,
                            const SoldBoard& sold) {
  if (!is_above(most, limit, energy)) return "";
  return fmt::format(
      "a board that was changed takes the power that it needs: {:.0f} W, where {} has {:.0f} W; "
      "--power-limit holds it",
      most.value(), sold.system.device.name, limit.value());
}

GpuCallResult run_within(const GpuCall& call, const BoardEnergy& energy,
                         const ClockLimits& limits) {
  return LimitedRun(call, energy, limits).run();
}

}  // namespace foretell

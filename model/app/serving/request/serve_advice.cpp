#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hw/engines/engine_catalog.hpp"
#include "model/app/serving/request/serve_parts.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Of the memory that an engine takes, for KV blocks: with less a service answers a few requests at
// a time, and more devices to a copy are taken instead.
constexpr double kRoomForBlocks = 0.25;

// This many of all requests wait when the last one comes where a queue grows: a share of few, and
// of more what is beyond chance.
double in_a_growing_queue(std::int64_t requests) {
  const auto all = static_cast<double>(requests);
  return std::min(0.25 * all, std::max(10.0, 0.05 * all));
}

// Of the memory that the engine takes of each device, the part for KV blocks when `tp` devices
// share a copy; 0 where not even a block fits.
double room_for_blocks(MachinePool& pool, Request machine, int tp, const EngineSpec& engine,
                       double share, const LargestStep& largest) {
  machine.tp = tp;
  try {
    const WorkerMachine& worker =
        pool.machine(machine, std::max(largest.tokens, std::int64_t{engine.limits.max_tokens}));
    const KvMemory memory = kv_memory(engine, share, device_use(worker, largest.tokens), largest);
    const bool holds = memory.kv > worker.kv_per_token * static_cast<double>(engine.memory.block);
    return holds ? memory.kv / (worker.capacity * share) : 0;
  } catch (const UserError&) {
    return 0;  // heads that this many devices cannot share, or more devices than there are
  }
}

}  // namespace

std::optional<int> wider_tp(MachinePool& pool, const Request& machine, const EngineSpec& engine,
                            double share, const LargestStep& largest) {
  const int devices =
      pool.machine(machine, std::max(largest.tokens, std::int64_t{engine.limits.max_tokens}))
          .devices;
  std::optional<int> widest;
  double most = 0;
  for (int tp = 2 * std::max(1, machine.tp); tp <= devices && most < kRoomForBlocks; tp *= 2) {
    const double room = room_for_blocks(pool, machine, tp, engine, share, largest);
    if (room > most) {
      most = room;
      widest = tp;
    }
  }
  return widest;
}

std::string room_advice(MachinePool& pool, const Request& machine, const EngineSpec& engine,
                        double share, const LargestStep& largest) {
  if (const auto tp = wider_tp(pool, machine, engine, share, largest))
    return fmt::format("--tp {} leaves room on {}", *tp, machine.system);
  return fmt::format("no --tp of {} leaves room: name a larger system, or a narrower --dtype",
                     machine.system);
}

std::vector<std::string> growth_notes(const ServiceResult& result, double offered_per_s,
                                      std::int64_t requests) {
  const double waiting = result.waiting_at_last_arrival;
  const double moving = result.moving_at_last_arrival;
  const double many = in_a_growing_queue(requests);
  if (result.answered > 0 && waiting + moving > many) {
    const double link_s = result.link_busy.value() / static_cast<double>(result.answered);
    if (offered_per_s * link_s > 1) {
      return {fmt::format(
          "the link between prefill and decode binds: {:.0f} requests wait when the last one "
          "arrives, {:.0f} of them for it; the largest rate that is stable is about {:.3g} "
          "requests/s (--link states another rate)",
          waiting + moving, moving, 1 / link_s)};
    }
  }
  if (waiting <= many || offered_per_s <= requests_per_s(result)) return {};
  return {fmt::format(
      "the queue grows as long as requests come: {:.0f} wait when the last one arrives; the "
      "largest rate that is stable is about {:.3g} requests/s",
      waiting, requests_per_s(result))};
}

std::vector<std::string> service_notes(const std::string& engine_name, const EngineSpec& engine,
                                       const std::vector<PoweredWorkers>& groups) {
  std::vector<std::string> notes;
  const std::size_t at = engine_name.find('@');
  const EngineCatalog catalog;
  if (at != std::string::npos && engine.id == catalog.newest(engine.engine) &&
      compare_versions(engine_name.substr(at + 1), engine.since) > 0) {
    notes.push_back(
        fmt::format("engine: {} works as {} from release {} on, the newest that is described",
                    engine_name, engine.engine, engine.since));
  }
  std::map<std::string, double> taken;  // devices, by system
  std::vector<std::string> unpriced;
  bool priced = false;
  for (const PoweredWorkers& group : groups) {
    const WorkerMachine& machine = *group.machine;
    taken[machine.system] += group.devices();
    const int more = machine.devices / std::max(1, machine.devices_per_worker);
    if (groups.size() == 1 && group.workers == 1 && more > 1) {
      notes.push_back(fmt::format("{} of {} devices serve; --dp {} makes workers of all{}",
                                  machine.devices_per_worker, machine.devices, more,
                                  machine.usd_per_hour > 0 ? ", at the same price" : ""));
    }
    if (taken[machine.system] > machine.devices) {
      notes.push_back(
          fmt::format("the workers take {:.0f} devices, more than one {} has ({}): several of it, "
                      "with KV caches between them at the rate of its own links",
                      taken[machine.system], machine.system, machine.devices));
    }
    if (machine.usd_per_hour > 0) {
      priced = true;
    } else {
      unpriced.push_back(machine.system);
    }
  }
  if (priced && !unpriced.empty())
    notes.push_back("no cost is given, as no price of " + unpriced.front() + " is known");
  return notes;
}

std::optional<double> machines_price(const std::vector<PoweredWorkers>& groups) {
  struct Taken {
    double devices = 0;
    const WorkerMachine* machine = nullptr;
  };
  std::map<std::string, Taken> systems;
  for (const PoweredWorkers& group : groups) {
    if (group.machine->usd_per_hour <= 0) return std::nullopt;
    Taken& taken = systems[group.machine->system];
    taken.devices += group.devices();
    taken.machine = group.machine;
  }
  double usd_per_hour = 0;
  for (const auto& [system, taken] : systems) {
    usd_per_hour += std::ceil(taken.devices / std::max(1, taken.machine->devices)) *
                    taken.machine->usd_per_hour;
  }
  return usd_per_hour;
}

}  // namespace foretell
